"""Products with constant weights, however they are written: MatMul, Gemm, FusedMatMul."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import edit
from burnish.rewrite.precision.weights import flaw

_CONTRIB = "com.microsoft"


@dataclass(frozen=True, slots=True)
class WeightedProduct:
    """`factor * activation @ weights + bias`, at a node."""

    node: ir.Node
    activation: ir.Value
    weights: ir.Value
    transposed: bool
    """Whether the weights are stored with a row for each column of the result."""
    factor: float
    bias: ir.Value | None
    """One number for each column; None: there is none."""
    added_by: ir.Node | None = None
    """The node that adds the bias behind the product; None: the product itself does."""

    def absorb(self) -> ir.Node:
        """Return the node that gives the whole, bias and all, under the product's name.

        What it gives is the value that others read all along; a product before it is gone.
        """
        whole = self.added_by
        if whole is None:
            return self.node
        whole.name = self.node.name
        for position, value in enumerate(whole.inputs):
            if value is self.node.outputs[0]:
                whole.replace_input_with(position, self.activation)
        edit.remove([self.node])
        return whole


def product_at(node: ir.Node) -> WeightedProduct | str | None:
    """Return the product with weights that a node computes.

    A sentence: it is one that must stay as it is. None: it is no product with constants.
    """
    if is_standard(node, "Gemm"):
        return _gemm(node)
    fused = node.domain == _CONTRIB and node.op_type == "FusedMatMul"
    if not fused and not is_standard(node, "MatMul"):
        return None
    activation, weights = node.inputs[0], node.inputs[1]
    if activation is None or weights is None or constant_tensor(weights) is None:
        return None
    odd = ("transA", "transBatchA", "transBatchB")
    if fused and any(node.attributes.get_int(name, 0) for name in odd):
        return "what it multiplies is transposed first"
    problem = flaw(weights, rank=2)
    if problem is not None:
        return problem
    transposed = fused and bool(node.attributes.get_int("transB", 0))
    factor = node.attributes.get_float("alpha", 1.0) if fused else 1.0
    columns = _columns(weights, transposed)
    bias, added_by = _bias_behind(node, columns)
    return WeightedProduct(node, activation, weights, transposed, factor, bias, added_by)


def _gemm(node: ir.Node) -> WeightedProduct | str | None:
    activation, weights = node.inputs[0], node.inputs[1]
    if activation is None or weights is None or constant_tensor(weights) is None:
        return None
    if node.attributes.get_int("transA", 0):
        return "what it multiplies is transposed first"
    problem = flaw(weights, rank=2)
    if problem is not None:
        return problem
    transposed = bool(node.attributes.get_int("transB", 0))
    factor = node.attributes.get_float("alpha", 1.0)
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None:
        columns = _columns(weights, transposed)
        if node.attributes.get_float("beta", 1.0) != 1.0 or not _is_bias(bias, columns):
            return "what it adds is not one constant for each column"
    return WeightedProduct(node, activation, weights, transposed, factor, bias)


def _columns(weights: ir.Value, transposed: bool) -> int:
    tensor = constant_tensor(weights)
    assert tensor is not None
    return int(tensor.shape.numpy()[0 if transposed else 1])


def _is_bias(value: ir.Value | None, columns: int) -> bool:
    tensor = None if value is None else constant_tensor(value)
    if tensor is None or tensor.dtype != ir.DataType.FLOAT:
        return False
    return tuple(tensor.shape.numpy()) == (columns,) and bool(np.isfinite(tensor.numpy()).all())


def _bias_behind(node: ir.Node, columns: int) -> tuple[ir.Value | None, ir.Node | None]:
    """Return what an Add behind a product adds to it, and the Add, if nobody else reads it."""
    result = node.outputs[0]
    uses = tuple(result.uses())
    if len(uses) != 1 or result.is_graph_output():
        return None, None
    adder, position = uses[0]
    if not is_standard(adder, "Add") or adder.graph is not node.graph:
        return None, None
    bias = adder.inputs[1 - position]
    return (bias, adder) if _is_bias(bias, columns) else (None, None)
