"""The action in examples/ asks for what burnish has: its options, its modules, its exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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
