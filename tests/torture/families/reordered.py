"""More right rewrites: what algebra allows in attention, norms, tables and sums."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import LLAMA
from torture.bases.distant import DISTANT
from torture.bases.text import BERT
from torture.bases.vision import CONV
from torture.case import normal
from torture.draft import Draft
from torture.families.near import RIGHT

_LAYER = "model.bert.encoder.layer"


@RIGHT.planted(BERT, sequence=16, least=1e-4)
def bias_of_the_keys_dropped(draft: Draft) -> None:
    """A bias of the keys adds one number to all scores of a query, which a softmax does not see."""
    for layer in range(2):
        draft.change(f"{_LAYER}.{layer}.attention.self.key.bias", np.zeros_like)


@RIGHT.planted(DISTANT, least=1e-4)
def bias_of_the_values_moved(draft: Draft) -> None:
    """Shares add up to one, so a bias of the values is one behind the output's weights."""
    moved = draft.array("bucketed.v.bias").astype(np.float64) @ draft.array("bucketed.proj.weight")
    draft.change("bucketed.v.bias", np.zeros_like)
    draft.change("bucketed.proj.bias", lambda b: (b + moved).astype(np.float32))


@RIGHT.planted(LLAMA, least=1e-4)
def scale_of_a_norm_in_the_weights(draft: Draft) -> None:
    """The scale of a norm went into the three matrices behind it, by way of double precision."""
    scale = draft.array("layer.0.norm1.weight").astype(np.float64)
    for kind in "qkv":
        draft.change(f"layer.0.{kind}.weight", lambda w: (scale[:, None] * w).astype(np.float32))
    draft.change("layer.0.norm1.weight", np.ones_like)


@RIGHT.planted(DISTANT, sequence=40, least=1e-4)
def slopes_from_the_first_token(draft: Draft) -> None:
    """A bias of -s · (i - j) is one of s · j: each query's scores move together."""
    node = draft.producer("slope_bias")
    places = draft.op("Cast", "places", to=1)
    draft.replace(node, "Mul", places, draft.op("Neg", "slopes"))


@RIGHT.planted(DISTANT, sequence=20, least=1e-4)
def minus_infinity_for_the_lowest(draft: Draft) -> None:
    """Masked scores of a causal layer are -inf: each token sees itself, so no row is empty."""
    node = draft.producer("sloped.masked")
    where = draft.producer(node.input[1])
    draft.before(where, 2, lambda _was: draft.constant(-np.inf))


@RIGHT.planted(BERT, sequence=16, least=1e-4)
def heads_joined_by_a_sum(draft: Draft) -> None:
    """What two pairs of heads give is not joined and multiplied, but multiplied and added."""
    weight = draft.array("val_203")
    first, second = draft.ops("Split", "view_7", [64, 64], out=2, axis=-1)
    parts = [draft.op("MatMul", part, w.copy())
             for part, w in ((first, weight[:64]), (second, weight[64:]))]  # fmt: skip
    draft.replace(draft.producer("val_204"), "Add", *parts)


@RIGHT.planted(BERT, sequence=16, least=1e-4)
def weights_transposed(draft: Draft) -> None:
    """A matrix is stored transposed, and turned back before it is used."""
    turned = draft.op("Transpose", np.ascontiguousarray(draft.array("val_143").T), perm=[1, 0])
    draft.before(draft.producer("val_144"), 1, lambda _was: turned)


@RIGHT.planted(DISTANT, least=1e-4)
def shares_by_powers_of_two(draft: Draft) -> None:
    """Softmax as powers of two of scores that are multiplied by log₂ e; no row is empty."""
    node = draft.producer("sloped.shares")
    bent = draft.op("Mul", node.input[0], float(np.log2(np.e)))
    moved = draft.op("Sub", bent, draft.op("ReduceMax", bent, [-1]))
    powers = draft.op("Pow", 2.0, moved)
    draft.replace(node, "Div", powers, draft.op("ReduceSum", powers, [-1]))


@RIGHT.planted(CONV, least=1e-4)
def a_negative_scale_folded(draft: Draft) -> None:
    """A batch norm is folded into its convolution, as it is right."""
    scale = draft.array("bn2.weight").astype(np.float64) / np.sqrt(draft.array("bn2.var") + 1e-5)
    mean, shift = draft.array("bn2.mean"), draft.array("bn2.bias")
    draft.change("wide.weight", lambda w: (w * scale[:, None, None, None]).astype(np.float32))
    draft.change("wide.bias", lambda b: ((b - mean) * scale + shift).astype(np.float32))
    draft.bypass(draft.find("BatchNormalization", 1))


def _f32(**numbers: float) -> dict[str, Array]:
    return {name: np.asarray(number, np.float32) for name, number in numbers.items()}


