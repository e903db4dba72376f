"""Shapes are inferred without weights, and folded where they are known."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.fold import FoldConstants
from burnish.rewrite.passes.shapes import InferShapes
from rewriting import Graph, checked, op_types, samples


def test_inference_sees_no_weights() -> None:
    class Unreadable(ir.Tensor):  # type: ignore[type-arg]
        def numpy(self) -> None:  # type: ignore[override]
            raise AssertionError("weights were read")

        tobytes = numpy  # type: ignore[assignment]

    graph = Graph()
    x = graph.input("x", ["batch", 64])
    weight = graph.constant(np.zeros((64, 32), np.float32))
    weight.const_value = Unreadable(np.zeros((64, 32), np.float32), name=weight.name)
    inner = graph.op("MatMul", x, weight)
    model = graph.model(graph.op("Relu", inner))
    assert InferShapes()(model).modified
    assert str(inner.shape) == "[batch,32]"
    assert list(model.graph.initializers) == [weight.name]
    assert [value.name for value in model.graph.inputs] == ["x"]


def test_a_second_inference_changes_nothing() -> None:
    graph = Graph()
    model = graph.model(graph.op("Exp", graph.op("Relu", graph.input("x", ["batch", 4]))))
    assert InferShapes()(model).modified
    assert not InferShapes()(model).modified


def test_stated_output_shapes_are_kept() -> None:
    graph = Graph()
    y = graph.op("Relu", graph.input("x", ["batch", 4]))
    model = graph.model(y)
    y.shape = ir.Shape(["rows", "columns"])
    InferShapes()(model)
    assert str(y.shape) == "[rows,columns]"


def test_shapes_inside_a_branch_are_inferred() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4])
    flag = graph.input("flag", [], ir.DataType.BOOL)
    branches = {}
    for name in ("then_branch", "else_branch"):
        first = ir.node("Exp", [x], name=f"{name}_exp")
        second = ir.node("Relu", first.outputs, name=f"{name}_relu")
        first.outputs[0].name, second.outputs[0].name = f"{name}_a", f"{name}_b"
        branches[name] = ir.Graph([], second.outputs, nodes=[first, second], name=name)
    model = graph.model(graph.op("If", flag, **branches))
    InferShapes()(model)
    assert str(branches["then_branch"].node(0).outputs[0].shape) == "[batch,4]"


def test_a_shape_computed_in_i32_is_found() -> None:
    g = Graph(opset=13)
    ids, x = g.input("ids", ["batch", "length"], ir.DataType.INT64), g.input("x", ["rows", 8])
    shape = g.op("Cast", g.op("Shape", ids), to=ir.DataType.INT32)
    whole = [g.op("Slice", shape, np.array([i]), np.array([i + 1]), np.array([0])) for i in (0, 1)]
    packed = g.op("Concat", *whole, np.array([8], np.int32), axis=0)
    y = g.op("Reshape", x, g.op("Cast", packed, to=ir.DataType.INT64))
    InferShapes()(g.model(g.op("Relu", y)))
    assert str(y.shape) == "[batch,length,8]"


def test_what_is_not_known_stays_open() -> None:
    g = Graph()
    y = g.op("Relu", g.input("x", None))
    InferShapes()(g.model(g.op("Exp", y)))
    assert y.shape is None


def test_a_zero_that_keeps_a_size_nobody_knows_is_not_a_size() -> None:
    g = Graph()
    y = g.op("Reshape", g.input("x", None), np.array([0, 0, 8]))
    InferShapes()(g.model(g.op("Relu", y)))
    assert [isinstance(size, int) for size in y.shape or ()] == [False, False, True]


def test_known_sizes_are_folded() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    shape = graph.op("Shape", x)
    last = graph.op("Gather", shape, np.array([2]), axis=0)
    rows = graph.op("Mul", graph.op("Gather", shape, np.array([1]), axis=0), last)
    wanted = graph.op("Concat", np.array([-1]), rows, axis=0)
    result = checked(graph.model(graph.op("Reshape", x, wanted)), {"x": samples(3, 4, 8)})
    assert op_types(result.model) == ["Reshape"]


def test_open_sizes_stay() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    batch = graph.op("Gather", graph.op("Shape", x), np.int64(0), axis=0)
    wanted = graph.op("Concat", graph.op("Unsqueeze", batch, np.array([0])), np.array([-1]), axis=0)
    result = checked(graph.model(graph.op("Reshape", x, wanted)), {"x": samples(3, 4, 8)})
    assert op_types(result.model) == ["Shape", "Gather", "Unsqueeze", "Concat", "Reshape"]


def test_a_window_of_a_shape_is_folded() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    window = graph.op("Slice", graph.op("Shape", x), np.array([-2]), np.array([2**63 - 1]))
    wanted = graph.op("Concat", window, np.array([-1]), axis=0)
    result = checked(graph.model(graph.op("Reshape", x, wanted)), {"x": samples(3, 4, 8)})
    assert op_types(result.model) == ["Reshape"]


def test_products_and_maxima_of_known_sizes_are_folded() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    sizes = graph.op("Gather", graph.op("Shape", x), np.array([1, 2]))
    largest = graph.op("Max", sizes, np.array([5, 5]))
    product = graph.op("ReduceProd", largest, keepdims=1)
    y = graph.op("Expand", x, graph.op("Div", product, np.array([5])))
    result = checked(graph.model(graph.op("Relu", y)), {"x": samples(2, 4, 8)})
    assert op_types(result.model) == ["Relu"]


def test_sizes_that_contradict_themselves_are_left_alone() -> None:
    g = Graph()
    size = g.op("Shape", g.input("x", ["n", 4]))
    odd = g.op("Slice", size, np.array([0]), np.array([2]), np.array([0]), np.array([], np.int64))
    model = g.model(odd)
    assert not FoldConstants(Facts(model))(model).modified


def test_text_has_no_shape_to_read() -> None:
    g = Graph()
    word = ir.StringTensor([b"a"], shape=ir.Shape([1]), name="word")
    text = ir.Value(name="word", const_value=word, type=ir.TensorType(ir.DataType.STRING),
                    shape=ir.Shape([1]))  # fmt: skip
    x = g.input("x", ["n"], ir.DataType.STRING)
    same = g.op("Equal", x, text)
    model = g.model(same)
    model.graph.register_initializer(text)
    InferShapes()(model)
    assert op_types(model) == ["Equal"]
