"""The commands that scripts start have the options that they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from burnish.cli.commands import COMMANDS
from command_options import known

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))
BEFORE = {"burnish", "-m", "-q", "-v"}
"""What may stand before the name of a command."""


def _started(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the command that words are, and the options in them."""
    rest = [word for word in words if word not in BEFORE]
    if not rest or rest[0] not in COMMANDS or words[0] not in {*BEFORE, rest[0]}:
        return None
    return rest[0], [word for word in rest[1:] if word.startswith("-") and word != "-"]


def _sequences(script: Path) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(ast.parse(script.read_text())):
        parts = getattr(node, "elts", None) or getattr(node, "args", None)
        if isinstance(node, ast.List | ast.Tuple | ast.Call) and parts:
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            words = [text for text in texts if isinstance(text, str)]
            if words and (command := _started(words)) is not None:
                yield command


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_command_takes_its_options(script: Path) -> None:
    for command, options in _sequences(script):
        assert set(options) <= known(command), f"burnish {command}"


def test_commands_are_seen() -> None:
    seen = {command for script in SCRIPTS for command, _ in _sequences(script)}
    assert {"export", "optimize", "bench"} <= seen
