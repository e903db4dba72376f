"""Shape computations are told from work on data."""

from __future__ import annotations

import onnx_ir as ir

from burnish.engines.shape_nodes import shape_nodes

GRAPH = """
<ir_version: 10, opset_import: ["": 21]>
g (float[n, 4] x, int64[2] given) => (float[m] y, float[n, 4] z, int64[2] w, float[a, b] big)
<int64[1] zero = {0}, int64[1] four = {4}, float[1] fill = {1}>
{
    [size] s = Shape(x)
    [first] n = Gather(s, zero)
    [product] m = Mul(n, four)
    [constant] two = Constant<value = int64[1] {2}>()
    [joined] target = Concat<axis = 0>(m, two)
    [reshaped] y = Reshape(x, m)
    [grown] big = Expand(fill, target)
    [data] z = Relu(x)
    [fed] w = Add(given, zero)
}
"""


def test_only_what_depends_on_shapes_alone_counts() -> None:
    names = [node.name for node in shape_nodes(ir.from_onnx_text(GRAPH))]
    assert names == ["size", "first", "product", "constant", "joined"]


def test_a_large_constant_is_data() -> None:
    model = ir.from_onnx_text(GRAPH)
    weight = ir.tensor([0] * 5000, name="weight", dtype=ir.DataType.INT64)
    value = ir.Value(name="weight", const_value=weight)
    model.graph.register_initializer(value)
    next(node for node in model.graph if node.name == "product").replace_input_with(1, value)
    assert "product" not in [node.name for node in shape_nodes(model)]


def test_what_is_read_only_as_sizes_computes_shapes_though_it_grows() -> None:
    model = ir.from_onnx_text(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[a, b] x, int64[2] wanted) => (float[c, d] y) {
            ones = ConstantOfShape (wanted)
            longs = Cast <to = 7> (ones)
            sizes = Max (wanted, longs)
            y = Expand (x, sizes)
        }"""
    )
    assert [node.op_type for node in shape_nodes(model)] == ["ConstantOfShape", "Cast", "Max"]


def test_data_that_is_also_read_as_sizes_is_data() -> None:
    model = ir.from_onnx_text(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[a, b] x, int64[2] wanted) => (float[c, d] y, int64[2] z) {
            sizes = Neg (wanted)
            y = Expand (x, sizes)
            z = Abs (sizes)
        }"""
    )
    assert shape_nodes(model) == ()
