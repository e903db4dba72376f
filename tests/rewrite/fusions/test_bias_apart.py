"""A bias is kept apart from its product exactly where the runtime would join them at a loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, samples

HALF = ir.DataType.FLOAT16
FEEDS = {"x": samples(2, 3, 8).astype(np.float16)}
GPU = {"target": "cuda"}


def build(
    *, shape: tuple[int | str, ...] = (2, 3, 8), swapped: bool = False, read: bool = False,
    dtype: ir.DataType = HALF,
) -> ir.Model:  # fmt: skip
    g = Graph(dtype=dtype)
    kind = dtype.numpy()
    product = g.op("MatMul", g.input("x", shape), samples(8, 6, seed=1).astype(kind))
    bias = samples(6, seed=2).astype(kind)
    total = g.op("Add", *((bias, product) if swapped else (product, bias)))
    return g.model(total, *([g.op("Relu", product)] if read else []))


def bias_shape(model: ir.Model) -> tuple[int, ...]:
    (add,) = [node for node in model.graph if node.op_type == "Add"]
    (bias,) = [value for value in add.inputs if value is not None and value.is_initializer()]
    return tuple(bias.const_value.shape.numpy()) if bias.const_value is not None else ()


@pytest.mark.parametrize("case", [
    {}, {"swapped": True}, {"swapped": True, "shape": ("batch", 3, 8)},
])  # fmt: skip
def test_a_bias_comes_second_with_leading_ones(case: dict[str, Any]) -> None:
    result = checked(build(**case), FEEDS, tolerance=1e-2, **GPU)
    assert bias_shape(result.model) == (1, 1, 6)
    (add,) = [node for node in result.model.graph if node.op_type == "Add"]
    assert add.inputs[1] is not None
    assert add.inputs[1].is_initializer()
    (note,) = result.report.notes
    assert note == (
        "biases of products are added second and with leading axes of one: as they were, or as the"
        " runtime would make them, they take 1.4x the time"
    )


@pytest.mark.parametrize(("case", "options"), [
    ({}, {"target": "cpu"}),
    ({}, {"target": "cuda", "cost": "off"}),
    ({"shape": ("batch", 3, 8)}, GPU),
    ({"shape": (3, 8)}, GPU),
    ({"read": True, "swapped": True}, GPU),
    ({"dtype": ir.DataType.FLOAT}, GPU),
])  # fmt: skip
def test_elsewhere_it_stays_as_it_is(case: dict[str, Any], options: dict[str, Any]) -> None:
    result = optimize(build(**case), OptimizeOptions(**options))
    assert bias_shape(result.model) == (6,)
    assert result.report.fusions == ()
