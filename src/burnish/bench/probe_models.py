"""Small models whose only purpose is to be timed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper

from burnish.core.arrays import Array
from burnish.engines.base import GraphLevel

SIZE = 768
"""Of the matrices: large enough for the peak rate, small enough for a fraction of a second."""
CHAIN = 200
PRODUCTS = ("f32", "f64", "i8")
_OPSET, _IR_VERSION = 17, 8


@dataclass(frozen=True, slots=True)
class ProbeModel:
    """A model, what it is fed, and how much it computes."""

    content: bytes
    feeds: dict[str, Array]
    flops: float
    graph_level: GraphLevel


def product(dtype: str, shape: tuple[int, int, int] = (SIZE, SIZE, SIZE)) -> ProbeModel:
    """Return one product of rows × depth with depth × columns, the second of which is constant.

    For i8 the first is quantised as it comes, as in a model whose weights are int8.
    """
    rows, depth, columns = shape
    dice = np.random.default_rng(0)
    kind = np.float64 if dtype == "f64" else np.float32
    fed = dice.uniform(-1, 1, (rows, depth)).astype(kind)
    nodes, weights = _product_nodes(dtype, dice, kind, (depth, columns))
    code = onnx.TensorProto.DOUBLE if dtype == "f64" else onnx.TensorProto.FLOAT
    # fusing the steps of the 8-bit product is what a real model gets too
    level: GraphLevel = "extended" if dtype == "i8" else "off"
    content = _model(nodes, weights, code, ([rows, depth], [rows, columns]))
    return ProbeModel(content, {"x": fed}, 2.0 * rows * depth * columns, level)


def chain(length: int = CHAIN) -> ProbeModel:
    """Return operators that have one element to work on."""
    nodes, value = [], "x"
    for index in range(length):
        after = "y" if index == length - 1 else f"v{index}"
        nodes.append(onnx.helper.make_node("Neg", [value], [after]))
        value = after
    content = _model(nodes, [], onnx.TensorProto.FLOAT, ([1], [1]))
    return ProbeModel(content, {"x": np.ones(1, np.float32)}, float(length), "off")


def _product_nodes(
    dtype: str, dice: np.random.Generator, kind: type[np.floating], size: tuple[int, int]
) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    make = onnx.helper.make_node
    if dtype != "i8":
        weight = dice.uniform(-1, 1, size).astype(kind)
        return [make("MatMul", ["x", "w"], ["y"])], [onnx.numpy_helper.from_array(weight, "w")]
    weight = dice.integers(-127, 128, size).astype(np.int8)
    weights = [
        onnx.numpy_helper.from_array(weight, "w"),
        onnx.numpy_helper.from_array(np.array(0.01, np.float32), "w_scale"),
        onnx.numpy_helper.from_array(np.array(0, np.int8), "w_zero"),
    ]
    nodes = [
        make("DynamicQuantizeLinear", ["x"], ["q", "q_scale", "q_zero"]),
        make("MatMulInteger", ["q", "w", "q_zero", "w_zero"], ["sums"]),
        make("Cast", ["sums"], ["floats"], to=onnx.TensorProto.FLOAT),
        make("Mul", ["q_scale", "w_scale"], ["scale"]),
        make("Mul", ["floats", "scale"], ["y"]),
    ]
    return nodes, weights


def _model(
    nodes: list[onnx.NodeProto],
    weights: list[onnx.TensorProto],
    code: int,
    shapes: tuple[list[int], list[int]],
) -> bytes:
    ends = [
        onnx.helper.make_tensor_value_info(name, code, shape)
        for name, shape in zip(("x", "y"), shapes, strict=True)
    ]
    graph = onnx.helper.make_graph(nodes, "probe", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", _OPSET)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
    content: bytes = model.SerializeToString()
    return content
