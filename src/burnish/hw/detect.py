"""Which machine is this? Asks the system only; no framework is imported."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.hw.spec import HardwareSpec, for_cores, load, names
from burnish.process.program import run

X86, ARM = "x86_64", "aarch64"
FAMILIES = frozenset({X86, ARM})
"""Families of processors that kernels are compiled for, as Linux names them."""

_NAMED_OTHERWISE = {"amd64": X86, "arm64": ARM}
_UNKNOWN = "unknown"
_QUERY = "name,driver_version,memory.total"
_TIME_LIMIT_S = 20


@dataclass(frozen=True, slots=True)
class Cpu:
    """The processor as far as this process may use it."""

    model: str
    cores: int
    """That this process may run on."""
    quota_cores: float | None
    """Processor time that a container allows, in cores; None: no limit."""
    memory_bytes: int | None
    """That this process may use; None: the system does not tell."""
    flags: tuple[str, ...]

    @property
    def usable_cores(self) -> int:
        """Return how many threads can run at once without being throttled, at least 1."""
        if self.quota_cores is None:
            return self.cores
        return max(1, min(self.cores, int(self.quota_cores)))


@dataclass(frozen=True, slots=True)
class Gpu:
    """An NVIDIA GPU as its driver tells it."""

    name: str
    driver: str
    memory_bytes: int


def cpu(root: Path = Path("/")) -> Cpu:
    """Return the processor of this machine, as the files under `root` describe it."""
    facts = _cpu_facts(_text(root / "proc/cpuinfo"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Cpu(
        model=facts.get("model name") or facts.get("CPU part") or _UNKNOWN,
        cores=cores or 1,
        quota_cores=_quota(root / "sys/fs/cgroup"),
        memory_bytes=_memory(root),
        flags=tuple((facts.get("flags") or facts.get("Features") or "").split()),
    )


def family() -> str:
    """Return the family of this machine's processor: none runs code for another."""
    machine = platform.machine().lower()
    return _NAMED_OTHERWISE.get(machine, machine)


def gpus() -> tuple[Gpu, ...]:
    """Return the NVIDIA GPUs that `nvidia-smi` lists; none where it is not there or fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    command = [program, f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"]
    done = run(command, time_limit_s=_TIME_LIMIT_S)
    return gpus_from_csv(done.output) if done.ok else ()


def gpus_from_csv(text: str) -> tuple[Gpu, ...]:
    """Return the GPUs in a table of name, driver and mebibytes."""
    rows = ([cell.strip() for cell in line.split(",")] for line in text.splitlines())
    return tuple(
        Gpu(row[0], row[1], int(row[2]) * 2**20)
        for row in rows
        if len(row) == 3 and row[2].isdigit()
    )


def gpu_entry(name: str) -> str | None:
    """Return the catalog's name of a GPU; None: it is not in the catalog."""
    words = name.replace("-", " ").split()
    entries = [load(entry) for entry in names()]
    fits = [e for e in entries if e.kind == "gpu" and set(e.recognised_by) <= set(words)]
    return max(fits, key=lambda e: len(e.recognised_by)).name if fits else None


def cpu_entry(flags: Sequence[str]) -> str | None:
    """Return the catalog's name of the kind of CPU that the most of these flags tell."""
    entries = [load(entry) for entry in names()]
    fits = [e for e in entries if e.kind == "cpu" and set(e.recognised_by) <= set(flags)]
    told = max(fits, key=lambda e: (len(e.recognised_by), e.peak_flops_per_s["f32"]), default=None)
    return told.name if told else None


def this_cpu(found: Cpu) -> HardwareSpec | None:
    """Return what is known of a CPU, for the cores that may be used; None: not in the catalog."""
    entry = cpu_entry(found.flags)
    return for_cores(load(entry), found.usable_cores) if entry else None


def _cpu_facts(text: str) -> dict[str, str]:
    """Return the facts of the first processor in /proc/cpuinfo."""
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def _quota(cgroup: Path) -> float | None:
    """Return the processor time of this container in cores, from either version of cgroups."""
    quota, _, period = _text(cgroup / "cpu.max").strip().partition(" ")
    if not quota:
        quota = _text(cgroup / "cpu/cpu.cfs_quota_us").strip()
        period = _text(cgroup / "cpu/cpu.cfs_period_us").strip()
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return None
    return int(quota) / int(period)


def _memory(root: Path) -> int | None:
    total = [
        int(line.split()[1]) * 1024
        for line in _text(root / "proc/meminfo").splitlines()
        if line.startswith("MemTotal:")
    ]
    files = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
    limits = [text for file in files if (text := _text(root / file).strip()).isdigit()]
    return min([*total, *map(int, limits)], default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
