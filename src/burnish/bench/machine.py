"""The machine that numbers were taken on, and the reasons to doubt them.

Nothing is refused: a noisy machine gives a report that says it is noisy. What the system does not
tell (containers hide much) is None, never a guess.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from burnish.bench import gpu_state
from burnish.bench.measure import MachineState, Snapshot
from burnish.core import units

ROOT = Path("/")
_LIBRARIES = (
    "burnish", "numpy", "onnx", "onnxruntime", "onnxruntime-gpu", "openvino", "tensorrt", "torch",
)  # fmt: skip
_CHANGES_SPEED = re.compile(
    r"^(?!.*_CACHE_(DIR|PATH)$)"  # where something is kept changes nothing
    r"(OMP|GOMP|KMP|MKL|ORT|MALLOC|TBB|ONEDNN|DNNL|OPENBLAS|TORCHINDUCTOR|CUDA|NVIDIA|CUBLAS)_"
    r"|^(LD_PRELOAD|PYTHONMALLOC|GLIBC_TUNABLES)$"
)
_MOST_STOLEN = 0.02
"""Above this share of the time the hypervisor's other guests show in the numbers."""
_MOST_OTHERS = 0.1
"""Above this share of all cores, other processes show in the numbers."""


def usable_cores(root: Path = ROOT) -> int:
    """Return how many threads may run at once: affinity, capped by the container's quota."""
    allowed = len(os.sched_getaffinity(0))
    quota = quota_cores(root)
    return allowed if quota is None else max(1, min(allowed, math.floor(quota)))


def all_cores(root: Path = ROOT) -> int:
    """Return how many cores the machine has, on which whatever else runs is spread."""
    listed = _text(root / "sys/devices/system/cpu/online") or ""
    parts = [part.partition("-") for part in listed.split(",")]
    if not all(first.isdigit() and (not dash or last.isdigit()) for first, dash, last in parts):
        return usable_cores(root)
    return sum(int(last or first) - int(first) + 1 for first, _, last in parts)


def quota_cores(root: Path = ROOT) -> float | None:
    """Return the container's share of time in cores, from cgroup version 2 or 1."""
    group = root / "sys/fs/cgroup"
    quota, _, period = (_text(group / "cpu.max") or "max 0").partition(" ")
    if quota == "max":
        quota = _text(group / "cpu/cpu.cfs_quota_us") or "-1"
        period = _text(group / "cpu/cpu.cfs_period_us") or "0"
    if not (quota.isdigit() and period.isdigit() and int(period)):
        return None
    return int(quota) / int(period)


def snapshot(root: Path = ROOT, query: gpu_state.Query = gpu_state.ask_driver) -> Snapshot:
    """Return what changes on a machine, as it is now."""
    load = (_text(root / "proc/loadavg") or "").split()
    busy_s, stolen_s = _processor_seconds(root)
    return Snapshot(
        load_average=float(load[0]) if load else None,
        busy_s=busy_s,
        own_s=sum(os.times()[:4]),
        stolen_s=stolen_s,
        quota_stops=_quota_stops(root),
        thermal_stops=_thermal_stops(root),
        on_battery=_on_battery(root),
        gpus=gpu_state.gpus(query),
        gpu_processes=gpu_state.processes(query),
    )


def state(
    *, before: Snapshot, after: Snapshot, elapsed_s: float, threads: int, root: Path = ROOT
) -> MachineState:
    """Return the machine with the reasons to doubt what was measured between two snapshots."""
    cores = usable_cores(root)
    return MachineState(
        cpu=_processor(root),
        usable_cores=cores,
        quota_cores=quota_cores(root),
        memory_bytes=_memory_bytes(root),
        governor=_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(root),
        system=platform.platform(),
        python=platform.python_version(),
        versions=_versions(),
        environment=speed_variables(os.environ),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        elapsed_s=elapsed_s,
        before=before,
        after=after,
        warnings=doubts(before, after, elapsed_s=elapsed_s, threads=threads, cores=cores),
    )


