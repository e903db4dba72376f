"""Back ends are known by their entry: nothing else lists them, and nobody imports one."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.core.backends import BACKENDS

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


def _own(half: str) -> str:
    """Return the package of a half, `burnish.codegen.cpu`, or the file that is all of it."""
    return ".".join(half.partition(":")[0].split(".")[:3])


OWN = {name: {_own(e.runner), _own(e.compiler)} for name, e in BACKENDS.items()}


@functools.cache
def _imported(path: Path) -> tuple[str, ...]:
    return tuple(_each_import(path))


def _each_import(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _inside(module: str, packages: set[str]) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_back_end_is_imported_by_nobody_but_itself(name: str) -> None:
    for path in (ROOT / "src").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        if not _inside(module, OWN[name]):
            foreign = [one for one in _imported(path) if _inside(one, OWN[name])]
            assert not foreign, f"{module} imports {foreign}"


@pytest.mark.parametrize("package", ["codegen", "runtime"])
def test_what_is_no_back_end_has_its_layer(package: str) -> None:
    (contract,) = (
        one for one in CONTRACTS["contracts"] if one.get("containers") == [f"burnish.{package}"]
    )
    layered = {name.strip() for layer in contract["layers"] for name in layer.split("|")}
    folder = ROOT / "src" / "burnish" / package
    there = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    own = {one.rpartition(".")[2] for packages in OWN.values() for one in packages}
    assert there - own - {"__init__", "__pycache__"} == layered
