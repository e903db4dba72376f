"""SiLU and the quick GELU fuse in every spelling, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
FEEDS = {"x": samples(2, 4, 8)}


def build(body: Body, *, dtype: ir.DataType = ir.DataType.FLOAT) -> ir.Model:
    graph = Graph(dtype=dtype)
    return graph.model(body(graph, graph.input("x", ["batch", 4, 8])))


def logistic(g: Graph, z: ir.Value) -> ir.Value:
    return g.op("Div", 1.0, g.op("Add", 1.0, g.op("Exp", g.op("Neg", z))))


SPELLINGS: dict[str, tuple[Body, float]] = {
    "x first": (lambda g, x: g.op("Mul", x, g.op("Sigmoid", x)), 1.0),
    "sigmoid first": (lambda g, x: g.op("Mul", g.op("Sigmoid", x), x), 1.0),
    "constant right": (lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, 1.702))), 1.702),
    "constant left": (lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Mul", 1.702, x))), 1.702),
    "sigmoid and constant first": (
        lambda g, x: g.op("Mul", g.op("Sigmoid", g.op("Mul", 1.702, x)), x), 1.702,
    ),
    "divided": (lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Div", x, 0.5))), 2.0),
    "constant of rank 1": (
        lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, [1.702]))), 1.702,
    ),
    "exponential": (lambda g, x: g.op("Mul", x, logistic(g, x)), 1.0),
    "exponential of a product": (
        lambda g, x: g.op(
            "Div", x, g.op("Add", g.op("Exp", g.op("Neg", g.op("Mul", x, 1.5))), 1.0)
        ), 1.5,
    ),
    "x over one plus the exponential": (
        lambda g, x: g.op("Div", x, g.op("Add", 1.0, g.op("Exp", g.op("Mul", x, -1.0)))), 1.0,
    ),
    "negative factor in the exponent": (
        lambda g, x: g.op("Div", x, g.op("Add", 1.0, g.op("Exp", g.op("Mul", x, -1.702)))), 1.702,
    ),
    "reciprocal": (
        lambda g, x: g.op(
            "Mul", g.op("Reciprocal", g.op("Add", 1.0, g.op("Exp", g.op("Neg", x)))), x
        ), 1.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_fuses(spelling: str) -> None:
    body, alpha = SPELLINGS[spelling]
    result = checked(build(body), FEEDS)
    assert op_types(result.model) == ["QuickGelu"]
    node = result.model.graph.node(0)
    assert node.domain == "com.microsoft"
    assert node.attributes["alpha"].as_float() == pytest.approx(alpha)
    assert result.report.misses == ()


GATED: dict[str, Callable[[Graph, ir.Value, ir.Value, ir.Value], ir.Value]] = {
    "curve, then gate": lambda g, x, s, u: g.op("Mul", g.op("Mul", x, s), u),
    "gate, then curve": lambda g, x, s, u: g.op("Mul", u, g.op("Mul", s, x)),
    "x and gate first": lambda g, x, s, u: g.op("Mul", g.op("Mul", u, x), s),
    "sigmoid and gate first": lambda g, x, s, u: g.op("Mul", x, g.op("Mul", s, u)),
}


@pytest.mark.parametrize("order", GATED)
def test_a_gate_may_be_multiplied_in_any_order(order: str) -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        gate = g.op("Relu", x)
        return GATED[order](g, x, g.op("Sigmoid", x), gate)

    result = checked(build(body), FEEDS)
    assert sorted(op_types(result.model)) == ["Mul", "QuickGelu", "Relu"]


def test_a_sigmoid_that_others_read_stays_and_says_why() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    curve = graph.op("Sigmoid", x)
    result = checked(graph.model(graph.op("Mul", x, curve), graph.op("Exp", curve)), FEEDS)
    assert "QuickGelu" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [
        "Sigmoid 'sigmoid_0' must stay: the value 'v0_0' in between is also read by 'exp_2'"
    ]


def test_half_precision_has_no_kernel_on_a_cpu() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Mul", x, g.op("Sigmoid", x))

    model = build(body, dtype=ir.DataType.FLOAT16)
    result = checked(model, {"x": FEEDS["x"].astype(np.float16)}, tolerance=1e-2)
    assert op_types(result.model) == ["Sigmoid", "Mul"]
    assert [miss.reason for miss in result.report.misses] == [
        "com.microsoft::QuickGelu has no kernel for FLOAT16 in CPUExecutionProvider"
    ]


NEAR_MISSES: dict[str, tuple[Body, list[str]]] = {
    "a bias inside": (
        lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Add", x, 0.5))),
        [(
            "Sigmoid 'sigmoid_1' is applied to 0.5 + 1·x and leads to 'out0' = 1·sigmoid·x"
            " (x is 'x'), expected x·sigmoid(α·x) with α > 0"
        )],
    ),
    "a negative factor": (
        lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Neg", x))),
        [(
            "Sigmoid 'sigmoid_1' is applied to -1·x and leads to 'out0' = 1·sigmoid·x"
            " (x is 'x'), expected x·sigmoid(α·x) with α > 0"
        )],
    ),
    "added, not multiplied": (
        lambda g, x: g.op("Add", x, g.op("Sigmoid", x)),
        [(
            "Sigmoid 'sigmoid_0' is applied to 1·x and leads to 'out0' = 1·sigmoid + 1·x"
            " (x is 'x'), expected x·sigmoid(α·x) with α > 0"
        )],
    ),
    "a gate of something else": (
        lambda g, x: g.op("Mul", g.op("Relu", x), g.op("Sigmoid", x)), [],
    ),
    "not negated in the exponent": (
        lambda g, x: g.op("Div", x, g.op("Add", 1.0, g.op("Exp", x))),
        [(
            "the exponent of Exp 'exp_0' is 1·x, expected one that is negated, -z, so that"
            " 1 / (1 + exp(-z)) is the logistic function"
        )],
    ),
    "two plus the exponential": (
        lambda g, x: g.op("Div", x, g.op("Add", 2.0, g.op("Exp", g.op("Neg", x)))), [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    body, reasons = NEAR_MISSES[name]
    result = checked(build(body), FEEDS)
    assert "QuickGelu" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == reasons
