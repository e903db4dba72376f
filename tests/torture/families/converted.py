"""Errors of 2026-11-19: what converters of opsets, packers, engines and exporters of caches get wrong."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal, whole

CONVERTED = Family("converted")

_PICTURE = "g (float[n, 4, h, w] x) => (float[n, 4, a, b] y) "
_ROWS = "g (float[n, 8] x) => (float[n, 8] y) "


CONVERTED.text(
    "shares-of-an-older-opset", "The number of the opset was raised: shares were taken over two axes and are over one.",
    "g (float[n, 4, 6] x) => (float[n, 4, 6] y) { y = Softmax <axis = 1> (x) }", ("axis = 1", "axis = 1"),
    opset=11, raised=13, witness={"x": normal(2, 4, 6)},
)  # fmt: skip
CONVERTED.text(
    "resized-as-in-an-older-opset", "The number of the opset was raised: pixels were counted from corners and are from centres.",
    _PICTURE + '{ y = Resize <mode = "linear"> (x, twice) }', ("(x, twice)", "(x, none, twice)"),
    opset=10, raised=13, weights={"twice": np.float32([1, 1, 2, 2]), "none": np.zeros(0, np.float32)}, witness={"x": normal(1, 4, 5, 5)},
)  # fmt: skip
CONVERTED.text(
    "pictures-stretched", "Pictures that are no squares are stretched, not fitted into one.",
    _PICTURE + '{ y = Resize <mode = "linear", axes = [2, 3], keep_aspect_ratio_policy = "not_larger"> (x, , , sizes) }',
    ('"not_larger"', '"stretch"'), weights={"sizes": whole(8, 8)}, hidden=True,
    witness={"x": normal(1, 4, 6, 12)}, plain={"x": normal(1, 4, 6, 6)},
)  # fmt: skip
CONVERTED.text(
    "table-of-places-grown-by-lines", "For pictures of another size than was trained on, places are drawn by lines instead of cubics.",
    "g (float[n, 4, h, w] x) => (float[n, 4, h, w] y) { s = Shape <start = 2> (x) k = Shape <start = 0, end = 2> (table) a = Concat <axis = 0> (k, s) "
    't = Resize <mode = "cubic", cubic_coeff_a = -0.75> (table, , , a) y = Add(x, t) }', ('"cubic", cubic_coeff_a = -0.75', '"linear"'),
    weights={"table": normal(1, 4, 7, 7)}, hidden=True, witness={"x": normal(1, 4, 9, 10)}, plain={"x": normal(1, 4, 7, 7)},
)  # fmt: skip
_FILTERS = normal(4, 4, 3, 3, scale=0.2)
_GAMMA, _BETA = 1 + normal(4, seed=1, scale=0.2), normal(4, seed=2)
CONVERTED.text(
    "norm-folded-through-a-frame", "What is added in front of a convolution is folded into its bias: the frame has none of it.",
    _PICTURE + "{ m = Mul(x, g) a = Add(m, b) y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a, f) }",
    ("m = Mul(x, g) a = Add(m, b) y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a, f)",
     "y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, folded, bias)"),
    weights={"g": _GAMMA.reshape(4, 1, 1), "b": _BETA.reshape(4, 1, 1), "f": _FILTERS,
             "folded": _FILTERS * _GAMMA.reshape(1, 4, 1, 1), "bias": (_FILTERS * _BETA.reshape(1, 4, 1, 1)).sum((1, 2, 3))},
    witness={"x": normal(1, 4, 6, 6)},
)  # fmt: skip
CONVERTED.text(
    "cap-left-to-a-wider-byte", "The cap at 6 is left to a byte that reaches to 7.65.",
    "g (float[n, 16] x) => (float[n, 4] y) { d = MatMul(x, w) c = Clip(d, low, six) q = QuantizeLinear(c, s, z) b = DequantizeLinear(q, s, z) y = MatMul(b, v) }",
    ("Clip(d, low, six)", "Relu(d)"), hidden=True, least=0.01,
    weights={"w": normal(16, 32, scale=0.25), "v": normal(32, 4, seed=1), "low": np.float32(0), "six": np.float32(6),
             "s": np.float32(0.03), "z": np.uint8(0)}, witness={"x": normal(4, 16, scale=5.0)}, plain={"x": normal(4, 16)},
)  # fmt: skip
CONVERTED.text(
    "state-of-a-short-step", "The state of a causal convolution is cut from the new steps alone, with zeros in front.",
    "g (float[n, 4, 3] state, float[n, 4, s] x) => (float[n, 4, s] y, float[n, 4, 3] kept) { j = Concat <axis = 2> (state, x) "
    "y = Conv <kernel_shape = [4], group = 4> (j, f) kept = Slice(j, from, end, axis) }",
    ("kept = Slice(j, from, end, axis)", "o = Mul(state, nought) i = Concat <axis = 2> (o, x) kept = Slice(i, from, end, axis)"), hidden=True,
    weights={"f": normal(4, 1, 4), "from": whole(-3), "end": whole(2**31), "axis": whole(2), "nought": np.float32(0)},
    witness={"state": normal(2, 4, 3), "x": normal(2, 4, 1, seed=1)}, plain={"state": normal(2, 4, 3), "x": normal(2, 4, 6, seed=1)},
)  # fmt: skip
CONVERTED.text(
    "window-of-even-steps", "A window for spectra is symmetric; it was one period.",
    "g (float[n, 64, 1] x) => (float[n, a, 9, 2] y) { w = HannWindow <periodic = 1> (size) y = STFT(x, step, w) }", ("periodic = 1", "periodic = 0"),
    weights={"size": np.int64(16), "step": np.int64(8)}, witness={"x": normal(2, 64, 1)},
)  # fmt: skip
_LOADS = np.float32([0, 0, 0, 0, 0, 0.2, 0, 0])
CONVERTED.text(
    "bias-of-the-choice-in-the-shares", "What evens out the loads of experts counts in their shares as well.",
    "g (float[n, 8] x) => (float[n, 2] y, int64[n, 2] chosen) { s = Sigmoid(x) b = Add(s, loads) v, chosen = TopK(b, two) y = GatherElements <axis = 1> (s, chosen) }",
    ("y = GatherElements <axis = 1> (s, chosen)", "y = Identity(v)"), hidden=True,
    weights={"loads": _LOADS, "two": whole(2)}, witness={"x": normal(6, 8)}, plain={"x": [[2, 1, 0, -1, 0, -3, 0, 1]]},
)  # fmt: skip
_SHARED = (
    "g (float[b, s, 32] q, float[b, s, 16] k, float[b, s, 16] v, float[b, 2, p, 8] past_key, float[b, 2, p, 8] past_value, int64[b, t] attention_mask) "
    "=> (float[b, s, 32] y, float[b, 2, t, 8] present_key, float[b, 2, t, 8] present_value) { n = ReduceSum <keepdims = 0> (attention_mask, one) m = Sub(n, one) "
    "l = Cast <to = 6> (m) h = Shape(attention_mask) c = Gather(h, at) t = Cast <to = 6> (c) y, present_key, present_value = com.microsoft.GroupQueryAttention "
    "<num_heads = 4, kv_num_heads = 2, local_window_size = 8> (q, k, v, past_key, past_value, l, t) }"
)
_TERMS = {"one": whole(1), "at": np.int64(1)}


def _step(batch: int, steps: int, past: int) -> dict[str, object]:
    return {"q": normal(batch, steps, 32), "k": normal(batch, steps, 16, seed=1), "v": normal(batch, steps, 16, seed=2),
            "past_key": normal(batch, 2, past, 8, seed=3), "past_value": normal(batch, 2, past, 8, seed=4),
            "attention_mask": np.ones((batch, past + steps))}  # fmt: skip


CONVERTED.text(
    "window-of-one-operator", "Shared heads see nine tokens back instead of eight.",
    _SHARED, ("local_window_size = 8", "local_window_size = 9"), hidden=True, weights=_TERMS, witness=_step(2, 12, 0), plain=_step(2, 5, 0),
)  # fmt: skip
CONVERTED.text(
    "in-the-order-they-came", "What occurs is listed as it came, not by size.",
    "g (int64[n] x) => (int64[k] y, int64[n] which) { y, i, which = Unique <sorted = 1> (x) }", ("sorted = 1", "sorted = 0"),
    witness={"x": [5, 3, 5, 9, 1]}, plain={"x": [1, 1, 2, 4, 7]}, hidden=True,
)  # fmt: skip
_TURN = "f, l = Split <axis = -1, num_outputs = 2> ({0}) m = Neg(l) t = Concat <axis = -1> (m, f) a = Mul({0}, c) b = Mul(t, z) {1} = Add(a, b)"
_NORMED = "s = Mul({0}, {0}) k = ReduceMean(s, last) e = Add(k, tiny) r = Sqrt(e) d = Div({0}, r) {1} = Mul(d, w)"
_ANGLES = np.outer(np.arange(6), 100.0 ** (-np.arange(4) / 4))
_TURNED_AND_NORMED = {
    "c": np.cos(np.tile(_ANGLES, 2)).astype(np.float32), "z": np.sin(np.tile(_ANGLES, 2)).astype(np.float32),
    "last": whole(-1), "tiny": np.float32(1e-6),
}  # fmt: skip
_NORMED_FIRST = f"g (float[n, 6, 8] x) => (float[n, 6, 8] y) {{ {_NORMED.format('x', 'u')} {_TURN.format('u', 'y')} }}"
_TURNED_FIRST = (
    f"{_NORMED.format('x', 'u')} {_TURN.format('u', 'y')}",
    f"{_TURN.format('x', 'u')} {_NORMED.format('u', 'y')}",
)
CONVERTED.text(
    "heads-normed-behind-their-angles", "Heads are scaled behind the rotation: half of the scales meet the other half's lanes.",
    _NORMED_FIRST, _TURNED_FIRST, weights=_TURNED_AND_NORMED | {"w": 1 + normal(8, scale=0.2)}, witness={"x": normal(2, 6, 8)},
)  # fmt: skip
CONVERTED.text(
    "best-of-saturated-shares", "The best are looked for among shares, of which all but the first few are zero.",
    "g (float[n, 8] x) => (int64[n, 3] y) { v, y = TopK(x, three) }", ("v, y = TopK(x, three)", "s = Softmax(x) v, y = TopK(s, three)"),
    weights={"three": whole(3)}, hidden=True, witness={"x": [[0, 300, 20, 10, 150, 160, 1, 2]]}, plain={"x": normal(4, 8)},
)  # fmt: skip
CONVERTED.text(
    "eight-bit-floats-beyond-their-end", "What is beyond the largest float of 8 bits is NaN instead of the largest.",
    _ROWS + "{ q = QuantizeLinear <saturate = 1> (x, s, z) y = DequantizeLinear(q, s, z) }", ("saturate = 1", "saturate = 0"),
    weights={"s": np.float32(0.01), "z": np.zeros((), "float8_e4m3fn")}, hidden=True, witness={"x": [[9, 1, 2, 3, -6, 0, 1, 1]]}, plain={"x": normal(2, 8)},
)  # fmt: skip
CONVERTED.text(
    "rows-of-a-full-cache", "Rows of a cache that are not filled yet are attended to.",
    "g (float[b, 4, s, 8] q, float[b, 2, t, 8] k, float[b, 2, t, 8] v, int64[b] filled) => (float[b, 4, s, 8] y) { y = Attention(q, k, v, , , , filled) }",
    ("(q, k, v, , , , filled)", "(q, k, v)"), opset=24, hidden=True,
    witness={"q": normal(2, 4, 3, 8), "k": normal(2, 2, 7, 8, seed=1), "v": normal(2, 2, 7, 8, seed=2), "filled": [7, 4]},
    plain={"q": normal(2, 4, 3, 8), "k": normal(2, 2, 7, 8, seed=1), "v": normal(2, 2, 7, 8, seed=2), "filled": [7, 7]},
)  # fmt: skip
CONVERTED.text(
    "first-part-for-the-last", "Of parts of sixteen rows, the first is taken instead of the last.",
    "g (float[n, 4] x) => (float[m, 4] y) { s = SplitToSequence <axis = 0> (x, sixteen) y = SequenceAt(s, last) }", ("(s, last)", "(s, first)"),
    weights={"sixteen": np.int64(16), "last": np.int64(-1), "first": np.int64(0)}, hidden=True, witness={"x": normal(20, 4)}, plain={"x": normal(7, 4)},
)  # fmt: skip
CONVERTED.text(
    "pictures-that-see-no-further", "Tokens of a picture see earlier ones only; they saw all of their own kind.",
    "g (float[n, s, 8] x, int64[n, s] token_type_ids) => (float[n, s, 8] y) { h = Shape(x) c = Gather(h, one) r = Range(nought, c, one) i = Unsqueeze(r, last) "
    "k = GreaterOrEqual(i, r) u = Unsqueeze(token_type_ids, last) o = Unsqueeze(token_type_ids, middle) p = Mul(u, o) f = Cast <to = 9> (p) a = Or(k, f) "
    "t = Transpose <perm = [0, 2, 1]> (x) d = MatMul(x, t) e = Where(a, d, low) w = Softmax <axis = -1> (e) y = MatMul(w, x) }", ("Or(k, f)", "And(k, k)"),
    weights={"one": np.int64(1), "nought": np.int64(0), "last": whole(-1), "middle": whole(1), "low": np.float32(-3.4e38)}, hidden=True,
    witness={"x": normal(1, 6, 8), "token_type_ids": [[0, 1, 1, 1, 0, 0]]}, plain={"x": normal(1, 6, 8), "token_type_ids": [[0] * 6]},
)  # fmt: skip
_SPREAD = {
    "wide": np.repeat(np.float32([0.5, 2]), 4), "turns": np.tile(np.float32([0.5, 2]), 4), "none": np.zeros(8, np.float32),
}  # fmt: skip
CONVERTED.text(
    "scales-of-groups-by-turns", "Scales of two groups of channels, written once for each channel, go by turns.",
    "g (float[n, 8, h, w] x) => (float[n, 8, h, w] y) { y = GroupNormalization <num_groups = 2> (x, wide, none) }", ("wide", "turns"),
    opset=21, weights=_SPREAD, witness={"x": normal(2, 8, 3, 3)},
)  # fmt: skip
