"""A softmax that is spelled out is one operator."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples


def build(*, axis: int = -1, spelled: bool, other: bool = False, summed: int = -1) -> ir.Model:
    g = Graph(opset=18)
    x, y = g.input("x", ["batch", 4, 5]), g.input("y", ["batch", 4, 5])
    highest = g.op("ReduceMax", y if other else x, g.constant([axis]), keepdims=1)
    shifted = g.op("Sub", x, highest)
    if not spelled:
        return g.model(g.op("Add", g.op("Softmax", shifted, axis=axis), y))
    power = g.op("Exp", shifted)
    return g.model(
        g.op("Add", g.op("Div", power, g.op("ReduceSum", power, g.constant([summed]))), y)
    )


FEEDS = {"x": samples(2, 4, 5), "y": samples(2, 4, 5, seed=1)}


@pytest.mark.parametrize("axis", [-1, 1])
def test_the_highest_score_need_not_be_taken_away(axis: int) -> None:
    result = checked(build(axis=axis, spelled=False), FEEDS)
    assert op_types(result.model) == ["Softmax", "Add"]


@pytest.mark.parametrize("axis", [-1, 1])
def test_exponentials_over_their_sum_are_a_softmax(axis: int) -> None:
    result = checked(build(axis=axis, spelled=True, summed=axis), FEEDS)
    assert op_types(result.model) == ["Softmax", "Add"]


def test_what_is_taken_away_must_be_the_highest_of_the_same() -> None:
    kept = op_types(optimize(build(spelled=False, other=True)).model)
    assert "ReduceMax" in kept
    assert "Div" in op_types(optimize(build(spelled=True, other=True)).model)


def test_a_sum_over_another_axis_is_no_softmax() -> None:
    assert "Div" in op_types(optimize(build(spelled=True, summed=1)).model)


def test_a_highest_score_over_another_axis_stays() -> None:
    g = Graph(opset=18)
    x = g.input("x", ["batch", 4, 5])
    shifted = g.op("Sub", x, g.op("ReduceMax", x, g.constant([1]), keepdims=1))
    assert "ReduceMax" in op_types(optimize(g.model(g.op("Softmax", shifted, axis=-1))).model)
