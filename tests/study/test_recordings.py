"""Recordings without a model: what a folder of them leaves out is told, and so is what is asked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.core.errors import UsageError
from burnish.study.profiling import profiles
from burnish.study.recordings import distributed
from burnish.study.requests.looking import ProfileCommand
from burnish.study.shown.next import next_command


def _rank(folder: Path, name: str, rank: int | None = None, world: int = 2) -> Path:
    kernel = {"ph": "X", "name": "gemm", "cat": "kernel", "ts": 1, "dur": 10, "pid": 0, "tid": 7,
              "args": {"stream": 7, "device": 0}}  # fmt: skip
    written: dict[str, Any] = {"schemaVersion": 1, "traceEvents": [kernel]}
    if rank is not None:
        written["distributedInfo"] = {"rank": rank, "world_size": world}
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(written))
    return folder / name


def test_two_recordings_of_one_rank_are_of_different_runs(tmp_path: Path) -> None:
    first, second = _rank(tmp_path, "a.json", 0), _rank(tmp_path, "b.json", 0)
    with pytest.raises(UsageError, match="are both of rank 0: they are of different") as caught:
        distributed(tmp_path)
    assert caught.value.problem.startswith("a.json and b.json are both")
    assert caught.value.hint.endswith(f": burnish profile {first} {second}")


def test_ranks_that_are_not_there_are_told(tmp_path: Path) -> None:
    for rank in range(2):
        _rank(tmp_path, f"{rank}.json", rank, 8)
    found = distributed(tmp_path)[0].ranks
    assert found is not None
    assert (
        "the run had 8 ranks and 2 are here: waiting for the others shows as communication"
        in found.notes
    )


def test_all_ranks_of_a_run_need_no_word(tmp_path: Path) -> None:
    for rank in range(2):
        _rank(tmp_path, f"{rank}.json", rank)
    found = distributed(tmp_path)[0].ranks
    assert found is not None
    assert not any("ranks and" in note or "left out" in note for note in found.notes)


def test_a_rank_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    _rank(tmp_path, "0.json", 0)
    (tmp_path / "1.json").write_text("{")
    (tmp_path / "notes.txt").write_text("mine")
    report, _ = distributed(tmp_path)
    assert "no recording could be read in 1.json: left out" in report.profiles[0].notes


def test_damage_of_a_rank_that_is_not_shown_is_told(tmp_path: Path) -> None:
    for rank in range(2):
        path = _rank(tmp_path, f"{rank}.json", rank)
    path.write_text(path.read_text()[:-2].replace('"traceEvents"', '"x": 1, "traceEvents"'))
    found = distributed(tmp_path)[0].ranks
    assert found is not None
    assert any(note.startswith("1.json: the file ends early") for note in found.notes)


def test_the_next_command_names_the_file_that_was_looked_at(tmp_path: Path) -> None:
    path = _rank(tmp_path, "0.json")
    asked = ProfileCommand(str(tmp_path))
    report, _ = profiles(asked)
    assert next_command(asked, report) == f"burnish whatif {path} --sweep"
    run = tmp_path / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    shutil.move(path, run / "0.json")
    report, _ = profiles(asked)
    assert next_command(asked, report) == f"burnish whatif {run / '0.json'} --sweep"


@pytest.mark.parametrize(
    ("option", "value"),
    [("ncu", True), ("nsys", True), ("perf", True), ("runs", 3), ("engine", "openvino"),
     ("threads", 1), ("shape", {"batch": 2}), ("data", "d.npz")],
)  # fmt: skip
def test_what_says_how_a_model_is_run_is_refused_of_a_recording(
    tmp_path: Path, option: str, value: object
) -> None:
    path = _rank(tmp_path, "0.json")
    asked = ProfileCommand(str(path))
    with pytest.raises(UsageError, match="says how a model is run, and") as caught:
        profiles(replace(asked, **{option: value}))  # type: ignore[arg-type]
    assert caught.value.problem == (
        f"--{option} says how a model is run, and {path} was recorded already"
    )
    assert caught.value.hint == f"leave --{option} out, or record a model with it"
