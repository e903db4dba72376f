from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx_ir as ir
import onnxruntime

from burnish.rewrite.precision.half import in_half
from burnish.rewrite.precision.widen import in_f32, rounding
from rewriting import Graph

BF16 = ir.DataType.BFLOAT16


def _model() -> ir.Model:
    x = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([2]))
    weight = ir.Value(
        name="w", const_value=ir.Tensor(np.array([1.5, -2.0], ml_dtypes.bfloat16), name="w")
    )
    cast = ir.node("Cast", [x], {"to": int(BF16)})
    constant = ir.node("Constant", [], {"value": ir.Tensor(np.array([3.0], ml_dtypes.bfloat16))})
    added = ir.node("Add", [cast.outputs[0], weight])
    product = ir.node("Mul", [added.outputs[0], constant.outputs[0]])
    for node in (cast, constant, added, product):
        node.outputs[0].dtype = BF16
    product.outputs[0].name = "y"
    graph = ir.Graph(
        [x], product.outputs, nodes=[cast, constant, added, product], initializers=[weight],
        opset_imports={"": 20},
    )  # fmt: skip
    return ir.Model(graph, ir_version=10)


def test_no_bf16_is_left_and_numbers_are_the_same() -> None:
    model = _model()
    wide = in_f32(model)
    types = {value.dtype for node in wide.graph for value in node.outputs}
    assert types == {ir.DataType.FLOAT}
    assert wide.graph.initializers["w"].const_value.numpy().tolist() == [1.5, -2.0]
    assert wide.graph.initializers["w"].const_value.dtype == ir.DataType.FLOAT
    cast, constant = list(wide.graph)[:2]
    assert cast.attributes["to"].as_int() == int(ir.DataType.FLOAT)
    assert constant.attributes["value"].as_tensor().dtype == ir.DataType.FLOAT


def test_the_model_itself_stays_as_it_is() -> None:
    model = _model()
    in_f32(model)
    assert model.graph.outputs[0].dtype == BF16
    assert next(iter(model.graph)).attributes["to"].as_int() == int(BF16)


def test_each_value_is_rounded_as_sixteen_bits_would_and_keeps_its_name() -> None:
    g = Graph()
    x = g.input("x", [4])
    product = g.op("Mul", g.op("Mul", x, g.constant([300.0])), g.constant([300.0]))
    scaled = g.op("Mul", product, g.constant([0.001]))
    scaled.shape = ir.Shape([4])
    half = in_half(g.model(scaled)).model
    twin = rounding(half)
    graph = twin.graph
    assert [value.name for value in graph.outputs] == [value.name for value in half.graph.outputs]
    assert {value.dtype for value in (*graph.inputs, *graph.outputs)} == {ir.DataType.FLOAT}
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = ir.to_proto(twin).SerializeToString()
    session = onnxruntime.InferenceSession(content, options)
    fed = np.array([0.1, 0.5, 0.7, 1.0], np.float32)
    (found,) = session.run(None, {"x": fed})
    with np.errstate(over="ignore"):
        step = np.float16(0.001)
        expected = (fed.astype(np.float16) * np.float16(300)) * np.float16(300) * step
    np.testing.assert_array_equal(np.isinf(found), [False, False, False, True])
    np.testing.assert_allclose(found[:3], expected.astype(np.float32)[:3], rtol=1e-3)
