"""The race on a lent machine: what is asked of `burnish`, in which order, on which processors."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from compile import CASES
from h200 import race as script
from h200.race import Race, options

from burnish.cli.main import burnish


class Noted(Race):
    """Notes what would be run; `failing` fails when it is compiled."""

    def __init__(self, folder: Path, *words: str, failing: str = "") -> None:
        given = ["models.tar.xz", "--results", str(folder / "results"), "--work"]
        super().__init__(options().parse_args([*given, str(folder / "work"), *words]))
        self.lines: list[tuple[list[int], tuple[str, ...]]] = []
        self.failing = failing

    def _said(self, what: str, cpus: list[int], limit_s: float, *command: str) -> str | None:
        with self.lock:
            self.lines.append((cpus, command))
        if "compile" in command and self.failing and self.failing in command[3]:
            return None
        if "bench" in command:
            Path(command[command.index("-o") + 1]).write_text("{}")
        return "{}"

    def of(self, kind: str) -> list[tuple[list[int], tuple[str, ...]]]:
        return [line for line in self.lines if kind in line[1]]


def test_every_model_is_made_compiled_and_raced_on_a_pair(tmp_path: Path) -> None:
    one = Noted(tmp_path, "--seconds", "500", "--cpus", "0-7")
    assert one.run()
    assert len(one.of("make")) == len(one.of("compile")) == len(one.of("bench")) == len(CASES)
    assert all(len(cpus) == 1 for cpus, _ in one.of("compile"))
    assert {tuple(cpus) for cpus, _ in one.of("bench")} <= {(0, 1), (2, 3), (4, 5), (6, 7)}
    assert "restormer" in one.of("make")[0][1], "what takes longest is begun first"
    told = json.loads((tmp_path / "results" / "compiled" / "bsrn-tuned.json").read_text())
    assert told["benchmark_seconds"] >= 0


def test_what_is_asked_for_are_lines_that_burnish_takes(tmp_path: Path) -> None:
    one = Noted(tmp_path, "--seconds", "500", "--cpus", "0-1", "--only", "vit-s32")
    assert one.run()
    lines = [command[2:] for _, command in one.lines if command[:2] == ("-m", "burnish")]
    assert [name for name, *_ in lines] == ["compile", "bench"]
    for name, *words in lines:
        command = burnish.get_command(click.Context(burnish), name)
        assert command is not None
        command.make_context(name, words)


def test_what_cannot_be_compiled_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Noted(tmp_path, "--seconds", "500", "--cpus", "0-3", failing="unet")
    assert not one.run()
    assert len(one.of("bench")) == len(CASES) - 1
    assert "end; not raced: unet" in capsys.readouterr().out


def test_where_no_time_is_left_nothing_is_raced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    least = script.LEAST_S + script.ENDING_S
    one = Noted(tmp_path, "--seconds", str(least - 1), "--cpus", "0-1", "--only", "unet,gpt2")
    assert not one.run()
    assert one.of("bench") == []
    assert "not raced: unet, gpt2" in capsys.readouterr().out


def test_what_fails_is_told_with_the_end_of_what_it_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["m", "--results", str(tmp_path / "r"), "--work", str(tmp_path / "w"), "--seconds", "9"]
    one = Race(options().parse_args(asked))
    first = one._said("a", [0], 60, "-c", "import sys; sys.exit('no such thing')")
    assert first is None
    assert one._said("b", [0], 60, "-c", "print('well')") == "well\n"
    assert one._said("c", [0], 1, "-c", "import time; time.sleep(60)") is None
    said = capsys.readouterr().out
    assert "no such thing" in said
    assert "c: not within 1 s" in said
