"""Small plans for a fake card, and their kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from burnish.core.arrays import Array
from burnish.cuda.driver import Driver
from burnish.cuda.executable import DeviceExecutable
from burnish.cuda.kernel import CubinKernel
from burnish.cuda.loaded import Bytes, LoadedKernels, uploaded
from burnish.cuda.memory import aligned
from burnish.cuda.plan import Buffer, CubinStep, DevicePlan, Home
from fake_driver import kernel

N = 8


def f32(memory: Array) -> Array:
    return memory[: 4 * N].view(np.float32)


@kernel
def add(grid: tuple[int, int, int], x: Array, y: Array, z: Array, *trailing: Array | None) -> None:
    assert trailing == (None, None)
    f32(z)[:] = f32(x) + f32(y)


@kernel
def accumulate(grid: tuple[int, int, int], x: Array, total: Array, *_: Array | None) -> None:
    f32(total)[:] += f32(x)


@kernel
def with_scratch(
    grid: tuple[int, int, int], x: Array, z: Array, part: Array, own: Array, _: None
) -> None:
    own[: grid[0] * 128] = 7
    f32(part)[:] += 2 * f32(x)
    f32(z)[:] = f32(part)


@dataclass(frozen=True)
class Sample:
    """A plan, and the constants that it reads."""

    plan: DevicePlan
    constants: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))

    def kernels(self, driver: Driver, **changes: object) -> LoadedKernels:
        """Return the kernels of the plan on a card, of which other things may be told."""
        steps = self.plan.kernel_steps
        told = {s.kernel: cubin(s.kernel, len(s.arguments), **changes) for s in steps}
        code = {name: b"code of " + name.encode() for name in told}
        return LoadedKernels(driver, told, code, where="folder")


def cubin(name: str, pointers: int, **changes: object) -> CubinKernel:
    facts: dict[str, object] = {
        "entry": name, "architecture": "sm_90a", "pointers": ("f32",) * pointers,
        "trailing": 2, "warps": 4, "shared_bytes": 0, "program_bytes": 0, "registers": 32,
        "frame_bytes": 0, "toolkit": "12.8", "ptx": "8.7",
    }  # fmt: skip
    return CubinKernel(**{**facts, **changes})  # type: ignore[arg-type]


def plan(homes: dict[str, Home], *steps: CubinStep) -> DevicePlan:
    """Return a plan of steps over as many tensors; each of them has room of its own."""
    named = {home: tuple(n for n, each in homes.items() if each == home) for home in homes.values()}
    offsets = {name: n * aligned(4 * N) for n, name in enumerate(named.get("arena", ()))}
    buffers = {n: Buffer("f32", (N,), home, offsets.get(n, 0)) for n, home in homes.items()}
    arena_bytes = len(offsets) * aligned(4 * N)
    return DevicePlan(buffers, named["input"], named["output"], steps, arena_bytes)


WEIGHT = np.arange(N, dtype=np.float32)

TWO_STEPS = Sample(
    plan(
        {"x": "input", "weight": "constant", "middle": "arena", "z": "output"},
        CubinStep("add", ("x", "weight", "middle"), ("middle",), (2, 1, 1), nodes=("first",)),
        CubinStep("add", ("middle", "x", "z"), ("z",), (3, 1, 1), nodes=("second", "third")),
    ),
    np.resize(WEIGHT, aligned(4 * N) // 4).view(np.uint8),
)
"""z = 2x + weight."""

ZEROED = Sample(
    plan(
        {"x": "input", "z": "output"},
        CubinStep("accumulate", ("x", "z"), ("z",), (1, 1, 1), zeroed=("z",)),
    )
)
"""z = x, added to what must be zero."""

SCRATCH = Sample(
    plan(
        {"x": "input", "z": "output", "part": "arena"},
        CubinStep("with_scratch", ("x", "z", "part"), ("z", "part"), (5, 1, 1), zeroed=("part",)),
    )
)
"""z = 2x, through memory of the call's own, and with memory for each program."""


def loaded(driver: Driver, sample: Sample, **changes: object) -> DeviceExecutable:
    """Return a sample that is ready to run."""
    kernels = sample.kernels(driver, **changes)
    constants = uploaded(driver, sample.constants, "folder")
    with driver.current():
        return DeviceExecutable(driver, sample.plan, kernels, constants)
