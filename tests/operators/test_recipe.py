"""The recipe for an operator in CONTRIBUTING.md holds: one file, and all of burnish knows it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from burnish.analyze.work import work_of
from burnish.core.tensors import TensorSpec
from burnish.infer.graph_of import graph_of
from burnish.operators.record import OPERATORS
from burnish.rewrite.static import static
from burnish.tile.lower import cover, lower
from burnish.tile.reference import evaluate
from burnish.tile.semantics import SEMANTICS

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
MODEL = """<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
g (float[n, 4] x) => (float[a, b] y) { h = mine.Scaled<factor = 3.0>(x) y = Neg(h) }"""


@pytest.fixture
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the file that the page tells to write; forget its operator afterwards."""
    for registry in (OPERATORS, SEMANTICS):
        registry.names()
        monkeypatch.setattr(registry, "_things", dict(registry._things))  # type: ignore[attr-defined]
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    exec(compile(text, "mine.py", "exec"), {})


@pytest.mark.usefixtures("_toy")
def test_an_operator_is_shaped_and_counted_by_its_record() -> None:
    graph = graph_of(ir.from_onnx_text(MODEL), {"n": 2})
    assert graph.static("h") == TensorSpec("h", "f32", (2, 4))
    work = work_of(graph.nodes[0], graph)
    assert work is not None
    assert (work.flops, work.bytes_moved) == (8, 64)


@pytest.mark.usefixtures("_toy")
def test_an_operator_is_lowered_by_its_record() -> None:
    model = static(ir.from_onnx_text(MODEL), {"n": 2})
    assert not cover(model.graph).left
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    found = evaluate(lower(list(model.graph)).graph, {"x": x})
    np.testing.assert_array_equal(found["y"], -3 * x)


def test_without_its_file_nothing_is_assumed() -> None:
    graph = graph_of(ir.from_onnx_text(MODEL), {"n": 2})
    assert graph.static("h") is None
    assert work_of(graph.nodes[0], graph) is None
