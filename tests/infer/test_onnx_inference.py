"""ONNX's own inference is asked for what records leave open, and never to its own end."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import parser

from burnish.infer.constants import Constants
from burnish.infer.onnx_inference import ask_onnx
from burnish.infer.shapes import INVENTED, ask_nobody, infer
from burnish.operators.record import OPERATORS
from burnish.operators.size import named
from rewriting import Graph

HEAD = '<ir_version: 8, opset_import: ["" : 18, "mine" : 1]>\n'


def read(text: str) -> ir.Model:
    return ir.serde.deserialize_model(parser.parse_model(HEAD + text))


def _with_sizes_from_everywhere() -> ir.Model:
    """Return a model whose shapes come from attributes, integers, scales and declared axes."""
    g = Graph(opset=18)
    x = g.input("x", ["batch", 8, 6])
    weight = g.constant(np.ones((6, 60)), name="weight")
    wide = g.op("MatMul", x, weight)
    split = g.ops("Split", wide, np.array([20, 40], np.int64), outputs=2, axis=2)
    turned = g.op("Transpose", split[1], perm=[0, 2, 1])
    image = g.op("Unsqueeze", turned, np.array([1], np.int64))
    scales = g.constant(np.array([1.0, 1.0, 2.0, 0.5]))
    resized = g.op("Resize", image, None, scales)
    count = g.op("Range", g.constant(np.float32(0)), g.constant(np.float32(5)), g.constant(1.0))
    return g.model(resized, split[0], count)


def test_as_much_is_found_as_by_onnx_in_the_whole_model() -> None:
    model = _with_sizes_from_everywhere()
    proto = ir.serde.serialize_model(model)
    whole = onnx.shape_inference.infer_shapes(proto, data_prop=True).graph
    expected = {
        info.name: [dim.dim_value or dim.dim_param for dim in info.type.tensor_type.shape.dim]
        for info in (*whole.value_info, *whole.output)
    }
    shapes = infer(Constants(model), ask_onnx)
    for node in model.graph:
        for value in node.outputs:
            found = shapes.of(value)
            assert found is not None
            theirs = expected[value.name or ""]
            assert len(theirs) == len(found)
            for mine, item in zip(found, theirs, strict=True):
                if isinstance(item, int):
                    assert mine == item
                elif not item.startswith(INVENTED):
                    assert mine == named(item)


def test_an_operator_without_a_record_is_told_of_by_onnx_with_our_sizes() -> None:
    assert "Det" not in OPERATORS
    model = read("g (float[n, 4, 4] x) => (float[a] y) { y = Det(x) }")
    shapes = infer(Constants(model), ask_onnx)
    assert shapes.of(model.graph[0].outputs[0]) == (named("n"),)


@pytest.mark.parametrize("ask", [ask_onnx, ask_nobody])
def test_dimensions_that_are_not_there_are_not_asked_about(ask: object) -> None:
    model = read("g (float[2, 3] x, int64[1, 2] i) => (float[k] y)"
                 "{ z = GatherND<batch_dims = -100>(x, i) y = mine.Odd(z) }")  # fmt: skip
    shapes = infer(Constants(model), ask)  # type: ignore[arg-type]
    assert shapes.of(model.graph[0].outputs[0]) is None


def test_what_no_weight_says_is_found_without_reading_them() -> None:
    class Unreadable(ir.Tensor):  # type: ignore[type-arg]
        def numpy(self) -> None:  # type: ignore[override]
            raise AssertionError("weights were read")

        tobytes = numpy  # type: ignore[assignment]

    graph = Graph()
    weight = graph.constant(np.zeros((640, 640), np.float32))
    weight.const_value = Unreadable(np.zeros((640, 640), np.float32), name=weight.name)
    y = graph.op("MatMul", graph.input("x", ["batch", 640]), weight)
    assert infer(Constants(graph.model(y)), ask_onnx).of(y) == (named("batch"), 640)


def test_branches_tell_the_shape_of_what_they_give() -> None:
    g = Graph()
    inner = Graph()
    doubled = inner.op("Relu", inner.constant(np.ones(3)))
    body = ir.Graph([], [doubled], nodes=inner.nodes, initializers=inner.initializers, name="b")
    y = g.op("If", g.input("c", [], ir.DataType.BOOL), then_branch=body, else_branch=body.clone())
    model = g.model(y)
    y.shape = None
    assert infer(Constants(model), ask_onnx).of(y) == (3,)
