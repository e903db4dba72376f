from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.bench import machine
from burnish.bench.measure import GpuState, Snapshot

GPU = GpuState("NVIDIA H200", "570.1", 1.9e9, 1.98e9, 40.0, "")
QUIET = Snapshot(
    load_average=0.1, busy_s=100.0, own_s=10.0, stolen_s=0.0, quota_stops=0, thermal_stops=0,
    on_battery=False, gpus=(GPU,), gpu_processes=0,
)  # fmt: skip
AFTER = replace(QUIET, busy_s=120.0, own_s=30.0)


def doubts(before: Snapshot = QUIET, after: Snapshot = AFTER, threads: int = 2) -> list[str]:
    return list(machine.doubts(before, after, elapsed_s=10, threads=threads, cores=2))


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_a_quiet_machine_gives_no_doubts() -> None:
    assert doubts() == []


def test_a_machine_that_tells_nothing_gives_no_doubts() -> None:
    mute = Snapshot(None, None, 0.0, None, None, None, False, (), 0)
    assert doubts(mute, replace(mute, own_s=5.0)) == []


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        (replace(QUIET, load_average=1.5), AFTER,
         "the load average was 1.5 on 2 cores before anything was measured"),
        (QUIET, replace(AFTER, stolen_s=1.0),
         "the hypervisor took 5.0 % of the time for other guests"),
        (QUIET, replace(AFTER, quota_stops=3), "the container's quota stopped it 3 times"),
        (QUIET, replace(AFTER, thermal_stops=1), "the processor was slowed for being too hot"),
        (replace(QUIET, on_battery=True), AFTER, "the machine ran on battery"),
        (replace(QUIET, gpu_processes=2), AFTER, "GPU memory was held by others: 2 at the start"),
        (QUIET, replace(AFTER, gpus=(replace(GPU, slowed_by="the power cap"),)),
         "NVIDIA H200 was slowed by the power cap"),
    ],
)  # fmt: skip
def test_each_disturbance_is_a_doubt(before: Snapshot, after: Snapshot, doubt: str) -> None:
    assert doubts(before, after) == [doubt]


def test_other_processes_are_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    busy = replace(AFTER, busy_s=130.0)
    assert doubts(after=busy) == ["other processes used 25.0 % of the cores meanwhile"]


def test_more_threads_than_cores_are_a_doubt() -> None:
    assert doubts(threads=8) == ["8 threads share 2 usable cores"]


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
          "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 4.0),
        ({"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
          "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_quota_is_read_from_both_versions_of_cgroups(
    tmp_path: Path, files: dict[str, str], cores: float | None
) -> None:
    write(tmp_path, files)
    assert machine.quota_cores(tmp_path) == cores


def test_usable_cores_are_capped_by_the_quota_and_never_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert machine.usable_cores(tmp_path) == 8
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "250000 100000"})
    assert machine.usable_cores(tmp_path) == 2
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "50000 100000"})
    assert machine.usable_cores(tmp_path) == 1


def test_a_snapshot_reads_what_the_system_tells(tmp_path: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    write(
        tmp_path,
        {
            "proc/loadavg": "0.50 0.40 0.30 1/100 1234\n",
            "proc/stat": f"cpu  {ticks} 0 {ticks} 999 9 0 0 {3 * ticks} 0 0\ncpu0 1\n",
            "sys/fs/cgroup/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 7\n",
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "2\n",
            "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "3\n",
            "sys/class/power_supply/BAT0/status": "Discharging\n",
        },
    )
    found = machine.snapshot(tmp_path, lambda _: None)
    assert found == Snapshot(
        load_average=0.5, busy_s=2.0, own_s=found.own_s, stolen_s=3.0, quota_stops=7,
        thermal_stops=5, on_battery=True, gpus=(), gpu_processes=0,
    )  # fmt: skip


def test_an_empty_system_gives_a_snapshot_of_unknowns(tmp_path: Path) -> None:
    found = machine.snapshot(tmp_path, lambda _: None)
    assert found == Snapshot(None, None, found.own_s, None, None, None, False, (), 0)


def test_the_state_names_the_machine(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/cpuinfo": "processor : 0\nmodel name\t: Fast CPU @ 3 GHz\n",
            "proc/meminfo": "MemTotal:       1024 kB\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
        },
    )
    state = machine.state(before=QUIET, after=AFTER, elapsed_s=10, threads=99, root=tmp_path)
    assert (state.cpu, state.memory_bytes) == ("Fast CPU @ 3 GHz", 1024 * 1024)
    assert (state.governor, state.turbo) == ("performance", False)
    assert state.versions["onnxruntime"]
    assert state.warnings == (f"99 threads share {len(os.sched_getaffinity(0))} usable cores",)


def test_turbo_is_read_from_either_driver(tmp_path: Path) -> None:
    assert machine._turbo(tmp_path) is None
    write(tmp_path, {"sys/devices/system/cpu/cpufreq/boost": "1\n"})
    assert machine._turbo(tmp_path) is True


def test_only_variables_that_change_speed_are_kept() -> None:
    given = {"OMP_NUM_THREADS": "2", "LD_PRELOAD": "x.so", "HOME": "/root", "MY_TOKEN": "secret"}
    assert machine.speed_variables(given) == {"LD_PRELOAD": "x.so", "OMP_NUM_THREADS": "2"}


def test_where_a_cache_lies_does_not_make_another_environment() -> None:
    given = {
        "TORCHINDUCTOR_CACHE_DIR": "/a",
        "CUDA_CACHE_PATH": "/b",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    }
    assert machine.speed_variables(given) == {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
