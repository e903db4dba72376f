"""Every outcome has an exit code, and every error two lines on stderr."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from burnish.cli import commands, main, output
from burnish.core import errors


def _command_that(outcome: BaseException | int | None) -> click.Command:
    @click.command()
    def command() -> int | None:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return command


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (None, 0),
        (1, 1),
        (errors.CheckFailedError("p", hint="h"), 1),
        (errors.UsageError("p", hint="h"), 2),
        (click.UsageError("p"), 2),
        (errors.ModelError("p", hint="h"), 3),
        (errors.MissingCapabilityError("p", hint="h"), 4),
        (RuntimeError("oh"), 70),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (BrokenPipeError(), 0),
    ],
)
def test_every_outcome_has_its_exit_code(
    outcome: BaseException | int | None, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "summaries", lambda: {"trial": "for a test"})
    monkeypatch.setattr(commands, "made", lambda _name: _command_that(outcome))
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    assert main.run(["trial"]) == code


def test_a_problem_is_two_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    output.failure(errors.ModelError("a.onnx: is empty", hint="export it again"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "burnish: a.onnx: is empty\n  hint: export it again\n"


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["optimise"]) == 2
    assert capsys.readouterr().err.startswith(
        "burnish: no such command 'optimise'\n  hint: did you mean 'optimize'?"
    )


def test_an_unknown_option_points_to_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["doctor", "--nonsense"]) == 2
    error = capsys.readouterr().err
    assert "burnish doctor has no option --nonsense" in error
    assert "hint: see burnish doctor --help" in error


@pytest.mark.parametrize("arguments", [[], ["model"]])
def test_without_a_command_there_is_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(arguments) == 2
    assert capsys.readouterr().err.startswith("Usage: burnish")


@pytest.mark.parametrize("command", commands.summaries())
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([command, "--help"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_help_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys; from burnish.cli.main import run; run(['--help'])\n"
        "for name in sys.argv[1:]: run([name, '--help'])\n"
        "heavy = {'numpy', 'torch', 'onnx', 'onnx_ir', 'onnxruntime', 'rich', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *commands.summaries()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "burnish", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("burnish ")
