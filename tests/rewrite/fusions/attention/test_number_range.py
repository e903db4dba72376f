"""A range holds every element that a model can compute, and says nothing where it cannot know."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.number_range import NumberRange, range_of
from rewriting import Graph, run

HALF = ir.DataType.FLOAT16


def graph() -> tuple[Graph, ir.Value, ir.Value]:
    g = Graph(opset=17)
    return g, g.input("flags", [3], ir.DataType.BOOL), g.input("count", [3], ir.DataType.INT64)


def found(g: Graph, value: ir.Value) -> NumberRange | None:
    return found_in(g.model(value), value)


def found_in(model: ir.Model, value: ir.Value) -> NumberRange | None:
    for node in model.graph:
        if node.op_type == "Cast":
            kind = ir.DataType(node.attributes["to"].as_int())
            node.outputs[0].dtype = kind
        elif node.op_type != "Where" and node.inputs[0] is not None:
            node.outputs[0].dtype = node.inputs[0].dtype
    return range_of(value, Facts(model))


def test_a_choice_lies_between_both_ends() -> None:
    g, flags, _ = graph()
    chosen = g.op("Where", flags, 0.0, -65504.0)
    assert found(g, g.op("Unsqueeze", chosen, np.array([0]))) == NumberRange(-65504.0, 0.0)


def test_a_choice_of_infinity_is_seen() -> None:
    g, flags, _ = graph()
    assert found(g, g.op("Where", flags, 0.0, -np.inf)) == NumberRange(-math.inf, 0.0)


def test_the_lowest_of_two_masks_together_overflows() -> None:
    g, flags, _ = graph()
    mask = g.op("Where", flags, 0.0, float(np.finfo(np.float32).min))
    mask.dtype = ir.DataType.FLOAT
    assert found(g, g.op("Add", mask, mask)) == NumberRange(-math.inf, 0.0)


@pytest.mark.parametrize(("to", "expected"), [
    (ir.DataType.FLOAT, NumberRange(-(2.0**63), 2.0**63)),
    (HALF, NumberRange(-math.inf, math.inf)),
])  # fmt: skip
def test_whole_numbers_may_be_too_large_for_a_type(to: ir.DataType, expected: NumberRange) -> None:
    g, _, count = graph()
    assert found(g, g.op("Cast", count, to=int(to))) == expected


def test_a_value_that_is_fed_may_be_anything() -> None:
    g = Graph(opset=17)
    assert found(g, g.op("Mul", g.input("x", [3]), 2.0)) is None


def test_no_number_has_no_range() -> None:
    g, flags, _ = graph()
    assert found(g, g.op("Where", flags, 0.0, np.nan)) is None


def test_an_infinity_that_is_multiplied_may_be_no_number() -> None:
    g, flags, _ = graph()
    mask = g.op("Where", flags, 0.0, -np.inf)
    mask.dtype = ir.DataType.FLOAT
    assert found(g, g.op("Mul", mask, 0.0)) is None


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["Add", "Sub", "Mul", "Max", "Min"]), st.integers(-9, 9)),
        max_size=4,
    )
)
def test_what_is_computed_lies_in_the_range(steps: list[tuple[str, int]]) -> None:
    g, flags, _ = graph()
    value = g.op("Cast", flags, to=int(ir.DataType.FLOAT))
    for op_type, number in steps:
        value = g.op(op_type, value, float(number))
    model = g.model(value)
    numbers = found_in(model, value)
    fed: dict[str, Any] = {"flags": np.array([True, False, True]), "count": np.zeros(3, np.int64)}
    (result,) = run(model, fed)
    assert numbers is not None
    assert numbers.lowest <= result.min()
    assert result.max() <= numbers.highest
