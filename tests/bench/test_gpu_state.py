from __future__ import annotations

from pathlib import Path

import pytest

from burnish.bench import gpu_state

LINE = "NVIDIA H200, 570.86.15, 1980, 1980, 45, {reasons}\n"


def test_a_gpu_is_read_in_si_units() -> None:
    found = gpu_state.gpus(lambda _: LINE.format(reasons="0x0000000000000000"))
    assert found == (gpu_state.GpuState("NVIDIA H200", "570.86.15", 1.98e9, 1.98e9, 45.0, ""),)


@pytest.mark.parametrize(
    ("reasons", "slowed_by"),
    [
        ("0x0000000000000001", ""),
        ("0x0000000000000004", "the power cap"),
        ("0x0000000000000024", "the power cap, its temperature"),
        ("[N/A]", ""),
    ],
)
def test_only_reasons_that_mean_a_slower_run_count(reasons: str, slowed_by: str) -> None:
    assert gpu_state.gpus(lambda _: LINE.format(reasons=reasons))[0].slowed_by == slowed_by


def test_what_the_driver_does_not_tell_is_unknown() -> None:
    found = gpu_state.gpus(lambda _: "GPU, 1, [N/A], [N/A], [N/A], [N/A]\n")[0]
    assert (found.clock_hz, found.max_clock_hz, found.temperature_celsius) == (None, None, None)


def test_without_a_driver_there_are_no_gpus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_state.gpus() == ()
    assert gpu_state.processes() == 0


def test_a_driver_that_fails_tells_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho broken\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert gpu_state.ask_driver(["-q"]) is None


def test_processes_on_the_gpu_are_counted() -> None:
    assert gpu_state.processes(lambda _: "123\n4567\n\n") == 2
