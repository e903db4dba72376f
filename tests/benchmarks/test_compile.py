"""The script that sets compiled models against engines: what it asks `burnish` for."""

from __future__ import annotations

import argparse
import inspect
import subprocess
from pathlib import Path

import click
import compile as script
import pytest

from burnish.cli.main import burnish


@pytest.mark.parametrize("case", script.CASES, ids=lambda case: case.model)
def test_every_line_is_one_that_the_command_takes(
    case: script.Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[tuple[str, ...]] = []

    def asked_for(*words: str, written: Path | None = None) -> script.Report:
        lines.append(words)
        return {}

    (tmp_path / "compiled").mkdir()
    monkeypatch.setattr(script, "burnish", asked_for)
    asked = argparse.Namespace(
        folder=tmp_path,
        tuning="1s",
        budget=1.0,
        rounds=2,
        again=False,
        ablation=True,
        predicted=False,
        engines=",".join(script.ENGINES),
    )
    script.prepare(case, asked)
    script.measure(case, asked)
    script.ablate(case, asked)
    assert [line[0] for line in lines] == ["export", *["compile"] * 4, "bench", "bench"]
    for name, *words in lines:
        command = burnish.get_command(click.Context(burnish), name)
        assert command is not None
        command.make_context(name, words)


def test_an_engine_that_cannot_read_a_model_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "report.json"
    place.write_text("of before")

    def failing(writes: bool) -> None:
        def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
            assert not place.is_file()
            if writes:
                place.write_text("{}")
            return subprocess.CompletedProcess(command, 4, stdout="{}", stderr="no such operator")

        monkeypatch.setattr(subprocess, "run", run)

    failing(writes=True)
    assert script.burnish("bench", "m", "--json", written=place) == {}
    failing(writes=False)
    with pytest.raises(SystemExit, match="no such operator"):
        script.burnish("bench", "m", "--json", written=place)


def test_networks_that_are_written_are_there() -> None:
    networks = pytest.importorskip("networks")
    there = {name for name, _ in inspect.getmembers(networks, inspect.isfunction)}
    assert {case.model for case in script.CASES if case.is_written} <= there
