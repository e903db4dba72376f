"""The walks that are drawn in docs/architecture.md lead through functions that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "burnish"
DRAWN = (
    (ROOT / "docs" / "architecture.md")
    .read_text()
    .partition("### The four walks")[2]
    .split("```")[1]
)
NAMES = sorted(set(re.findall(r"\b[a-z_]+(?:\.[a-z_]+)*\.\w+\b", DRAWN)) - {"result.json"})


def _defined(path: Path) -> set[str]:
    named = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, named)}


def _is_there(home: Path, name: str) -> bool:
    """Return whether a module of this name is below a folder, or a function of such a module."""
    path = home.joinpath(*name.split("."))
    if path.with_suffix(".py").is_file() or path.is_dir():
        return True
    module = path.parent.with_suffix(".py")
    return module.is_file() and path.name in _defined(module)


def test_all_four_are_drawn() -> None:
    for walk in ("run ", "optimize ", "compile + exec ", "profile + whatif "):
        assert re.search(f"^{re.escape(walk)}", DRAWN, re.MULTILINE), walk
    assert len(NAMES) > 20


@pytest.mark.parametrize("name", NAMES)
def test_a_station_of_a_walk_is_a_module_or_a_function(name: str) -> None:
    assert _is_there(SOURCE / "study", name) or _is_there(SOURCE, name)
