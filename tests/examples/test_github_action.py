"""The action in examples/ asks for what burnish has: its options, its modules, its exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.cli.commands import COMMANDS, found
from burnish.study.requests.option import fields

ACTION = Path(__file__).parents[2] / "examples" / "github-action" / "action.yml"


def test_its_commands_have_the_options_that_it_gives() -> None:
    text = ACTION.read_text().replace("\\\n", " ")
    asked = re.findall(r"^ *burnish (\w+) (.*)$", text, re.MULTILINE)
    assert {command for command, _ in asked} == {"gate", "bench"}
    for command, words in asked:
        known = {
            flag
            for field in fields(found("study.requests", COMMANDS[command].request))
            for flag in field.flags
        }
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", words)) <= known, command


def test_the_line_that_tells_the_machine_runs() -> None:
    code = re.search(r"python -c '(.+?)'", ACTION.read_text(), re.DOTALL)
    assert code is not None
    line = " ".join(code[1].split())
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, timeout=600, check=True
    )
    assert re.fullmatch(r"key=[0-9a-f]{16}\n", done.stdout)


@pytest.mark.parametrize(
    ("code", "pushed", "ends", "measured"),
    [
        (0, False, 0, False), (0, True, 0, True), (4, False, 0, False), (1, False, 1, False),
        (1, True, 1, False), (5, False, 5, False), (5, True, 0, True),
    ],
)  # fmt: skip
def test_its_step_ends_as_the_gate_does(
    tmp_path: Path, code: int, pushed: bool, ends: int, measured: bool
) -> None:
    """A pull request that computes something else fails; what is pushed counts from then on."""
    step = re.search(r"run: \|\n((?: {8}.*\n)+)", ACTION.read_text())
    assert step is not None
    stub = tmp_path / "burnish"
    stub.write_text(
        f'#!/bin/sh\necho "$1" >> called\ntouch gate.md\n[ "$1" = bench ] || exit {code}\n'
    )
    stub.chmod(0o755)
    (tmp_path / "b.json").touch()
    words = dict.fromkeys(("MODEL", "ENGINE", "BUDGET", "LIMIT", "RESULTS"), "x")
    done = subprocess.run(
        ["bash", "-e", "-c", step[1]], cwd=tmp_path, check=False, capture_output=True, timeout=60,
        env={**words, "PATH": f"{tmp_path}:{os.environ['PATH']}", "BASELINE": "b.json",
             "ACCEPTED": str(pushed).lower(), "GITHUB_STEP_SUMMARY": "summary.md"},
    )  # fmt: skip
    assert done.returncode == ends
    assert ("bench" in (tmp_path / "called").read_text().split()) == measured
