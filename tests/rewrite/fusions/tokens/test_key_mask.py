"""A mask of keys is seen through what is repeated and what always holds, and nothing else."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.infer.shapes import shapes_of
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.tokens.key_mask import KeyMask, key_mask
from rewriting import Graph

BOOL, WHOLE = ir.DataType.BOOL, ir.DataType.INT64


def found(g: Graph, condition: ir.Value, *, fill: float = -1e38) -> KeyMask | None:
    bias = g.op("Where", condition, 0.0, fill)
    bias.dtype = ir.DataType.FLOAT
    facts = Facts(g.model(bias))
    wanted = shapes_of(facts).of(g.inputs[0])
    return key_mask(bias, wanted or (), facts)


def graph() -> tuple[Graph, ir.Value]:
    g = Graph()
    return g, g.input("mask", ["batch", 1, 1, "length"], BOOL)


def rising(g: Graph, start: int = 0, step: int = 1) -> ir.Value:
    count = g.input("count", [], WHOLE)
    numbers = g.op("Range", np.array(start), count, np.array(step))
    numbers.dtype = WHOLE
    rows = g.op("Unsqueeze", numbers, np.array([0, 1, 3]))
    rows.dtype = WHOLE
    return rows


def test_a_plain_mask_is_one() -> None:
    g, mask = graph()
    assert found(g, mask) == KeyMask(mask, keeps=True)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["GreaterOrEqual", "LessOrEqual"])
def test_what_always_holds_is_left_out(kind: str, swapped: bool) -> None:
    g, mask = graph()
    pair = (rising(g), np.array(0))
    true = g.op(kind, *(pair if kind == "GreaterOrEqual" else pair[::-1]))
    parts = (g.op("And", np.array(True), true), mask)
    assert found(g, g.op("And", *(parts[::-1] if swapped else parts))) == KeyMask(mask, keeps=True)


@pytest.mark.parametrize(("start", "step"), [(-1, 1), (0, -1)])
def test_what_may_not_hold_is_seen(start: int, step: int) -> None:
    g, mask = graph()
    rows = g.op("GreaterOrEqual", rising(g, start, step), np.array(0))
    assert found(g, g.op("And", rows, mask)) is None


@pytest.mark.parametrize("fill", [-np.inf, -1e4, 0.0, 5.0])
def test_only_finite_numbers_that_swallow_every_score_mask(fill: float) -> None:
    g, mask = graph()
    assert found(g, mask, fill=fill) is None
