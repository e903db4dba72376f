"""The machine is recognised from files and from what nvidia-smi prints."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from burnish.hw import detect
from burnish.hw.detect import (
    ARM,
    X86,
    Cpu,
    cpu,
    cpu_entry,
    family,
    gpu_entry,
    gpus_from_csv,
    this_cpu,
)

CPUINFO = """processor\t: 0
model name\t: Example CPU @ 2.00GHz
flags\t\t: fpu avx2 fma

processor\t: 1
model name\t: Another
"""


def machine(root: Path, **files: str) -> Path:
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(CPUINFO)
    (root / "proc/meminfo").write_text("MemTotal:  1000 kB\nMemFree: 1 kB\n")
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_first_processor_speaks_for_all(tmp_path: Path) -> None:
    found = cpu(machine(tmp_path))
    assert found.model == "Example CPU @ 2.00GHz"
    assert found.flags == ("fpu", "avx2", "fma")
    assert found.memory_bytes == 1000 * 1024
    assert found.quota_cores is None
    assert found.usable_cores == found.cores >= 1


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu_dot_max": "150000 100000\n"}, 1.5),
        ({"cpu_dot_max": "max 100000\n"}, None),
        ({"cpu__cpu_dot_cfs_quota_us": "50000", "cpu__cpu_dot_cfs_period_us": "100000"}, 0.5),
        ({"cpu__cpu_dot_cfs_quota_us": "-1", "cpu__cpu_dot_cfs_period_us": "100000"}, None),
    ],
)
def test_a_containers_limit_counts(
    tmp_path: Path, files: dict[str, str], quota: float | None
) -> None:
    assert cpu(machine(tmp_path, **files)).quota_cores == quota


def test_a_containers_memory_limit_counts(tmp_path: Path) -> None:
    assert cpu(machine(tmp_path, memory_dot_max="4096\n")).memory_bytes == 4096


def test_less_than_one_core_is_still_one_thread() -> None:
    assert Cpu("x", 8, 0.5, None, ()).usable_cores == 1
    assert Cpu("x", 8, 3.5, None, ()).usable_cores == 3


def test_a_system_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    found = cpu(tmp_path)
    assert (found.model, found.memory_bytes, found.flags) == ("unknown", None, ())


def test_gpus_are_read_from_the_drivers_table() -> None:
    text = "NVIDIA H200, 580.159.03, 143771\nbroken line\n"
    (gpu,) = gpus_from_csv(text)
    assert (gpu.name, gpu.driver, gpu.memory_bytes) == ("NVIDIA H200", "580.159.03", 143771 * 2**20)


def test_without_the_drivers_program_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect.shutil, "which", lambda _: None)
    assert detect.gpus() == ()


def test_a_driver_that_fails_lists_no_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho NVIDIA H200, 1, 2\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setattr(detect.shutil, "which", lambda _: str(program))
    assert detect.gpus() == ()


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100"),
        ("NVIDIA A100-SXM4-80GB", "nvidia-a100"),
        ("Tesla V100-SXM2-32GB", "nvidia-v100"),
        ("NVIDIA GeForce RTX 3090", None),
    ],
)
def test_a_gpu_is_recognised_by_its_name(name: str, entry: str | None) -> None:
    assert gpu_entry(name) == entry


def test_a_cpu_is_recognised_by_its_flags() -> None:
    wide = ("avx2", "fma", "avx512f", "avx512bw", "avx512vl")
    assert cpu_entry(wide) == "x86-avx512"
    assert cpu_entry((*wide, "clzero")) == "x86-zen4"
    assert cpu_entry((*wide, "clzero", "avx512_vp2intersect")) == "x86-zen5"
    assert cpu_entry((*wide, "avx512_vp2intersect")) == "x86-avx512"
    assert cpu_entry(wide[:3]) == "x86-avx2"
    assert cpu_entry(("asimd", "asimddp")) == "arm-neoverse-n1"
    assert cpu_entry(("altivec",)) is None


@pytest.mark.parametrize(
    ("machine", "expected"),
    [("x86_64", X86), ("AMD64", X86), ("aarch64", ARM), ("arm64", ARM), ("riscv64", "riscv64")],
)
def test_a_family_has_one_name(
    machine: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert family() == expected


def test_what_is_known_of_a_cpu_is_for_its_usable_cores() -> None:
    spec = this_cpu(Cpu("x", 4, None, None, ("avx2", "fma")))
    assert spec is not None
    assert (spec.name, spec.compute_units) == ("x86-avx2", 4)
    assert this_cpu(Cpu("x", 4, None, None, ())) is None
