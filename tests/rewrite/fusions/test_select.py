"""Choices that are spelled as sums of products are found, and nothing else is."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

BOOL, FLOAT, I32 = ir.DataType.BOOL, ir.DataType.FLOAT, ir.DataType.INT32
FEEDS = {"x": samples(2, 3, 4), "c": np.array([[True, False, True, True]] * 3)}


def _sum(g: Graph, chosen: ir.Value, x: ir.Value, fill: object, *, kept: ir.Value) -> ir.Value:
    yes = g.op("Mul", g.op("Cast", kept, to=FLOAT), x)
    no = g.op("Mul", fill, g.op("Cast", g.op("Not", chosen), to=FLOAT))  # type: ignore[arg-type]
    return g.op("Relu", g.op("Add", yes, no))


def _inputs(g: Graph) -> tuple[ir.Value, ir.Value]:
    return g.input("x", ["batch", 3, 4]), g.input("c", [3, 4], BOOL)


def test_a_sum_of_two_masked_values_is_a_choice() -> None:
    g = Graph()
    x, c = _inputs(g)
    result = checked(g.model(_sum(g, c, x, -7.0, kept=c)), FEEDS)
    assert op_types(result.model) == ["Where", "Relu"]


def test_a_condition_that_is_spread_over_what_is_chosen_is_read_as_it_was() -> None:
    g = Graph()
    x, c = _inputs(g)
    shape = g.op("Cast", g.op("Cast", g.op("Shape", x), to=I32), to=ir.DataType.INT64)
    wide = g.op("And", g.op("Expand", np.array(True), shape), c)
    result = checked(g.model(_sum(g, wide, x, 2.0, kept=wide)), FEEDS)
    assert op_types(result.model) == ["Where", "Relu"]


def test_a_condition_that_is_wider_than_what_is_chosen_stays_wide() -> None:
    g = Graph()
    x, c = g.input("x", [3, 4]), g.input("c", [3, 4], BOOL)
    wide = g.op("And", g.op("Expand", np.array(True), np.array([2, 3, 4])), c)
    feeds = {"x": samples(3, 4), "c": FEEDS["c"]}
    result = checked(g.model(_sum(g, wide, x, 2.0, kept=wide)), feeds)
    assert op_types(result.model)[-2:] == ["Where", "Relu"]
    assert "And" in op_types(result.model)


@pytest.mark.parametrize("other", ["x", "d"])
def test_masks_of_two_conditions_stay(other: str) -> None:
    g = Graph()
    x, c = _inputs(g)
    d = g.op("Greater", x, 0.0) if other == "x" else g.input("d", [3, 4], BOOL)
    model = g.model(_sum(g, c, x, 2.0, kept=d))
    assert "Where" not in op_types(optimize(model).model)


def test_a_difference_stays() -> None:
    g = Graph()
    x, c = _inputs(g)
    no = g.op("Mul", 2.0, g.op("Cast", g.op("Not", c), to=FLOAT))
    yes = g.op("Mul", g.op("Cast", c, to=FLOAT), x)
    assert "Where" not in op_types(optimize(g.model(g.op("Sub", yes, no))).model)


def _by_table(g: Graph, x: ir.Value, table: ir.Value, fill: float) -> ir.Value:
    rest = g.op("Mul", g.op("Sub", 1.0, table), fill)
    return g.op("Relu", g.op("Add", g.op("Mul", x, table), rest))


def test_a_table_of_zeros_and_ones_chooses() -> None:
    g = Graph()
    x = g.input("x", ["batch", 3, 4])
    cut = g.op("Slice", np.tril(np.ones((1, 5, 4), np.float32)), [0], [3], [1])
    result = checked(g.model(_by_table(g, x, cut, -7.0)), {"x": FEEDS["x"]})
    assert op_types(result.model) == ["Where", "Relu"]


def test_a_table_of_a_condition_chooses() -> None:
    g = Graph()
    x, c = _inputs(g)
    result = checked(g.model(_by_table(g, x, g.op("Cast", c, to=FLOAT), -7.0)), FEEDS)
    assert op_types(result.model) == ["Where", "Relu"]


def test_a_table_of_other_numbers_stays() -> None:
    g = Graph()
    x = g.input("x", ["batch", 3, 4])
    table = g.constant(np.full((3, 4), 0.5, np.float32))
    assert "Where" not in op_types(optimize(g.model(_by_table(g, x, table, -7.0))).model)


def test_a_table_that_is_fed_stays() -> None:
    g = Graph()
    x, table = g.input("x", ["batch", 3, 4]), g.input("t", [3, 4])
    assert "Where" not in op_types(optimize(g.model(_by_table(g, x, table, -7.0))).model)
