"""Small enough to read: files of at most 400 lines, functions of at most 40."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "burnish"
FILES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_file_is_small_enough_to_read(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, functions):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 40, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_name_says_what_is_inside(path: Path) -> None:
    assert not FORBIDDEN & set(path.with_suffix("").parts)
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, "the module docstring says in one sentence what lives here"


def test_only_the_output_module_prints() -> None:
    printing = [
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
    ]
    assert set(printing) <= {"cli/output.py"}
