"""Burnish's own failures are told in two lines and a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.cli import bugs, main
from burnish.core.errors import BUG


def _raised() -> Exception:
    try:
        return [ValueError()][7]
    except IndexError as error:
        return error


def test_a_bug_is_two_lines_and_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    found = bugs.reported(_raised())
    (path,) = (tmp_path / "bugs").iterdir()
    assert found.exit_code == BUG
    assert found.problem.startswith(
        "this is a bug in burnish, not in your model (IndexError: list index out of range in "
    )
    assert found.hint == f"report it with {path}; -v shows the same here"
    assert "Traceback (most recent call last)" in path.read_text()
    assert "return [ValueError()][7]" in path.read_text()


def test_a_bug_without_a_place_for_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "file"))
    assert bugs.reported(_raised()).hint == (
        "report it with what burnish -v shows for the same command"
    )


def test_a_command_that_fails_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_kind: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))
    monkeypatch.setattr("burnish.store.summarize.list_store", broken)
    assert main.run(["model", "list"]) == BUG
    error = capsys.readouterr().err
    assert error.startswith("burnish: this is a bug in burnish, not in your model (ZeroDivisionErr")
    assert "Traceback" not in error
    assert main.run(["-v", "model", "list"]) == BUG
    assert "Traceback" in capsys.readouterr().err


def test_memory_that_runs_out_is_not_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hungry(_kind: object) -> None:
        raise MemoryError

    monkeypatch.setattr("burnish.store.summarize.list_store", hungry)
    assert main.run(["model", "list"]) == 4
    assert capsys.readouterr().err == (
        "burnish: there is not enough memory\n"
        "  hint: choose smaller sizes with --shape, or allow more (ulimit -v)\n"
    )
