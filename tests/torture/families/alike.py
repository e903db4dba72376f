"""Right rewrites of 2026-11-19 that converters, packers and engines make: none may be called different."""

from __future__ import annotations

import numpy as np

from torture.case import normal, whole
from torture.families.unusual import RIGHT

__all__ = ["RIGHT"]

NEAR = 2e-5
_PICTURE = "g (float[n, 4, h, w] x) => (float[n, 4, a, b] y) "


RIGHT.text(
    "shares-raised-to-a-newer-opset", "Where shares are taken over the last axis, both opsets say the same.",
    "g (float[n, 4, 6] x) => (float[n, 4, 6] y) { y = Softmax <axis = 2> (x) }", ("axis = 2", "axis = -1"),
    opset=11, raised=13, witness={"x": normal(2, 4, 6)}, least=NEAR,
)  # fmt: skip
RIGHT.text(
    "doubled-from-centres-or-corners", "Doubled, the nearest pixel is the same, counted from corners or from centres.",
    _PICTURE + '{ y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x, , twice) }',
    ('coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"', 'coordinate_transformation_mode = "half_pixel", nearest_mode = "round_prefer_floor"'),
    weights={"twice": np.float32([1, 1, 2, 2])}, witness={"x": normal(1, 4, 5, 7)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "relu-left-to-a-byte", "A byte whose lowest code means zero is a ReLU.",
    "g (float[n, 16] x) => (float[n, 4] y) { d = MatMul(x, w) r = Relu(d) q = QuantizeLinear(r, s, z) b = DequantizeLinear(q, s, z) y = MatMul(b, v) }",
    ("r = Relu(d) q = QuantizeLinear(r, s, z)", "q = QuantizeLinear(d, s, z)"), least=NEAR, witness={"x": normal(4, 16)},
    weights={"w": normal(16, 32, scale=0.25), "v": normal(32, 4, seed=1), "s": np.float32(0.03), "z": np.int8(-128)},
)  # fmt: skip
RIGHT.text(
    "cap-left-to-a-byte", "A byte that ends at 6 is a cap at 6.",
    "g (float[n, 16] x) => (float[n, 4] y) { d = MatMul(x, w) c = Clip(d, low, six) q = QuantizeLinear(c, s, z) b = DequantizeLinear(q, s, z) y = MatMul(b, v) }",
    ("c = Clip(d, low, six) q = QuantizeLinear(c, s, z)", "q = QuantizeLinear(d, s, z)"), least=NEAR, witness={"x": normal(4, 16, scale=5.0)},
    weights={"w": normal(16, 32, scale=0.25), "v": normal(32, 4, seed=1), "low": np.float32(0), "six": np.float32(6), "s": np.float32(6 / 255), "z": np.uint8(0)},
)  # fmt: skip
RIGHT.text(
    "largest-before-the-cut", "The largest of what is cut at zero is the largest, cut at zero.",
    _PICTURE + "{ r = Relu(x) y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (r) }",
    ("r = Relu(x) y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (r)",
     "r = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x) y = Relu(r)"), witness={"x": normal(1, 4, 7, 6)}, least=0.0,
)  # fmt: skip
_BACKWARDS = "h = Shape(k) c = Gather(h, one) m = Sub(c, one) r = Range(m, end, back) i = Gather <axis = 1> (k, r) j = Gather <axis = 1> (v, r) "
RIGHT.text(
    "keys-in-another-order", "Attention does not know the order of keys, as long as values follow them.",
    "g (float[n, s, 8] q, float[n, t, 8] k, float[n, t, 8] v) => (float[n, s, 8] y) { a = Transpose <perm = [0, 2, 1]> (k) d = MatMul(q, a) w = Softmax(d) y = MatMul(w, v) }",
    ("a = Transpose <perm = [0, 2, 1]> (k)", _BACKWARDS + "a = Transpose <perm = [0, 2, 1]> (i)"), ("MatMul(w, v)", "MatMul(w, j)"),
    weights={"one": np.int64(1), "end": np.int64(-1), "back": np.int64(-1)}, least=NEAR,
    witness={"q": normal(2, 3, 8), "k": normal(2, 5, 8, seed=1), "v": normal(2, 5, 8, seed=2)},
)  # fmt: skip
_LANES = [0, 2, 4, 6, 1, 3, 5, 7]
_ANGLES = np.outer(np.arange(6), 100.0 ** (-np.arange(4) / 4)).astype(np.float32)
_PAIRS = np.zeros((8, 8), np.float32)
_PAIRS[np.arange(1, 8, 2), np.arange(0, 8, 2)] = -1
_PAIRS[np.arange(0, 8, 2), np.arange(1, 8, 2)] = 1
_QUERIES, _KEYS = normal(8, 8, scale=0.3), normal(8, 8, seed=1, scale=0.3)


def _scores(turn_q: str, turn_k: str, queries: str, keys: str, angles: str) -> str:
    return (
        f"q = MatMul(x, {queries}) k = MatMul(x, {keys}) {turn_q} {turn_k} aq = Mul(q, c{angles}) bq = Mul(tq, z{angles}) eq = Add(aq, bq) "
        f"ak = Mul(k, c{angles}) bk = Mul(tk, z{angles}) ek = Add(ak, bk) o = Transpose <perm = [0, 2, 1]> (ek) y = MatMul(eq, o)"
    )  # fmt: skip


_BY_PAIRS = _scores("tq = MatMul(q, pairs)", "tk = MatMul(k, pairs)", "wq", "wk", "p")
_BY_HALVES = _scores(
    "fq, lq = Split <axis = -1, num_outputs = 2> (q) mq = Neg(lq) tq = Concat <axis = -1> (mq, fq)",
    "fk, lk = Split <axis = -1, num_outputs = 2> (k) mk = Neg(lk) tk = Concat <axis = -1> (mk, fk)", "vq", "vk", "h",
)  # fmt: skip
RIGHT.text(
    "angles-of-neighbours-as-halves", "Neighbours that are turned are halves that are turned, where the weights of both are sorted so.",
    f"g (float[n, 6, 8] x) => (float[n, 6, 6] y) {{ {_BY_PAIRS} }}", (_BY_PAIRS, _BY_HALVES), least=NEAR, witness={"x": normal(2, 6, 8)},
    weights={"wq": _QUERIES, "wk": _KEYS, "vq": _QUERIES[:, _LANES], "vk": _KEYS[:, _LANES], "pairs": _PAIRS,
             "cp": np.cos(np.repeat(_ANGLES, 2, 1)), "zp": np.sin(np.repeat(_ANGLES, 2, 1)), "ch": np.cos(np.tile(_ANGLES, 2)), "zh": np.sin(np.tile(_ANGLES, 2))},
)  # fmt: skip
RIGHT.text(
    "remainder-by-bits", "The remainder by eight is the last three bits, of negative numbers as well.",
    "g (int64[n, 8] x) => (int64[n, 8] y) { y = Mod <fmod = 0> (x, eight) }", ("y = Mod <fmod = 0> (x, eight)", "y = BitwiseAnd(x, seven)"),
    weights={"eight": np.int64(8), "seven": np.int64(7)}, witness={"x": [[-1, -8, 3, 5, -7, 9, -20, 2**40 + 3]]}, least=0.0,
)  # fmt: skip
_PHASES = 2 * np.pi * np.outer(np.arange(16), np.arange(9)) / 16
RIGHT.text(
    "spectrum-as-two-products", "A spectrum is two products, with cosines and with sines.",
    "g (float[n, 16, 1] x) => (float[n, 9, 2] y) { y = DFT <onesided = 1> (x, , axis) }",
    ("y = DFT <onesided = 1> (x, , axis)", "f = Squeeze(x, last) a = MatMul(f, c) b = MatMul(f, z) u = Unsqueeze(a, last) v = Unsqueeze(b, last) y = Concat <axis = -1> (u, v)"),
    weights={"axis": np.int64(1), "last": whole(-1), "c": np.cos(_PHASES).astype(np.float32), "z": -np.sin(_PHASES).astype(np.float32)},
    witness={"x": normal(2, 16, 1)}, least=NEAR,
)  # fmt: skip
_EXPERTS = normal(4, 8, 8, scale=0.3)
RIGHT.text(
    "all-experts-with-shares-of-zero", "Experts that are not chosen are asked as well, and count for nothing.",
    "g (float[n, 8] x) => (float[n, 8] y) { l = MatMul(x, router) v, i = TopK(l, two) s = Softmax(v) w = Gather(experts, i) "
    "u = Unsqueeze(x, places) m = MatMul(u, w) e = Squeeze(m, third) k = Unsqueeze(s, last) p = Mul(e, k) y = ReduceSum <keepdims = 0> (p, second) }",
    ("w = Gather(experts, i) u = Unsqueeze(x, places) m = MatMul(u, w) e = Squeeze(m, third) k = Unsqueeze(s, last) p = Mul(e, k) y = ReduceSum <keepdims = 0> (p, second)",
     "o = MatMul(l, nought) a = ScatterElements <axis = 1> (o, i, s) m = Einsum <equation = \"ni,eij->nej\"> (x, experts) k = Unsqueeze(a, last) "
     "p = Mul(m, k) y = ReduceSum <keepdims = 0> (p, second)"), least=NEAR,
    weights={"router": normal(8, 4, seed=3), "experts": _EXPERTS, "two": whole(2), "places": whole(1, 2), "third": whole(2), "second": whole(1),
             "last": whole(-1), "nought": np.zeros((4, 4), np.float32)}, witness={"x": normal(3, 8)},
)  # fmt: skip
RIGHT.text(
    "largest-of-shares-as-largest-of-scores", "The largest share is that of the largest score.",
    "g (float[n, 8] x) => (int64[n, 1] y) { s = Softmax(x) y = ArgMax <axis = -1> (s) }", ("s = Softmax(x) y = ArgMax <axis = -1> (s)", "y = ArgMax <axis = -1> (x)"),
    least=0.0, witness={"x": normal(4, 8)},
)  # fmt: skip
