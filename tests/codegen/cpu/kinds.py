"""A small model for each kind of kernel, and its plan for any back end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from burnish.codegen.backend import Backend
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.core.array_types import array_type
from codegen.models import model, weights

KINDS: Mapping[str, str] = {
    "element-wise": "(float[4, 20] x, float[20] z) => (float[4, 20] y)"
    " { s = Add(x, z) y = Tanh(s) }",
    "reduction": "(float[6, 32] x) => (float[6] y) <int64[1] last = {-1}>"
    " { y = ReduceSum<keepdims = 0>(x, last) }",
    "softmax": "(float[4, 24] x) => (float[4, 24] y) { y = Softmax(x) }",
    "layer norm": "(float[4, 16] x) => (float[4, 16] y) { y = LayerNormalization(x, gain, bias) }",
    "product with epilogue": "(float[2, 3] x) => (float[2, 16] y)"
    " { p = MatMul(x, weight) s = Add(p, bias) y = Relu(s) }",
    "attention": "(float[1, 2, 8] q, float[1, 4, 8] k, float[1, 4, 8] v) => (float[1, 2, 8] y)"
    " { t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }",
    "convolution": "(float[1, 2, 4, 9] x) => (float[1, 2, 3, 8] y) { y = Conv(x, filters) }",
    "depth-wise": "(float[1, 2, 3, 8] x) => (float[1, 2, 2, 8] y)"
    " { y = Conv<pads = [0, 0, 0, 1], group = 2>(x, depth) }",
    "pool": "(float[1, 2, 4, 16] x) => (float[1, 2, 2, 8] y)"
    " { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }",
    "transpose": "(float[8, 16] x) => (float[16, 8] y) { y = Transpose<perm = [1, 0]>(x) }",
    "gather": "(int64[3] x) => (float[3, 16] y) { y = Gather(table, x) }",
    "quantised": "(float[4, 16] x) => (float[4, 16] y) <float scale = {0.1}, uint8 zero = {3}>"
    " { q = QuantizeLinear(x, scale, zero) y = DequantizeLinear(q, scale, zero) }",
    "product of bytes": "(uint8[2, 8] x, uint8 zero) => (int32[2, 16] y)"
    " { y = MatMulInteger(x, bytes, zero) }",
    "product of bf16": "(float[2, 8] x) => (float[2, 16] y)"
    " { h = Cast<to = 16>(x) p = MatMul(h, halves) y = Cast<to = 1>(p) }",
    "step of an LSTM": "(float[3, 1, 4] x) => (float[3, 1, 1, 8] y)"
    " { y = LSTM<hidden_size = 8>(x, inner, again) }",
    "concat and pad": "(float[2, 8] x, float[2, 8] z) => (float[2, 20] y)"
    " <int64[4] by = {0, 2, 0, 2}> { c = Concat<axis = 1>(x, z) y = Pad(c, by) }",
}

WEIGHTS = weights(
    ("weight", (3, 16)), ("bias", (16,)), ("gain", (16,)), ("filters", (2, 2, 2, 2)),
    ("depth", (2, 1, 2, 2)), ("table", (5, 16)), ("inner", (1, 32, 4)), ("again", (1, 32, 8)),
    ("taps", (8, 8, 3, 3)),
) | {
    "bytes": np.arange(-64, 64, dtype=np.int8).reshape(8, 16),
    "halves": np.arange(-64, 64).reshape(8, 16).astype(array_type("bf16")),
}  # fmt: skip


def model_of(kind: str) -> ir.Model:
    """Return the model of a kind, with the weights that it names."""
    text = KINDS[kind]
    return model(f"kernel {text}", {name: array for name, array in WEIGHTS.items() if name in text})


def built(kind: str, backend: Backend) -> BuiltPlan:
    """Return a plan with predicted choices."""
    return plan(prepare(model_of(kind), {}), PlanOptions(backend, Predicted(backend)))
