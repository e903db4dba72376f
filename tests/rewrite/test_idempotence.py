"""Optimising what was optimised changes nothing, on files that others wrote.

The files lie in a folder beside the repository; without it these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.core.errors import BurnishError
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from burnish.store import onnx_files

_SMALL_BYTES = 2_000_000


ABSENT = pytest.param(Path("none"), marks=pytest.mark.skip("the folder ../shared is not here"))


def _files() -> list[Path]:
    """Return the small models of the folder, from wherever this checkout lies."""
    folders = (parent / "shared" / "data" / "wild" for parent in Path(__file__).resolve().parents)
    found = next((folder for folder in folders if folder.is_dir()), None)
    files = [] if found is None else sorted(found.rglob("*.onnx"))
    return [file for file in files if file.stat().st_size < _SMALL_BYTES]


def _written(model: ir.Model, path: Path) -> onnx.GraphProto:
    ir.save(model, path)
    return onnx.load(path).graph


@pytest.mark.parametrize("cost", ["rules", "off"])
@pytest.mark.parametrize("file", _files() or [ABSENT], ids=lambda file: file.stem)
def test_a_second_rewrite_changes_nothing(file: Path, cost: str, tmp_path: Path) -> None:
    options = OptimizeOptions(cost=cost)  # type: ignore[arg-type]
    try:
        once = optimize(onnx_files.read(file), options).model
    except BurnishError as error:
        pytest.skip(f"it is refused: {error}")
    first = _written(once, tmp_path / "once.onnx")
    again = optimize(onnx_files.read(tmp_path / "once.onnx"), options)
    second = _written(again.model, tmp_path / "twice.onnx")
    assert again.report.fusions == ()
    assert list(second.node) == list(first.node)
    assert {item.name for item in second.initializer} == {item.name for item in first.initializer}
