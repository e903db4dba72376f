from __future__ import annotations

import onnx
import onnx_ir as ir

from burnish.store import summarize
from burnish.store.summary import UnknownOperator

TEXT = """
<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1, "own" : 1, "alien" : 1]>
g (float[n] x, bool c) => (float[n] y)
{
    a = Relu(x)
    b = com.microsoft.FastGelu(a)
    d = own.twice(b)
    e = alien.Strange(d)
    y = If(c) <
        then_branch = t () => (float[n] p) { p = NotAnOperator(e) },
        else_branch = f () => (float[n] q) { q = Relu(e) }
    >
}
<opset_import: ["" : 20], domain: "own">
twice (u) => (v) { v = Add(u, u) }
"""


def model() -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(TEXT))


def test_only_operators_that_nobody_defines_are_unknown() -> None:
    assert summarize.unknown_operators(model()) == (
        UnknownOperator("", "Strange", "alien"),
        UnknownOperator("", "NotAnOperator", ""),
    )


def test_an_operator_newer_than_the_opset_is_unknown() -> None:
    old = model()
    old.graph.opset_imports[""] = 5
    old.graph[0].op_type = "Gelu"
    assert UnknownOperator("", "Gelu", "") in summarize.unknown_operators(old)


def test_operators_are_counted_in_subgraphs_and_functions_too() -> None:
    assert summarize.counts(model()) == {
        "Relu": 2,
        "Add": 1,
        "If": 1,
        "NotAnOperator": 1,
        "alien.Strange": 1,
        "com.microsoft.FastGelu": 1,
        "own.twice": 1,
    }
