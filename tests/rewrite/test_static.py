from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, parser

from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.static import LARGEST_FOLDED_BYTES, static
from burnish.tile.lower import constant, cover, lower, tensor_type
from burnish.tile.reference import evaluate

HEAD = '<ir_version: {ir}, opset_import: ["": {opset}, "com.microsoft": 1, "mine": 1]>'


def read(text: str, opset: int = 21, ir_version: int = 10) -> ir.Model:
    head = HEAD.format(opset=opset, ir=ir_version)
    return ir.serde.deserialize_model(parser.parse_model(head + text))


def shapes(model: ir.Model) -> Mapping[str, tuple[int, ...] | None]:
    values = [value for node in model.graph for value in node.outputs]
    return {
        value.name or "": kind.shape if (kind := tensor_type(value)) else None for value in values
    }


SPLIT = """split (float[batch, length, 12] x) => (float[b, h, l, d] y) {
    zero = Constant <value_ints: ints = [0]> ()
    one = Constant <value_ints: ints = [1]> ()
    heads = Constant <value_ints: ints = [4, -1]> ()
    s = Shape(x)
    b = Gather(s, zero)
    l = Gather(s, one)
    shape = Concat <axis: int = 0> (b, l, heads)
    r = Reshape(x, shape)
    y = Transpose <perm: ints = [0, 2, 1, 3]> (r)
}"""


def test_what_is_computed_from_shapes_becomes_constant() -> None:
    found = static(read(SPLIT), {"batch": 2, "length": 5})
    assert [node.op_type for node in found.graph] == ["Reshape", "Transpose"]
    assert shapes(found) == {"r": (2, 5, 4, 3), "y": (2, 4, 5, 3)}
    assert not cover(found.graph).left


def test_the_model_itself_is_left_untouched() -> None:
    model = read(SPLIT)
    static(model, {"batch": 2, "length": 5})
    assert len(list(model.graph)) == 9
    assert model.graph.inputs[0].shape == ir.Shape(["batch", "length", 12])


def test_a_size_may_be_arithmetic_on_others() -> None:
    model = read("sum (float[past + new, 2] x) => (float[n, 2] y) { y = Relu(x) }"
                 .replace("past + new", "total"))  # fmt: skip
    model.graph.inputs[0].shape = ir.Shape(["past + new", 2])
    assert shapes(static(model, {"past": 3, "new": 4}))["y"] == (7, 2)


def test_a_dimension_without_a_size_is_named_with_the_option() -> None:
    with pytest.raises(UsageError) as raised:
        static(read(SPLIT), {"batch": 2})
    assert raised.value.problem == (
        "input 'x': dimension 1 ('length') has no size, and code is generated for known sizes only"
    )
    assert raised.value.hint == "bind it: --shape length=SIZE"


def test_a_size_for_no_dimension_is_an_error() -> None:
    with pytest.raises(UsageError, match="--shape lenght: no input has such a dimension") as raised:
        static(read(SPLIT), {"batch": 2, "lenght": 5})
    assert "length" in raised.value.hint


def test_an_input_of_unknown_rank_is_an_error() -> None:
    model = read("free (float[2] x) => (float[2] y) { y = Relu(x) }")
    model.graph.inputs[0].shape = None
    with pytest.raises(ModelError, match="'x': the model does not say how many dimensions it has"):
        static(model, {})


def test_functions_are_inlined() -> None:
    model = read("""calling (float[2] x) => (float[2] y) { y = mine.twice(x) }
        <domain: "mine", opset_import: ["": 21]>
        twice (a) => (b) { b = Add(a, a) }""")
    found = static(model, {})
    assert [node.op_type for node in found.graph] == ["Add"]
    assert shapes(found) == {"y": (2,)}


def test_operators_outside_onnx_get_their_shapes_from_their_meaning() -> None:
    model = read("""norms (float[2, 3, 8] x, float[2, 3, 8] s, float[8] g) => (float[a, b, c] y) {
        n, m, i, t = com.microsoft.SkipLayerNormalization(x, s, g)
        y = Add(n, t)
    }""")
    found = static(model, {})
    assert shapes(found)["y"] == (2, 3, 8)
    assert shapes(found)["t"] == (2, 3, 8)
    assert not cover(found.graph).left


def test_a_stated_shape_is_bound_where_nothing_else_tells() -> None:
    model = read("""stated (float[n, 2] x) => (float[n, 2] y) {
        m = mine.Unknown(x)
        y = Relu(m)
    }""")
    value = model.graph[0].outputs[0]
    value.type, value.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(["n", 2])
    assert shapes(static(model, {"n": 3}))["m"] == (3, 2)
    value.shape = ir.Shape(["other", 2])
    assert shapes(static(model, {"n": 3}))["m"] is None


def test_a_shape_that_depends_on_values_stays_open() -> None:
    found = static(read("odd (float[3] x) => (int64[1, n] y) { y = NonZero(x) }"), {})
    assert shapes(found) == {"y": None}


