"""Kernels that compute with numbers alone: whatever is known of an element beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.gpu import spelling
from burnish.tile.connect import singles
from burnish.tile.expr import Constant, Expr, call, cast
from burnish.tile.graph import TileGraph
from burnish.tile.reference import evaluate
from burnish.tile.semantics import NestBuilder, axes_for
from codegen.gpu.interpreting import run_groups

SIZE = 6
NUMBERS = {
    "cast to f16": cast(call("negative", Constant(1.5, "f32")), "f16"),
    "cast to bool": cast(call("negative", Constant(1.5, "f32")), "bool"),
    "sign of a whole number": call("sign", Constant(-3, "i64")),
    "sign of f16": call("sign", Constant(-3.0, "f16")),
    "a number": Constant(2.5, "f32"),
    "a whole number": Constant(7, "i64"),
    "a condition": call("less", Constant(1.0, "f32"), Constant(2.0, "f32")),
    "root": call("sqrt", Constant(2.0, "f32")),
    "quotient": call("divide", Constant(7, "i64"), Constant(-2, "i64")),
}


def filled(body: Expr) -> TileGraph:
    """Return a graph whose only tensor has the same number everywhere."""
    builder = NestBuilder({}, {})
    builder.add("y", axes_for((SIZE,)), [], body)
    return TileGraph(builder.tensors, (), ("y",), tuple(builder.ops), builder.constants)


@pytest.mark.torch
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_known_is_written_as_the_judge_has_it(name: str) -> None:
    graph = filled(NUMBERS[name])
    found = run_groups(graph, [(group, {}) for group in singles(graph)], {})
    wanted = evaluate(graph, {})
    np.testing.assert_allclose(found["y"], wanted["y"], rtol=1e-6)


def test_a_number_of_f32_becomes_a_tensor_before_it_is_cast() -> None:
    assert spelling.casted("0.0", "f32", "f16") == "tl.full((), 0.0, tl.float32).to(tl.float16)"
    assert spelling.casted("-1.5", "f32", "bool") == "(tl.full((), -1.5, tl.float32) != 0)"
    assert spelling.casted("t0_1", "f32", "f16") == "t0_1.to(tl.float16)"
