from __future__ import annotations

from pathlib import Path

import pytest

from burnish.zoo.exporting.stages import (
    Failure,
    Outcome,
    StageLog,
    StageTime,
    Workaround,
    last_stage,
    read_outcome,
    write_outcome,
)


def test_a_process_that_said_nothing_was_starting(tmp_path: Path) -> None:
    assert last_stage(tmp_path) == "start"
    assert read_outcome(tmp_path) is None


def test_a_stage_is_known_as_soon_as_it_begins(tmp_path: Path) -> None:
    log = StageLog(tmp_path)
    with log.stage("build"):
        pass
    with pytest.raises(RuntimeError), log.stage("export"):
        assert last_stage(tmp_path) == "export"
        raise RuntimeError
    assert last_stage(tmp_path) == "export"
    assert [time.stage for time in log.times] == ["build"]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(
            "dynamo", 20, ("batch",), (Workaround("a", "b"),), ("n",), (StageTime("build", 1.5),)
        ),
        Failure("export", "", lines=("ValueError: no",)),
        Failure("build", "p", "h", "UsageError"),
    ],
)
def test_an_outcome_is_read_as_it_was_written(tmp_path: Path, outcome: Outcome | Failure) -> None:
    write_outcome(tmp_path, outcome)
    assert read_outcome(tmp_path) == outcome
