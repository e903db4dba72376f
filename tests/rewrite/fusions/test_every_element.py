"""A matrix that is gathered element by element, in order, is read as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

WHOLE = ir.DataType.INT64
FEEDS = {"x": samples(3, 5)}


def build(
    *, start: int = 0, step: int = 1, factor: int = 1, crossed: bool = False,
    swapped: bool = False, flatten: bool = True, columns: int = 1,
) -> ir.Model:  # fmt: skip
    g = Graph()
    x = g.input("x", ["rows", "columns"])
    shape = g.op("Shape", x)
    height, width = (g.op("Gather", shape, np.array(axis)) for axis in (0, 1))
    wide = width if columns == 1 else height
    across = g.op("Range", np.array(start), wide, np.array(step))
    down = g.op("Range", np.array(0), height, np.array(1))
    places = ([0, 1, 2], [1, 2, 3]) if not crossed else ([1, 2, 3], [0, 1, 2])
    across = g.op("Unsqueeze", across, np.array(places[0]))
    down = g.op("Unsqueeze", down, np.array(places[1]))
    count = width if factor == 1 else g.op("Mul", width, np.array(factor))
    lines = g.op("Mul", *((count, down) if swapped else (down, count)))
    index = g.op("Add", *((lines, across) if swapped else (across, lines)))
    flat = g.op("Flatten", x, axis=2) if flatten else g.op("Reshape", x, np.array([-1]))
    return g.model(g.op("Gather", flat, index, axis=0))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("flatten", [False, True])
def test_it_is_read_as_it_is(swapped: bool, flatten: bool) -> None:
    result = checked(build(swapped=swapped, flatten=flatten), FEEDS)
    assert "every-element" in {fusion.rule for fusion in result.report.fusions}
    assert "Range" not in op_types(result.model)


@pytest.mark.parametrize("case", [
    {"start": 1}, {"step": 2}, {"factor": 0}, {"crossed": True}, {"columns": 0},
])  # fmt: skip
def test_another_order_stays(case: dict[str, Any]) -> None:
    result = checked(build(**case), FEEDS)
    assert "every-element" not in {fusion.rule for fusion in result.report.fusions}


def test_a_size_that_no_input_has_is_told() -> None:
    g = Graph()
    x = g.op("Mystery", g.input("y", ["n"]), domain="custom")
    x.dtype, x.shape = WHOLE, ir.Shape(["p", "q"])
    shape = g.op("Shape", x)
    height, width = (g.op("Gather", shape, np.array(axis)) for axis in (0, 1))
    across = g.op("Unsqueeze", g.op("Range", np.array(0), width, np.array(1)), np.array([0]))
    down = g.op("Unsqueeze", g.op("Range", np.array(0), height, np.array(1)), np.array([1]))
    index = g.op("Add", across, g.op("Mul", down, width))
    gathered = g.op("Gather", g.op("Reshape", x, np.array([-1])), index, axis=0)
    gathered.dtype = WHOLE
    model = g.model(gathered)
    model.opset_imports["custom"] = 1
    result = optimize(model, OptimizeOptions())
    (miss,) = [miss for miss in result.report.misses if miss.rule == "every-element"]
    assert miss.reason == "a size of what Gather 'gather_11' gives is not that of any input"
    assert miss.remedy == "declare the shapes of the graph's inputs"
