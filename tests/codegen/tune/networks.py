"""Small ONNX models that the tests of tuning share, static and with nodes by name."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, helper, numpy_helper

from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import lower
from burnish.tile.simplify import simplify


def layers(count: int = 2, rows: int = 32, width: int = 16) -> ir.Model:
    """Return fully connected layers, each a MatMul, an Add and a Relu."""
    rng = np.random.default_rng(0)
    nodes, weights = [], []
    value = "x"
    for k in range(count):
        weights += [
            numpy_helper.from_array(rng.standard_normal((width, width)).astype("f4"), f"w{k}"),
            numpy_helper.from_array(rng.standard_normal(width).astype("f4"), f"b{k}"),
        ]
        out = "y" if k == count - 1 else f"relu{k}"
        nodes += [
            helper.make_node("MatMul", [value, f"w{k}"], [f"product{k}"], f"matmul{k}"),
            helper.make_node("Add", [f"product{k}", f"b{k}"], [f"sum{k}"], f"add{k}"),
            helper.make_node("Relu", [f"sum{k}"], [out], f"activation{k}"),
        ]
        value = out
    return _model(nodes, weights, [rows, width])


def softmax(rows: int = 32, width: int = 16) -> ir.Model:
    """Return a model without products."""
    return _model([helper.make_node("Softmax", ["x"], ["y"], "softmax")], [], [rows, width])


def graph_of(model: ir.Model) -> TileGraph:
    """Return the simplified tile-graph of a model."""
    return simplify(lower(list(model.graph)).graph)


def _model(
    nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], shape: list[int]
) -> ir.Model:
    graph = helper.make_graph(
        nodes, "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        weights,
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return static(ir.from_proto(proto), {})
