from __future__ import annotations

import time

import pytest

from burnish.cli import progress
from burnish.cli.progress import Lines


def test_a_stage_is_told_when_it_begins_and_when_it_ends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Lines()
    for done in (1, 2, 3):
        lines.step("reference", done, 3)
    assert capsys.readouterr().err.splitlines() == ["reference: 1 of 3", "reference: 3 of 3"]


def test_a_stage_of_unknown_length_is_told_twice_too(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for done in range(1, 50):
        lines.step("search", done, 0, f"batch={done}")
    lines.step("search", 1, 1, "49 inputs tried")
    assert capsys.readouterr().err.splitlines() == ["search: batch=1", "search: 49 inputs tried"]


def test_a_stage_that_goes_on_is_told_of_again(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    for done in range(1, 5):
        lines.step("bench", done, 9, f"cell {done}")
        now[0] += 20.0
    assert capsys.readouterr().err.splitlines() == ["bench: cell 1", "bench: cell 3"]


def test_a_command_that_says_nothing_is_seen_to_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SOON_S", 0.0)
    said = ""
    with progress.shown("model list"):
        while not said:
            time.sleep(0.001)
            said = capsys.readouterr().err
    assert said == "model list: working\n"


def test_a_command_that_is_done_soon_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.shown("model list"):
        pass
    assert capsys.readouterr().err == ""