def test_what_the_model_gives_out_stays_a_node_and_is_known_to_its_readers() -> None:
    model = read("""out (float[2, 6] x, float[3, 4] z) => (int64[2] s, float[3, 4] y) {
        s = Shape(z)
        y = Reshape(x, s)
    }""")
    found = static(model, {})
    assert [node.op_type for node in found.graph] == ["Shape", "Reshape"]
    result = evaluate(lower(list(found.graph)).graph, {"x": np.ones((2, 6), np.float32)})
    np.testing.assert_array_equal(result["s"], [3, 4])
    assert result["y"].shape == (3, 4)


def test_the_number_of_elements_is_known() -> None:
    found = static(read("""sized (float[2, 3] x) => (int64 y) {
        n = Size(x)
        one = Constant <value_int: int = 1> ()
        y = Add(n, one)
    }"""), {})  # fmt: skip
    value = found.graph.outputs[0]
    held = constant(value)
    assert held is not None
    assert held.item() == 7


def test_large_and_random_results_are_not_folded() -> None:
    side = LARGEST_FOLDED_BYTES // 8
    found = static(read(f"""large (float[1] x) => (float[{side}, 3] y, float[2] z) {{
        shape = Constant <value_ints: ints = [{side}, 3]> ()
        zeros = ConstantOfShape(shape)
        y = Add(zeros, x)
        r = RandomNormal <shape: ints = [2]> ()
        z = Mul(r, x)
    }}"""), {})  # fmt: skip
    assert {"ConstantOfShape", "RandomNormal"} <= {node.op_type for node in found.graph}
    assert shapes(found)["zeros"] == (side, 3)


BRANCHES = """branching (float[n, 3] x) => (float[a, b] y) {
    s = Shape <start: int = 0, end: int = 1> (x)
    one = Constant <value_ints: ints = [1]> ()
    asked = Equal(s, one)
    r = If (asked) <
        then_branch = one () => (float[1, 3] t) { t = Neg(x) },
        else_branch = more () => (float[m, 3] e) { u = Relu(x) e = Exp(u) }
    >
    y = Tanh(r)
}"""


@pytest.mark.parametrize(("size", "kinds"), [(1, ["Neg"]), (4, ["Relu", "Exp"])])
def test_a_branch_that_sizes_decide_is_taken(size: int, kinds: list[str]) -> None:
    found = static(read(BRANCHES), {"n": size})
    assert [node.op_type for node in found.graph] == [*kinds, "Tanh"]
    assert shapes(found)["y"] == (size, 3)
    assert not cover(found.graph).left


def test_a_branch_may_give_an_output_of_the_model() -> None:
    text = BRANCHES.replace("    y = Tanh(r)\n", "").replace("    r = If", "    y = If")
    found = static(read(text), {"n": 2})
    x = np.array([[-1, 0, 1]] * 2, np.float32)
    result = evaluate(lower(list(found.graph)).graph, {"x": x})
    np.testing.assert_allclose(result["y"], np.exp(np.maximum(x, 0)))


def test_before_ir_version_4_an_initializer_that_is_an_input_is_a_constant() -> None:
    text = """old (float[2, 3] x, int64[2] shape) => (float[3, 2] y)
        <int64[2] shape = {3, 2}> { y = Reshape(x, shape) }"""
    assert not cover(static(read(text, opset=9, ir_version=3), {}).graph).left
    left = cover(static(read(text, opset=9, ir_version=10), {}).graph).left
    assert len(left) == 1


def test_text_and_sizes_beyond_numbers_are_left_open() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]>
        g (string[2] x) => (bool[2] y) <string[1] w = {"a"}> { y = Equal(x, w) }"""
    found = static(ir.serde.deserialize_model(parser.parse_model(text)), {})
    assert [node.op_type for node in found.graph] == ["Equal"]


def test_a_stated_size_that_has_none_is_not_known() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19, "my" : 1]>
        g (float[n] x) => (float[k] y) { a = my.Odd(x) y = Relu(a) }"""
    proto = parser.parse_model(text)
    info = helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n/0"])
    proto.graph.value_info.append(info)
    found = static(ir.serde.deserialize_model(proto), {"n": 2})
    assert len(found.graph) == 2


def test_a_range_without_end_is_not_made() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]>
        g (float[4] x) => (int64[k] y)
        <int64 a = {0}, int64 b = {4611686018427387904}, int64 c = {1}> { y = Range(a, b, c) }"""
    found = static(ir.serde.deserialize_model(parser.parse_model(text)), {})
    assert [node.op_type for node in found.graph] == ["Range"]
    assert found.graph.outputs[0].const_value is None


def test_an_output_that_is_a_constant_is_computed_by_a_node() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]>
        g (float[4] x) => (float[2] w) <float[2] w = {1, 2}> { y = Relu(x) }"""
    found = static(ir.serde.deserialize_model(parser.parse_model(text)), {})
    (output,) = found.graph.outputs
    assert output.name == "w"
    assert output.producer() is not None
