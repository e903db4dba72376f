"""Errors in the operators of newer opsets: attention, rotary embeddings, norms, caches as one node."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal

NEWER = Family("newer")

_QKV = "g (float[b, 4, s, 8] q, float[b, 2, t, 8] k, float[b, 2, t, 8] v) => (float[b, 4, s, 8] y) "
_FED = {"q": normal(2, 4, 5, 8), "k": normal(2, 2, 7, 8, seed=1), "v": normal(2, 2, 7, 8, seed=2)}
NEWER.text(
    "attention-without-its-cap", "Scores are not capped at 20: the same as long as they are small.",
    _QKV + "{ y = Attention <softcap = 20.0> (q, k, v) }", ("<softcap = 20.0> ", ""), opset=23, hidden=True,
    witness=_FED | {"q": normal(2, 4, 5, 8, scale=30.0)}, plain=_FED | {"q": normal(2, 4, 5, 8, scale=0.02)},
)  # fmt: skip
NEWER.text(
    "attention-with-another-scale", "Scores are divided by the root of nine, not of eight.",
    _QKV + "{ y = Attention(q, k, v) }", ("Attention(q", "Attention <scale = 0.33333334> (q"), opset=23, witness=_FED,
)  # fmt: skip
NEWER.text(
    "causal-from-the-other-corner", "With more keys than queries, the last query sees all keys, not the first few.",
    _QKV + "{ y = Attention <is_causal = 1> (q, k, v) }",
    ("y = Attention <is_causal = 1> (q, k, v)",
     "hq = Shape(q) hk = Shape(k) n = Gather(hq, two) m = Gather(hk, two) r = Range(zero, n, one) c = Range(zero, m, one) "
     "d = Sub(m, n) e = Max(d, zero) o = Add(r, e) u = Unsqueeze(o, one1) w = LessOrEqual(c, u) y = Attention(q, k, v, w)"),
    opset=23, witness=_FED, plain=_FED | {"q": normal(2, 4, 7, 8)}, hidden=True,
    weights={"two": np.asarray(2), "zero": np.asarray(0), "one": np.asarray(1), "one1": np.asarray([1])},
)  # fmt: skip
NEWER.text(
    "heads-by-turns", "Queries read shared keys by turns (0, 1, 0, 1) instead of in groups (0, 0, 1, 1).",
    _QKV + "{ y = Attention(q, k, v) }",
    ("y = Attention(q, k, v)", "p = Gather <axis = 1> (q, turns) a = Attention(p, k, v) y = Gather <axis = 1> (a, turns)"),
    opset=23, witness=_FED, weights={"turns": np.asarray([0, 2, 1, 3])},
)  # fmt: skip
_TURNED = "g (float[b, 2, s, 8] x, int64[b, s] position_ids) => (float[b, 2, s, 8] y) "
_ANGLES = np.outer(np.arange(32), 10000.0 ** (-np.arange(4) / 4))
_TABLES = {"c": np.cos(_ANGLES).astype(np.float32), "z": np.sin(_ANGLES).astype(np.float32)}
_PLACED = {"x": normal(2, 2, 5, 8), "position_ids": [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]]}
NEWER.text(
    "rotary-of-neighbours", "Neighbours are turned instead of halves.",
    _TURNED + "{ y = RotaryEmbedding <interleaved = 0> (x, c, z, position_ids) }", ("interleaved = 0", "interleaved = 1"),
    opset=23, witness=_PLACED, weights=_TABLES,
)  # fmt: skip
NEWER.text(
    "rotary-of-the-first-row", "Every row is turned by the places of the first.",
    _TURNED + "{ y = RotaryEmbedding(x, c, z, position_ids) }",
    ("y = RotaryEmbedding(x, c, z, position_ids)",
     "f = Gather(position_ids, none) h = Shape(position_ids) p = Expand(f, h) y = RotaryEmbedding(x, c, z, p)"),
    opset=23, witness=_PLACED, weights=_TABLES | {"none": np.asarray([0])}, hidden=True,
    plain=_PLACED | {"position_ids": [[0, 1, 2, 3, 4]] * 2},
)  # fmt: skip
NEWER.text(
    "epsilon-of-an-rms-normalisation", "The epsilon is 1e-5, not 1e-6.",
    "g (float[n, 8] x) => (float[n, 8] y) { y = RMSNormalization <epsilon = 1e-6> (x, w) }", ("1e-6", "1e-5"),
    opset=23, weights={"w": 1 + normal(8, scale=0.2)}, witness={"x": normal(2, 8, scale=0.01)},
    plain={"x": normal(2, 8, scale=100.0)}, hidden=True,
)  # fmt: skip
NEWER.text(
    "swish-without-its-factor", "x · sigmoid(1.702 x) became x · sigmoid(x).",
    "g (float[n, 8] x) => (float[n, 8] y) { y = Swish <alpha = 1.702> (x) }", (" <alpha = 1.702> ", ""),
    opset=24, witness={"x": normal(2, 8)},
)  # fmt: skip
NEWER.text(
    "ring-that-does-not-wrap", "New rows of a full cache are laid at its end instead of around it.",
    "g (float[b, 2, 16, 4] past, float[b, 2, s, 4] new, int64[b] at) => (float[b, 2, 16, 4] y) "
    '{ y = TensorScatter <mode = "circular"> (past, new, at) }',
    ('y = TensorScatter <mode = "circular"> (past, new, at)',
     'h = Shape(new) n = Gather(h, two) m = Sub(room, n) i = Min(at, m) y = TensorScatter <mode = "linear"> (past, new, i)'),
    opset=24, hidden=True, weights={"two": np.asarray([2]), "room": np.asarray([16])},
    witness={"past": normal(2, 2, 16, 4), "new": normal(2, 2, 3, 4, seed=1), "at": [14, 2]},
    plain={"past": normal(2, 2, 16, 4), "new": normal(2, 2, 3, 4, seed=1), "at": [4, 2]},
)  # fmt: skip
NEWER.text(
    "an-unlikely-word", "One of the words that are given back is spelled otherwise.",
    "g (float[n] x) => (string[n] y) { c = Greater(x, k) y = Where(c, high, low) }", ("high", "other"),
    weights={"k": np.asarray(3, np.float32), "high": np.asarray(["high"], object), "low": np.asarray(["low"], object),
             "other": np.asarray(["High"], object)},
    witness={"x": [1, 5]}, plain={"x": [1, 2]}, hidden=True,
)  # fmt: skip
