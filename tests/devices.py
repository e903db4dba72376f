"""Devices with round numbers, for tests."""

from __future__ import annotations

from burnish.hw.spec import HardwareSpec, MemoryLevel

LAPTOP = HardwareSpec(
    name="laptop",
    kind="cpu",
    compute_units=2,
    peak_flops_per_s={"f32": 1e11, "i8": 4e11},
    memory=(
        MemoryLevel("l2", 1_000_000, 1e11, per_unit=True),
        MemoryLevel("dram", 10**10, 1e10, per_unit=False),
    ),
    launch_overhead_s=1e-6,
    recognised_by=(),
    source="made up",
)

GPU = HardwareSpec(
    name="gpu",
    kind="gpu",
    compute_units=100,
    peak_flops_per_s={"f32": 1e13, "f16": 1e14},
    memory=(
        MemoryLevel("shared", 100_000, 1e13, per_unit=True),
        MemoryLevel("l2", 10_000_000, 5e12, per_unit=False),
        MemoryLevel("dram", 10**11, 1e12, per_unit=False),
    ),
    launch_overhead_s=3e-6,
    recognised_by=(),
    source="made up",
)
