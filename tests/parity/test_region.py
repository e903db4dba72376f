from __future__ import annotations

import onnx
import onnx_ir as ir

from burnish.parity.region import Producers, live_values, name_of

TEXT = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[4] x, bool c) => (float[4] y)
    <float[4] w = {1, 2, 3, 4}>
    { a = Mul(x, w)  b = Tanh(a)  d = Neg(a)  unused = Exp(a)
      e = If (c) <then_branch = t () => (float[4] u) { u = Add(b, w) },
                  else_branch = f () => (float[4] v) { v = Identity(d) }>
      y = Relu(e) }"""


def graph() -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(TEXT))


def test_live_values_leave_out_what_no_output_depends_on() -> None:
    assert live_values(graph()) == ("a", "b", "d", "e", "y")


def test_a_region_reaches_back_to_the_nearest_marked_values() -> None:
    region = Producers(graph()).before("y", {"b", "a"}.__contains__)
    assert set(region.cut) == {"a", "b"}
    assert [node.op_type for node in region.nodes] == ["Neg", "If", "Relu"]
    assert [value.name for value in region.initializers] == ["w"]


def test_without_marks_a_region_reaches_back_to_the_inputs() -> None:
    region = Producers(graph()).before("b", lambda _: False)
    assert region.cut == ()
    assert [node.op_type for node in region.nodes] == ["Mul", "Tanh"]


def test_a_node_without_a_name_is_called_by_what_it_gives() -> None:
    node = Producers(graph()).node("b")
    assert name_of(node) == "the Tanh that gives b"
    node.name = "act"
    assert name_of(node) == "act"
