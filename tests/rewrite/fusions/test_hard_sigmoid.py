"""A line that is cut off at 0 and above fuses in every spelling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
FEEDS = {"x": 4 * samples(2, 4, 8)}


def build(body: Body) -> ir.Model:
    graph = Graph()
    return graph.model(body(graph, graph.input("x", ["batch", 4, 8])))


def relu6(g: Graph, x: ir.Value, low: float = 0.0, high: float = 6.0) -> ir.Value:
    return g.op("Clip", x, np.float32(low), np.float32(high))


def raised(g: Graph, x: ir.Value) -> ir.Value:
    return relu6(g, g.op("Add", x, 3.0))


SPELLINGS: dict[str, tuple[Body, list[str]]] = {
    "divided": (lambda g, x: g.op("Div", raised(g, x), 6.0), ["HardSigmoid"]),
    "multiplied": (lambda g, x: g.op("Mul", 1 / 6, raised(g, x)), ["HardSigmoid"]),
    "cut at one": (
        lambda g, x: relu6(g, g.op("Add", g.op("Mul", x, 0.2), 0.5), high=1.0), ["HardSigmoid"],
    ),
    "gated": (
        lambda g, x: g.op("Mul", x, g.op("Div", raised(g, x), 6.0)), ["HardSigmoid", "Mul"],
    ),
    "gated first": (
        lambda g, x: g.op("Div", g.op("Mul", raised(g, x), x), 6.0), ["HardSigmoid", "Mul"],
    ),
    "x divided": (
        lambda g, x: g.op("Mul", g.op("Div", x, 6.0), raised(g, x)), ["HardSigmoid", "Mul"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_fuses(name: str) -> None:
    body, expected = SPELLINGS[name]
    result = checked(build(body), FEEDS)
    assert op_types(result.model) == expected


NEAR_MISSES: dict[str, Body] = {
    "cut below zero": lambda g, x: g.op("Div", relu6(g, g.op("Add", x, 3.0), low=-1.0), 6.0),
    "not divided": raised,
    "divided by five": lambda g, x: g.op("Div", raised(g, x), 5.0),
    "falling": lambda g, x: g.op("Div", relu6(g, g.op("Sub", 3.0, x)), 6.0),
    "x alone": lambda g, x: relu6(g, x),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay(name: str) -> None:
    result = checked(build(NEAR_MISSES[name]), FEEDS)
    assert "HardSigmoid" not in op_types(result.model)


def test_the_line_may_be_over_a_square() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Div", raised(g, g.op("Mul", x, x)), 6.0)

    result = checked(build(body), FEEDS)
    assert op_types(result.model) == ["Mul", "HardSigmoid"]


def test_a_clip_that_others_read_stays_and_says_why() -> None:
    graph = Graph()
    cut = raised(graph, graph.input("x", ["batch", 4, 8]))
    result = checked(graph.model(graph.op("Div", cut, 6.0), graph.op("Exp", cut)), FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        "Clip 'clip_1' must stay: the value 'v1_0' in between is also read by 'exp_3'"
    ]
