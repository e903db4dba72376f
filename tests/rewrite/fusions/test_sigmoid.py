"""The logistic function fuses where it is spelled with an exponential."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
FEEDS = {"x": 3 * samples(2, 4, 8)}


def build(body: Body) -> ir.Model:
    graph = Graph()
    return graph.model(body(graph, graph.input("x", ["batch", 4, 8])))


def shifted(g: Graph, exponent: ir.Value) -> ir.Value:
    return g.op("Add", g.op("Exp", exponent), 1.0)


SPELLINGS: dict[str, tuple[Body, list[str]]] = {
    "one over": (lambda g, x: g.op("Div", 1.0, shifted(g, g.op("Neg", x))), ["Sigmoid"]),
    "reciprocal": (lambda g, x: g.op("Reciprocal", shifted(g, g.op("Neg", x))), ["Sigmoid"]),
    "times minus one": (
        lambda g, x: g.op("Div", 1.0, shifted(g, g.op("Mul", -1.0, x))), ["Sigmoid"],
    ),
    "another slope": (
        lambda g, x: g.op("Div", 1.0, shifted(g, g.op("Mul", x, -2.5))), ["Mul", "Sigmoid"],
    ),
    "a numerator": (
        lambda g, x: g.op("Div", g.op("Relu", x), shifted(g, g.op("Neg", x))),
        ["Relu", "Sigmoid", "Mul"],
    ),
    "extreme values": (
        lambda g, x: g.op("Div", 1.0, shifted(g, g.op("Neg", g.op("Mul", x, 100.0)))),
        ["Mul", "Sigmoid"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_fuses(name: str) -> None:
    body, expected = SPELLINGS[name]
    result = checked(build(body), FEEDS)
    assert sorted(op_types(result.model)) == sorted(expected)


def test_an_exponential_that_others_read_stays_and_says_why() -> None:
    graph = Graph()
    growth = graph.op("Exp", graph.op("Neg", graph.input("x", ["batch", 4, 8])))
    curve = graph.op("Div", 1.0, graph.op("Add", growth, 1.0))
    result = checked(graph.model(curve, graph.op("Relu", growth)), FEEDS)
    assert "Sigmoid" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [
        "Exp 'exp_1' must stay: the value 'v1_0' in between is also read by 'relu_4'"
    ]


def test_a_softmax_by_hand_is_no_sigmoid() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    growth = graph.op("Exp", graph.op("Neg", x))
    total = graph.op("ReduceMean", growth, axes=[-1])
    result = checked(graph.model(graph.op("Div", growth, total)), FEEDS)
    assert "Sigmoid" not in op_types(result.model)
    assert result.report.misses == ()
