"""What is declared is imported, and what is imported is declared."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {
    "protobuf": "google",
    "onnxruntime-gpu": "onnxruntime",
    "onnx-ir": "onnx_ir",
    "cuda-bindings": "cuda",
}
"""Distributions that are imported under another name."""
IMPORTED_BY_OTHERS = {
    "onnxscript": "torch.onnx.export",
    "safetensors": "transformers",
}


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[; ]", text)[0] for text in requirements}


@functools.cache
def _imported() -> frozenset[str]:
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return frozenset(found - set(sys.stdlib_module_names) - {"burnish"})


EXTRAS = {
    name
    for extra, requirements in PROJECT["optional-dependencies"].items()
    if extra != "dev"
    for name in _names(requirements)
}
DECLARED = _names(PROJECT["dependencies"]) | EXTRAS


def test_every_dependency_is_imported_by_us_or_by_one_that_is() -> None:
    unused = {name for name in DECLARED if MODULES.get(name, name) not in _imported()}
    assert unused == set(IMPORTED_BY_OTHERS)


def test_everything_imported_is_a_dependency() -> None:
    assert _imported() <= {MODULES.get(name, name) for name in DECLARED}


def test_only_the_constraints_pin_exact_versions() -> None:
    extras = PROJECT["optional-dependencies"].values()
    every = [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    assert not [text for text in every if "==" in text.partition(";")[0]]
    assert re.search(r"^torch==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)


def test_the_page_on_architecture_gives_every_dependency_a_reason() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("## Dependencies")[2]
    for name in DECLARED:
        assert name in table, name


def test_every_benchmark_is_run_by_make_or_named_as_not() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for path in (ROOT / "benchmarks").glob("*.py"):
        is_part = "__main__" not in path.read_text()  # of another one, which imports it
        assert is_part or f"benchmarks/{path.name}" in makefile, path.name
