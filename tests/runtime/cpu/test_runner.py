"""What a processor lacks to run kernels: flags, or it is of another family."""

from __future__ import annotations

import platform

import pytest

from burnish.hw import detect
from burnish.hw.detect import ARM, X86, Cpu
from burnish.runtime.cpu.runner import RUNNER

X86_FLAGS = ("avx2", "fma")
ARM_FLAGS = ("asimd", "asimddp")


@pytest.mark.parametrize(
    ("machine", "requires", "lacking"),
    [
        ("x86_64", (X86, "avx2"), ()),
        ("x86_64", ("avx2",), ()),
        ("x86_64", (X86, "avx2", "avx512f"), ("avx512f",)),
        ("x86_64", (ARM,), (ARM,)),
        ("x86_64", (ARM, "i8mm"), (ARM,)),
        ("aarch64", (ARM,), ()),
        ("aarch64", (ARM, "asimddp"), ()),
        ("aarch64", (ARM, "asimddp", "i8mm"), ("i8mm",)),
        ("aarch64", (X86, "avx2", "fma"), (X86,)),
        ("aarch64", ("avx2", "fma"), ("avx2", "fma")),
        ("riscv64", (X86,), (X86,)),
        ("riscv64", ("riscv64",), ()),
    ],
)
def test_what_is_missing_is_told(
    machine: str,
    requires: tuple[str, ...],
    lacking: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flags = {"x86_64": X86_FLAGS, "aarch64": ARM_FLAGS}.get(machine, ())
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(detect, "cpu", lambda: Cpu("a processor", 1, None, None, flags))
    assert RUNNER.lacks(requires) == lacking


def test_a_target_that_is_no_cpu_is_found_out() -> None:
    launch = {"tiles": 1, "scratch_bytes": 0}
    assert list(RUNNER.launch_findings("cpu: neon", launch)) == []
    assert list(RUNNER.launch_findings("cpu: sve", launch)) == ["'sve' is no kind of CPU"]
