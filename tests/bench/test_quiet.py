from __future__ import annotations

from pathlib import Path

import pytest

from burnish.bench import quiet
from burnish.bench.subject import BenchOptions


def machine(folder: Path, runnable: int | str) -> Path:
    (folder / "proc").mkdir()
    (folder / "proc/loadavg").write_text(f"0.10 0.20 0.30 {runnable}/300 4711\n")
    return folder


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet.machine, "usable_cores", lambda _root: 2)


def said(root: Path, options: BenchOptions) -> str:
    return quiet.warning(options, 2, root=root, sleep=lambda _: None)


def test_a_quiet_machine_gives_no_warning(tmp_path: Path) -> None:
    assert said(machine(tmp_path, 1), BenchOptions()) == ""


@pytest.mark.parametrize("text", ["", "x"])
def test_a_machine_that_does_not_tell_gives_none_either(tmp_path: Path, text: str) -> None:
    assert said(machine(tmp_path, text), BenchOptions()) == ""
    assert said(tmp_path / "none", BenchOptions()) == ""


def test_a_busy_machine_is_told_of_with_the_budget_it_takes(tmp_path: Path) -> None:
    busy = machine(tmp_path, 9)
    assert said(busy, BenchOptions(budget_s=20, blocks=10, block_s=0.02)) == (
        "others keep 8 tasks busy on 2 cores; wait until they are done, or give it longer: "
        "--budget 108s"
    )
    assert said(busy, BenchOptions(budget_s=200, blocks=10, block_s=0.02)) == (
        "others keep 8 tasks busy on 2 cores; the budget of 200 s is probably enough all the same"
    )


def test_of_a_share_the_whole_budget_is_told(tmp_path: Path) -> None:
    busy = machine(tmp_path, 9)
    share = BenchOptions(budget_s=20, whole_budget_s=160, blocks=10, block_s=0.02)
    assert said(busy, share).endswith("or give it longer: --budget 864s")
    ample = BenchOptions(budget_s=200, whole_budget_s=400, blocks=10, block_s=0.02)
    assert said(busy, ample).endswith(
        "; a group's share of the budget, 200 s, is probably enough all the same"
    )
    spent = BenchOptions(budget_s=0, whole_budget_s=400, blocks=10, block_s=0.02)
    assert said(busy, spent).endswith("--budget 108s")


def test_others_are_spread_over_the_whole_machine_and_not_over_the_cores_of_this_process(
    tmp_path: Path,
) -> None:
    busy = machine(tmp_path, 29)
    online = tmp_path / "sys/devices/system/cpu/online"
    online.parent.mkdir(parents=True)
    asked = BenchOptions(budget_s=20, blocks=10, block_s=0.02)
    online.write_text("0-1\n")
    assert said(busy, asked).endswith("--budget 324s")
    online.write_text("0-13,16,18\n")
    assert said(busy, asked) == (
        "others keep 28 tasks busy on 16 cores; wait until they are done, or give it longer: "
        "--budget 60s"
    )


def test_the_busier_the_machine_the_longer_it_takes(tmp_path: Path) -> None:
    asked = BenchOptions(budget_s=1)
    needed = []
    for runnable in (4, 8, 16):
        folder = tmp_path / str(runnable)
        folder.mkdir()
        needed.append(int(said(machine(folder, runnable), asked).rpartition(" ")[2].rstrip("s")))
    assert needed == sorted(set(needed))
