from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.core.errors import ModelError
from burnish.infer.graph_of import graph_of
from burnish.rewrite.drop import without_nodes

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[batch, 4] x) => (float[batch, 3] y)
<float[4, 3] w = {1,1,1,1,1,1,1,1,1,1,1,1}>
{
    [relu] a = Relu(x)
    [mm] b = MatMul(a, w)
    [neg] c = Neg(b)
    [add] y = Add(c, b)
}
"""


def dropped(*names: str, batch: int = 2) -> ir.Model:
    model = ir.from_onnx_text(TEXT)
    return without_nodes(model, names, graph_of(model, {"batch": batch}))


def test_an_operand_of_the_same_shape_takes_the_place_of_what_is_gone() -> None:
    left = dropped("neg")
    assert [node.op_type for node in left.graph] == ["Relu", "MatMul", "Add"]
    add = left.graph[2]
    assert [value.name for value in add.inputs if value is not None] == ["b", "b"]


def test_else_a_constant_does_and_what_fed_it_is_still_computed() -> None:
    left = dropped("mm")
    assert [node.op_type for node in left.graph] == ["Relu", "Neg", "Add"]
    assert left.graph.initializers["b_instead"].shape == ir.Shape([2, 3])
    assert [value.name for value in left.graph.outputs] == ["y", "a"]


def test_an_output_keeps_its_name() -> None:
    left = dropped("add")
    assert [value.name for value in left.graph.outputs] == ["y"]
    assert [node.op_type for node in left.graph] == ["Relu", "MatMul", "Neg", "Identity"]


def test_the_argument_is_left_as_it_was() -> None:
    model = ir.from_onnx_text(TEXT)
    without_nodes(model, ["mm"], graph_of(model, {"batch": 2}))
    assert len(model.graph) == 4


def test_a_shape_that_is_not_known_cannot_be_stood_in_for() -> None:
    model = ir.from_onnx_text(TEXT)
    with pytest.raises(ModelError) as caught:
        without_nodes(model, ["mm"], graph_of(model, {}))
    assert caught.value.problem == "node 'mm' cannot be dropped: the shape of 'b' is not known"
