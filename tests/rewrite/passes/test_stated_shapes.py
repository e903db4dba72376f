"""Shapes that ONNX's inference does not find are stated, and only those."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.passes.stated_shapes import StateShapes
from rewriting import Graph

I32, I64 = ir.DataType.INT32, ir.DataType.INT64


def _reshaped_by_i32() -> tuple[ir.Model, ir.Value]:
    """Return a model that computes a shape as TensorFlow does, and the value that has it."""
    g = Graph(opset=13)
    ids, x = g.input("ids", ["batch", "length"], I64), g.input("x", ["rows", 8])
    shape = g.op("Cast", g.op("Shape", ids), to=I32)
    whole = [g.op("Slice", shape, np.array([i]), np.array([i + 1]), np.array([0])) for i in (0, 1)]
    packed = g.op("Concat", *whole, np.array([8], np.int32), axis=0)
    y = g.op("Reshape", x, g.op("Cast", packed, to=I64))
    return g.model(g.op("Relu", y)), y


def test_a_shape_computed_in_i32_is_stated() -> None:
    model, y = _reshaped_by_i32()
    InferShapes()(model)
    assert y.shape is None
    assert StateShapes(Facts(model))(model).modified
    assert str(y.shape) == "[batch,length,8]"


def test_nothing_is_stated_twice() -> None:
    model, _ = _reshaped_by_i32()
    InferShapes()(model)
    StateShapes(Facts(model))(model)
    assert not StateShapes(Facts(model))(model).modified


def test_what_is_not_known_stays_open() -> None:
    g = Graph()
    y = g.op("Relu", g.input("x", None))
    model = g.model(g.op("Exp", y))
    InferShapes()(model)
    assert not StateShapes(Facts(model))(model).modified
    assert y.shape is None