def here() -> MachineState:
    """Return this machine as it is now, with nothing measured."""
    now = snapshot()
    return state(before=now, after=now, elapsed_s=0.0, threads=1)


def doubts(
    before: Snapshot, after: Snapshot, *, elapsed_s: float, threads: int, cores: int
) -> tuple[str, ...]:
    """Return why numbers taken between two snapshots may not be what a quiet machine gives."""
    found = []
    if before.load_average is not None and before.load_average > cores / 2:
        found.append(
            f"the load average was {before.load_average:g} on {units.count(cores, 'core')} "
            "before anything was measured"
        )
    if threads > cores:
        found.append(f"{units.count(threads, 'thread')} share {units.count(cores, 'usable core')}")
    others = _grown(before.busy_s, after.busy_s) - (after.own_s - before.own_s)
    others /= max(elapsed_s, 1e-9) * (os.cpu_count() or 1)
    if before.busy_s is not None and others > _MOST_OTHERS:
        found.append(f"other processes used {units.share(others)} of the cores meanwhile")
    stolen = _grown(before.stolen_s, after.stolen_s) / max(elapsed_s * cores, 1e-9)
    if stolen > _MOST_STOLEN:
        found.append(f"the hypervisor took {units.share(stolen)} of the time for other guests")
    stops = int(_grown(before.quota_stops, after.quota_stops))
    if stops:
        found.append(f"the container's quota stopped it {units.count(stops, 'time')}")
    if _grown(before.thermal_stops, after.thermal_stops):
        found.append("the processor was slowed for being too hot")
    if before.on_battery or after.on_battery:
        found.append("the machine ran on battery")
    return (*found, *_gpu_doubts(before, after))


def speed_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that change how fast engines run."""
    return {name: environment[name] for name in sorted(environment) if _CHANGES_SPEED.match(name)}


def _gpu_doubts(before: Snapshot, after: Snapshot) -> list[str]:
    found = []
    if before.gpu_processes:
        found.append(f"GPU memory was held by others: {before.gpu_processes} at the start")
    found += [
        f"{gpu.name} was slowed by {gpu.slowed_by}"
        for gpu in dict.fromkeys((*before.gpus, *after.gpus))
        if gpu.slowed_by
    ]
    return found


def _grown(before: float | None, after: float | None) -> float:
    return 0.0 if before is None or after is None else after - before


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _processor_seconds(root: Path) -> tuple[float | None, float | None]:
    """Return busy and stolen core-seconds since boot."""
    line = (_text(root / "proc/stat") or "").partition("\n")[0].split()
    if len(line) < 9 or line[0] != "cpu":
        return None, None
    user, nice, system, _, _, interrupts, soft, stolen = (int(field) for field in line[1:9])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + interrupts + soft) / ticks, stolen / ticks


def _quota_stops(root: Path) -> int | None:
    group = root / "sys/fs/cgroup"
    text = _text(group / "cpu.stat") or _text(group / "cpu/cpu.stat") or ""
    match = re.search(r"^nr_throttled (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else None


def _thermal_stops(root: Path) -> int | None:
    cores = root / "sys/devices/system/cpu"
    counts = [_text(path) for path in cores.glob("cpu[0-9]*/thermal_throttle/core_throttle_count")]
    return sum(int(count) for count in counts if count) if counts else None


def _on_battery(root: Path) -> bool:
    supplies = (root / "sys/class/power_supply").glob("*/status")
    return any(_text(path) == "Discharging" for path in supplies)


def _processor(root: Path) -> str:
    match = re.search(r"^model name\s*: (.+)$", _text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return match[1] if match else platform.processor() or platform.machine()


def _memory_bytes(root: Path) -> int | None:
    match = re.search(r"^MemTotal:\s*(\d+) kB", _text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _turbo(root: Path) -> bool | None:
    cores = root / "sys/devices/system/cpu"
    off, on = _text(cores / "intel_pstate/no_turbo"), _text(cores / "cpufreq/boost")
    if off is not None:
        return off == "0"
    return None if on is None else on == "1"


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
