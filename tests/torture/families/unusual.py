"""Right rewrites that are seldom seen, of 2026-11-18: none of these may be called different."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.case import normal
from torture.families.reordered import RIGHT

__all__ = ["RIGHT"]

NEAR = 2e-5
_ROWS = "g (float[n, 8] x) => (float[n, 8] y) "
_SUM = "g (float[n, 8] x) => (float[n, 1] y) "
_PICTURE = "g (float[n, 4, h, w] x) => (float[n, 4, a, b] y) "
_LAST = np.asarray([-1], np.int64)
_FILTERS = normal(4, 4, 3, 3, scale=0.2)


def _spread_out(filters: Array) -> Array:
    wide = np.zeros((4, 4, 5, 5), np.float32)
    wide[..., ::2, ::2] = filters
    return wide


RIGHT.text(
    "momentum-of-a-batch-norm", "How fast running means follow matters in training only.",
    "g (float[n, 4, h, w] x) => (float[n, 4, h, w] y) { y = BatchNormalization <momentum = 0.9> (x, s, b, m, v) }",
    ("momentum = 0.9", "momentum = 0.1"), witness={"x": normal(2, 4, 3, 3)}, least=0.0,
    weights={"s": normal(4), "b": normal(4, seed=1), "m": normal(4, seed=2), "v": np.abs(normal(4, seed=3)) + 1},
)  # fmt: skip
RIGHT.text(
    "shares-of-what-is-shifted", "Shares do not change when all scores are lowered by their mean.",
    _ROWS + "{ y = Softmax <axis = -1> (x) }", ("y = Softmax <axis = -1> (x)", "m = ReduceMean(x, last) d = Sub(x, m) y = Softmax <axis = -1> (d)"),
    witness={"x": normal(3, 8, scale=4.0)}, weights={"last": _LAST}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "sixth-of-a-clip", "A line between two limits, whose sixth is kept in f32 by one of them.",
    _ROWS + "{ a = Add(x, three) c = Clip(a, zero, six) d = Div(c, six) y = Mul(x, d) }",
    ("a = Add(x, three) c = Clip(a, zero, six) d = Div(c, six) y = Mul(x, d)", "h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul(x, h)"),
    witness={"x": normal(3, 8)}, weights={"zero": np.float32(0), "three": np.float32(3), "six": np.float32(6)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "log-of-sums-spelled-out", "The logarithm of a sum of exponentials, with the largest taken out.",
    _SUM + "{ y = ReduceLogSumExp(x, last) }",
    ("y = ReduceLogSumExp(x, last)", "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Add(l, m)"),
    witness={"x": normal(3, 8, scale=9.0)}, weights={"last": _LAST}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "gelu-by-the-other-tail", "x minus x times half of what erf leaves over.",
    _ROWS + "{ y = Gelu(x) }",
    ("y = Gelu(x)", "z = Mul(x, root) e = Erf(z) r = Sub(one, e) h = Mul(r, half) p = Mul(x, h) y = Sub(x, p)"),
    witness={"x": normal(3, 8)}, weights={"root": np.float32(0.5**0.5), "one": np.float32(1), "half": np.float32(0.5)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "mean-as-a-product", "A mean is a product with a column of eighths.",
    _SUM + "{ y = ReduceMean(x, last) }", ("ReduceMean(x, last)", "MatMul(x, eighths)"),
    witness={"x": normal(3, 8)}, weights={"last": _LAST, "eighths": np.full((8, 1), 0.125, np.float32)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "divided-by-a-reciprocal", "What is divided by a root is multiplied with its reciprocal.",
    _ROWS + "{ s = Mul(x, x) m = ReduceMean(s, last) a = Add(m, e) r = Sqrt(a) y = Div(x, r) }", ("y = Div(x, r)", "i = Reciprocal(r) y = Mul(x, i)"),
    witness={"x": normal(3, 8)}, weights={"last": _LAST, "e": np.float32(1e-6)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "product-turned-over", "A product is the transposed of the transposed factors' product.",
    "g (float[n, 8] x) => (float[n, 4] y) { y = MatMul(x, w) }", ("y = MatMul(x, w)", "t = Transpose <perm = [1, 0]> (x) p = MatMul(v, t) y = Transpose <perm = [1, 0]> (p)"),
    witness={"x": normal(3, 8)}, weights={"w": normal(8, 4), "v": normal(8, 4).T.copy()}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "pixels-as-rows", "A convolution of single pixels is a product of rows.",
    "g (float[n, 4, h, w] x) => (float[n, 6, h, w] y) { y = Conv <kernel_shape = [1, 1]> (x, f) }",
    ("y = Conv <kernel_shape = [1, 1]> (x, f)", "t = Transpose <perm = [0, 2, 3, 1]> (x) p = MatMul(t, m) y = Transpose <perm = [0, 3, 1, 2]> (p)"),
    witness={"x": normal(1, 4, 5, 5)}, weights={"f": normal(6, 4, 1, 1), "m": normal(6, 4, 1, 1)[..., 0, 0].T.copy()}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "dilation-with-zeros-between", "A dilated window is a larger one with zeros.",
    _PICTURE + "{ y = Conv <kernel_shape = [3, 3], dilations = [2, 2], pads = [2, 2, 2, 2]> (x, f) }",
    ("kernel_shape = [3, 3], dilations = [2, 2], pads = [2, 2, 2, 2]> (x, f)", "kernel_shape = [5, 5], pads = [2, 2, 2, 2]> (x, g)"),
    witness={"x": normal(1, 4, 6, 6)}, weights={"f": _FILTERS, "g": _spread_out(_FILTERS)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "pooling-as-a-convolution", "A mean of nine is a convolution of each channel with ninths.",
    _PICTURE + "{ y = AveragePool <kernel_shape = [3, 3]> (x) }",
    ("AveragePool <kernel_shape = [3, 3]> (x)", "Conv <kernel_shape = [3, 3], group = 4> (x, ninths)"),
    witness={"x": normal(1, 4, 7, 7)}, weights={"ninths": np.full((4, 1, 3, 3), 1 / 9, np.float32)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "dropout-that-is-off", "Dropout does nothing when nobody trains.",
    _ROWS + "{ y = Tanh(x) }", ("y = Tanh(x)", "d = Dropout(x, half) y = Tanh(d)"), witness={"x": normal(3, 8)}, weights={"half": np.float32(0.5)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "the-best-of-one", "The largest is the first of the best one.",
    "g (float[n, 8] x) => (int64[n, 1] y) { y = ArgMax <axis = -1> (x) }", ("y = ArgMax <axis = -1> (x)", "v, y = TopK <axis = -1> (x, one)"),
    witness={"x": [[1, 5, 2, 5, 3, 0, 5, 1]]}, weights={"one": np.asarray([1], np.int64)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "divided-by-a-shift", "Eighths of whole numbers are these without their last three bits.",
    "g (uint32[n, 8] x) => (uint32[n, 8] y) { y = Div(x, eight) }", ("Div(x, eight)", 'BitShift <direction = "RIGHT"> (x, three)'),
    witness={"x": [[0, 7, 8, 9, 63, 64, 4_000_000_000, 15]]}, weights={"eight": np.uint32(8), "three": np.uint32(3)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "mask-as-a-logarithm", "The logarithm of nothing is as low as can be, and of one it is nothing.",
    "g (float[n, 8] x, bool[n, 8] attention_mask) => (float[n, 8] y) { k = Where(attention_mask, x, low) y = Softmax <axis = -1> (k) }",
    ("k = Where(attention_mask, x, low)", "f = Cast <to = 1> (attention_mask) l = Log(f) k = Add(x, l)"), least=NEAR,
    witness={"x": normal(2, 8), "attention_mask": [[1, 1, 0, 1, 1, 1, 0, 0]] * 2}, weights={"low": np.float32(-np.inf)},
)  # fmt: skip
RIGHT.text(
    "rounded-twice-to-one-grid", "What is on a grid stays where it is when it is put there again.",
    "g (float[n, 8] x) => (float[n, 4] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = MatMul(d, w) }",
    ("d = DequantizeLinear(q, s, z)", "e = DequantizeLinear(q, s, z) f = QuantizeLinear(e, s, z) d = DequantizeLinear(f, s, z)"),
    witness={"x": normal(3, 8)}, weights={"s": np.float32(0.03), "z": np.uint8(120), "w": normal(8, 4)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "one-scale-for-each", "One scale for all channels, written once for each.",
    "g (float[n, 8] x) => (float[n, 4] y) { w = DequantizeLinear(codes, s, z) y = MatMul(x, w) }",
    ("DequantizeLinear(codes, s, z)", "DequantizeLinear <axis = 1> (codes, each, zeros)"), least=0.0,
    weights={"codes": np.random.default_rng(3).integers(-100, 100, (8, 4)).astype(np.int8), "s": np.float32(0.01),
             "z": np.int8(3), "each": np.full(4, 0.01, np.float32), "zeros": np.full(4, 3, np.int8)}, witness={"x": normal(2, 8)},
)  # fmt: skip
RIGHT.text(
    "sums-so-far-as-a-product", "Sums so far are a product with a triangle of ones.",
    _ROWS + "{ y = CumSum(x, axis) }", ("CumSum(x, axis)", "MatMul(x, ones)"), witness={"x": normal(3, 8)},
    weights={"axis": np.int64(1), "ones": np.triu(np.ones((8, 8), np.float32))}, least=NEAR,
)  # fmt: skip