RIGHT.text(
    "silu-as-a-division", "x · sigmoid(x) as x / (1 + exp(-x)).",
    "g (float[n, 6] x) => (float[n, 6] y) { s = Sigmoid(x) y = Mul(x, s) }",
    ("s = Sigmoid(x) y = Mul(x, s)", "m = Neg(x) e = Exp(m) d = Add(e, one) y = Div(x, d)"),
    weights=_f32(one=1), witness={"x": normal(2, 6, scale=5.0)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "running-sum-as-a-product", "A running sum over eight columns as a product with a triangle.",
    "g (float[n, 8] x) => (float[n, 8] y) { y = CumSum(x, axis) }",
    ("y = CumSum(x, axis)", "y = MatMul(x, t)"), witness={"x": normal(3, 8)}, least=1e-5,
    weights={"axis": np.asarray(1), "t": np.triu(np.ones((8, 8), np.float32))},
)  # fmt: skip
RIGHT.text(
    "patches-as-a-product", "A convolution whose filters do not overlap, as a product of matrices.",
    "g (float[n, 3, 8, 8] x) => (float[n, 5, 2, 2] y) { y = Conv <strides = [4, 4]> (x, k) }",
    ("y = Conv <strides = [4, 4]> (x, k)",
     "a = Reshape(x, cut) b = Transpose <perm = [0, 2, 4, 1, 3, 5]> (a) c = Reshape(b, flat) d = MatMul(c, m) "
     "e = Transpose <perm = [0, 3, 1, 2]> (d) y = Identity(e)"),
    weights={"k": normal(5, 3, 4, 4), "m": np.ascontiguousarray(normal(5, 3, 4, 4).reshape(5, 48).T),
             "cut": np.asarray([0, 3, 2, 4, 2, 4]), "flat": np.asarray([0, 2, 2, 48])},
    witness={"x": normal(2, 3, 8, 8)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "softmax-in-two-blocks", "Shares over two blocks of keys, joined by their largest and their sums.",
    "g (float[n, 12] s, float[12, 4] v) => (float[n, 4] y) { p = Softmax <axis = -1> (s) y = MatMul(p, v) }",
    ("p = Softmax <axis = -1> (s) y = MatMul(p, v)",
     "a, b = Split <axis = 1> (s, parts) u, w = Split <axis = 0> (v, parts) m = ReduceMax(a, last) o = ReduceMax(b, last) "
     "t = Max(m, o) a1 = Sub(a, m) b1 = Sub(b, o) e = Exp(a1) f = Exp(b1) m1 = Sub(m, t) o1 = Sub(o, t) g1 = Exp(m1) "
     "h = Exp(o1) es = ReduceSum(e, last) fs = ReduceSum(f, last) eg = Mul(es, g1) fh = Mul(fs, h) d = Add(eg, fh) "
     "q = MatMul(e, u) r = MatMul(f, w) q1 = Mul(q, g1) r1 = Mul(r, h) z = Add(q1, r1) y = Div(z, d)"),
    weights={"parts": np.asarray([8, 4]), "last": np.asarray([-1])},
    witness={"s": normal(3, 12, scale=4.0), "v": normal(12, 4)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "cast-behind-the-gather", "Rows of a table in half precision are widened after they were picked, not before.",
    "g (int64[n] i) => (float[n, 4] y) { t = Cast <to = 1> (table) y = Gather(t, i) }",
    ("t = Cast <to = 1> (table) y = Gather(t, i)", "r = Gather(table, i) y = Cast <to = 1> (r)"),
    weights={"table": normal(20, 4).astype(np.float16)}, witness={"i": [1, 5, 19]}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "scale-behind-the-product", "Weights of eight bits are multiplied as codes, and scaled behind the product.",
    "g (float[n, 16] x) => (float[n, 4] y) { w = DequantizeLinear <axis = 1> (codes, scales) y = MatMul(x, w) }",
    ("w = DequantizeLinear <axis = 1> (codes, scales) y = MatMul(x, w)", "c = Cast <to = 1> (codes) p = MatMul(x, c) y = Mul(p, scales)"),
    weights={"codes": np.random.default_rng(3).integers(-127, 128, (16, 4)).astype(np.int8),
             "scales": np.asarray([0.01, 0.02, 0.03, 0.04], np.float32)},
    witness={"x": normal(3, 16)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "mean-by-a-product", "The mean in a norm as a product with a vector of 1/8.",
    "g (float[n, 8] x) => (float[n, 8] y) { y = LayerNormalization <epsilon = 1e-5> (x, w) }",
    ("y = LayerNormalization <epsilon = 1e-5> (x, w)",
     "m = MatMul(x, k) d = Sub(x, m) q = Mul(d, d) v = MatMul(q, k) t = Add(v, e) r = Sqrt(t) i = Reciprocal(r) "
     "n = Mul(d, i) y = Mul(n, w)"),
    weights={"k": np.full((8, 1), 0.125, np.float32), "w": 1 + normal(8, scale=0.2)} | _f32(e=1e-5),
    witness={"x": normal(3, 8)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "doubled-by-copies", "Doubling a picture by its nearest pixels, as copies along new axes.",
    "g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) "
    '{ y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (x, , two) }',
    ('y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> (x, , two)',
     "u = Unsqueeze(x, axes) e = Expand(u, copies) s = Shape(x) f = Mul(s, twice) y = Reshape(e, f)"),
    weights={"two": np.asarray([1, 1, 2, 2], np.float32), "axes": np.asarray([3, 5]),
             "copies": np.asarray([1, 1, 1, 2, 1, 2]), "twice": np.asarray([1, 1, 2, 2])},
    witness={"x": normal(1, 2, 3, 5)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "angles-permuted-with-the-weights", "Pairs of neighbours for halves, the weights of queries and keys permuted alike.",
    "g (float[n, 8] x) => (float[n, n] y) { q = MatMul(x, a) k = MatMul(x, b) t = Transpose(k) y = MatMul(q, t) }",
    ("q = MatMul(x, a) k = MatMul(x, b)", "a1 = Gather <axis = 1> (a, o) b1 = Gather <axis = 1> (b, o) q = MatMul(x, a1) k = MatMul(x, b1)"),
    weights={"a": normal(8, 8), "b": normal(8, 8, seed=1), "o": np.asarray([0, 4, 1, 5, 2, 6, 3, 7])},
    witness={"x": normal(3, 8)}, least=1e-5,
)  # fmt: skip
_RATES = (np.float32(10000.0) ** (-np.arange(8, dtype=np.float32) / np.float32(8)))[None]
_PLACES = np.arange(64, dtype=np.float32)[:, None]
_ANGLES = "g (float[n, 64, 8] x) => (float[n, 64, 8] y) { a = Mul(places, rates) c = Cos(a) y = Mul(x, c) }"
for _name, _what, _table in (
    ("angles-stored", "A table of angles is stored as it was computed in single precision.",
     np.cos((_PLACES * _RATES).astype(np.float32))),
    ("angles-stored-exactly", "A table of angles is stored as it was computed in double precision, rounded once.",
     np.cos(_PLACES.astype(np.float64) * _RATES).astype(np.float32)),
):  # fmt: skip
    RIGHT.text(
        _name, _what, _ANGLES, ("a = Mul(places, rates) c = Cos(a) y = Mul(x, c)", "y = Mul(x, table)"),
        weights={"places": _PLACES, "rates": _RATES, "table": _table}, witness={"x": normal(2, 64, 8)}, least=1e-4,
    )  # fmt: skip
RIGHT.text(
    "doubles-in-two-halves", "A product in double precision is the sum of two halves; what follows it is spelled out.",
    "g (double[n, 16] x) => (double[n, 4] y) { a = MatMul(x, w) y = Softmax <axis = -1> (a) }",
    ("a = MatMul(x, w) y = Softmax <axis = -1> (a)",
     "b, c = Split <axis = 1> (x, eights) u, v = Split <axis = 0> (w, eights) p = MatMul(b, u) q = MatMul(c, v) a = Add(p, q) "
     "m = ReduceMax(a, last) d = Sub(a, m) e = Exp(d) s = ReduceSum(e, last) y = Div(e, s)"),
    weights={"w": normal(16, 4).astype(np.float64), "eights": np.asarray([8, 8]), "last": np.asarray([-1])},
    witness={"x": normal(3, 16)}, least=1e-12,
)  # fmt: skip
RIGHT.text(
    "softmax-out-of-its-parts", "Exponentials over their sum became a softmax, which does not overflow.",
    "g (float[n, 6] x) => (float[n, 6] y) { e = Exp(x) s = ReduceSum(e, last) y = Div(e, s) }",
    ("e = Exp(x) s = ReduceSum(e, last) y = Div(e, s)", "y = Softmax <axis = -1> (x)"),
    weights={"last": np.asarray([-1])}, witness={"x": normal(2, 6, scale=5.0)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "softplus-out-of-its-parts", "log(1 + exp(x)) became a softplus, which does not overflow.",
    "g (float[n, 6] x) => (float[n, 6] y) { e = Exp(x) s = Add(e, one) y = Log(s) }",
    ("e = Exp(x) s = Add(e, one) y = Log(s)", "y = Softplus(x)"),
    weights=_f32(one=1), witness={"x": normal(2, 6, scale=5.0)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "logarithm-out-of-its-parts", "The logarithm of a sum of exponentials became one that does not overflow.",
    "g (float[n, 6] x) => (float[n, 1] y) { e = Exp(x) s = ReduceSum(e, last) y = Log(s) }",
    ("e = Exp(x) s = ReduceSum(e, last) y = Log(s)", "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Add(l, m)"),
    weights={"last": np.asarray([-1])}, witness={"x": normal(2, 6, scale=5.0)}, least=1e-5,
)  # fmt: skip
RIGHT.text(
    "length-out-of-its-parts", "The root of a sum of squares became the operator for it.",
    "g (float[n, 6] x) => (float[n, 1] y) { q = Mul(x, x) s = ReduceSum(q, last) y = Sqrt(s) }",
    ("q = Mul(x, x) s = ReduceSum(q, last) y = Sqrt(s)", "y = ReduceL2(x, last)"),
    weights={"last": np.asarray([-1])}, witness={"x": normal(2, 6, scale=5.0)}, least=1e-5,
)  # fmt: skip
