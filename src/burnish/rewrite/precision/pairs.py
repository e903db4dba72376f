"""Products between pairs of QuantizeLinear and DequantizeLinear, as products of the bytes inside.

    MatMul(DequantizeLinear(a, s, p), DequantizeLinear(W, t, q))
    -->  MatMulIntegerToFloat(a, W, s, t, p, q)

The pairs say that a product may be one of integers; which engine makes it one is its own affair.
For kernels of ours it is done here, and for convolutions in `pairs_convolution`. Sums of integers
are exact, so what comes out is what the sums of the dequantised numbers would be, rounded less.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import edit
from burnish.rewrite.precision.int8_dynamic import CONTRIB, become
from burnish.rewrite.precision.pairs_convolution import convolution_of_bytes

_BYTES = (ir.DataType.UINT8, ir.DataType.INT8)


def products_of_bytes(model: ir.Model) -> int:
    """Make products between pairs products of bytes, in place; return how many."""
    found = 0
    for graph in tuple(walk.graphs(model)):
        for node in tuple(graph):
            if is_standard(node, "MatMul") or _is_plain_gemm(node):
                found += _joined(node, model)
            elif is_standard(node, "Conv"):
                sides = _dequantised(node.inputs[0]), _dequantised(node.inputs[1])
                found += convolution_of_bytes(node, sides, model)
    if found:
        model.opset_imports.setdefault(CONTRIB, 1)
    return found


def _is_plain_gemm(node: ir.Node) -> bool:
    """Return whether a node is a product and at most a bias for each column."""
    if not is_standard(node, "Gemm"):
        return False
    if node.attributes.get_int("transA", 0):
        return False
    factors = {node.attributes.get_float(name, 1.0) for name in ("alpha", "beta")}
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    vector = bias is None or (bias.shape is not None and len(bias.shape) == 1)
    return factors == {1.0} and vector


def _joined(node: ir.Node, model: ir.Model) -> bool:
    left, right = (_dequantised(value) for value in node.inputs[:2])
    if left is None or right is None or not _is_one(left.inputs[1]):
        return False
    weights, scale, zero = (*right.inputs, None)[:3]
    transposed = node.op_type == "Gemm" and bool(node.attributes.get_int("transB", 0))
    if weights is None or not _fits(right, transposed):
        return False
    if transposed:
        weights = _turned(weights, model, node.name or "")
    source, step, own_zero = (*left.inputs, None)[:3]
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    become(node, "MatMulIntegerToFloat", [source, weights, step, scale, own_zero, zero, bias], {})
    edit.remove(one for one in (left, right) if edit.is_dead(one))
    return True


def _dequantised(value: ir.Value | None) -> ir.Node | None:
    """Return the node that makes bytes numbers, one scale for each tensor or column."""
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "DequantizeLinear"):
        return None
    source, scale = node.inputs[0], node.inputs[1]
    typed = source is not None and source.dtype in _BYTES
    plain = scale is not None and scale.dtype == ir.DataType.FLOAT
    blocks = node.attributes.get_int("block_size", 0)
    return node if typed and plain and not blocks else None


def _is_one(value: ir.Value | None) -> bool:
    return value is not None and value.shape is not None and not value.shape.dims


def _fits(right: ir.Node, transposed: bool) -> bool:
    """Return whether weights are a constant matrix with one scale, or one for each column."""
    tensor = None if right.inputs[0] is None else constant_tensor(right.inputs[0])
    if tensor is None or len(tensor.shape) != 2:
        return False
    if _is_one(right.inputs[1]):
        return True
    return right.attributes.get_int("axis", 1) % 2 == (0 if transposed else 1)


def _turned(weights: ir.Value, model: ir.Model, reader: str) -> ir.Value:
    tensor = constant_tensor(weights)
    assert tensor is not None
    array = np.ascontiguousarray(tensor.numpy().T)
    return edit.add_initializer(model.graph, f"{weights.name}/turned/{reader}", array)
