"""More right rewrites, as text: other spellings, and right models that are ill-conditioned."""

from __future__ import annotations

import numpy as np

from torture.case import normal
from torture.families.traps import RIGHT, ROUNDING

ROW = "g (float[n, 6] x) => (float[n, 6] y) "
ONE = "one = Constant <value_float = 1.0> () "

RIGHT.text(
    "gelu-as-one", "GELU spelled out is the operator.",
    ROW + "{ r = Constant <value_float = 1.4142135> () " + ONE +
    "h = Constant <value_float = 0.5> () a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, h) }",
    ("d = Mul(x, c) y = Mul(d, h)", "y = Gelu(x)"),
    witness={"x": [[-3, -6, 1, 5, 0, 20]]}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "softmax-spelled-out", "Softmax with its largest taken off first, spelled out.",
    ROW + "{ y = Softmax <axis = -1> (x) }",
    ("y = Softmax <axis = -1> (x)", "a = Constant <value_ints = [-1]> () m = ReduceMax(x, a) d = Sub(x, m) "
     "e = Exp(d) s = ReduceSum(e, a) y = Div(e, s)"),
    witness={"x": [[100, 99, 0, 1, 2, -300]]}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "softmax-shifted", "Softmax does not change when all scores grow alike.",
    ROW + "{ y = Softmax <axis = -1> (x) }",
    ("y = Softmax <axis = -1> (x)", "c = Constant <value_float = 3.0> () s = Add(x, c) y = Softmax <axis = -1> (s)"),
    witness={"x": normal(2, 6)}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "sigmoid-spelled-out", "Sigmoid as 1 / (1 + exp(-x)): exp overflows, the result does not.",
    ROW + "{ y = Sigmoid(x) }",
    ("y = Sigmoid(x)", ONE + "m = Neg(x) e = Exp(m) s = Add(e, one) y = Div(one, s)"),
    witness={"x": [[-200, -20, 0, 20, 200, 1]]}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "division-as-a-product", "Division by a constant as a product with its reciprocal.",
    ROW + "{ k = Constant <value_float = 7.0> () y = Div(x, k) }",
    ("value_float = 7.0", "value_float = 0.142857143"), ("Div(x, k)", "Mul(x, k)"),
    witness={"x": normal(2, 6, scale=1e6)}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "square-as-a-product", "x² as x · x.",
    ROW + "{ k = Constant <value_float = 2.0> () y = Pow(x, k) }", ("Pow(x, k)", "Mul(x, x)"),
    witness={"x": [[-3, 1e-20, 1e15, -0.0, 0, 1]]}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "nan-in-the-same-places", "The logarithm of negative numbers is NaN on both sides, the rest agrees.",
    ROW + "{ k = Constant <value_float = 2.0> () l = Log(x) y = Div(l, k) }",
    ("value_float = 2.0", "value_float = 0.5"), ("Div(l, k)", "Mul(l, k)"),
    witness={"x": [[-3, 1, 2, 0, 5, -1]]}, least=ROUNDING,
)  # fmt: skip
RIGHT.text(
    "branch-of-a-constant", "A branch whose condition is known is written out.",
    "g (float[n, 4] x) => (float[n, 4] y) { y = If (c) <then_branch = t () => (float[n, 4] a) { a = Mul(x, k) }, "
    "else_branch = e () => (float[n, 4] b) { b = Add(x, k) }> }",
    ("y = If (c) <then_branch = t () => (float[n, 4] a) { a = Mul(x, k) }, "
     "else_branch = e () => (float[n, 4] b) { b = Add(x, k) }>", "y = Mul(x, k)"),
    witness={"x": normal(2, 4)}, least=0.0,
    weights={"c": np.asarray(True), "k": np.asarray(3, np.float32)},
)  # fmt: skip
RIGHT.text(
    "loop-unrolled", "A loop of three turns is written out.",
    "g (float[4] x) => (float[4] y) { y = Loop (three, yes, x) <body = body (int64 i, bool go, float[4] was) "
    "=> (bool on, float[4] next) { on = Identity(go) h = Mul(was, half) next = Add(h, x) }> }",
    ("y = Loop (three, yes, x) <body = body (int64 i, bool go, float[4] was) "
     "=> (bool on, float[4] next) { on = Identity(go) h = Mul(was, half) next = Add(h, x) }>",
     "a = Mul(x, half) b = Add(a, x) c = Mul(b, half) d = Add(c, x) e = Mul(d, half) y = Add(e, x)"),
    witness={"x": [1, 2, 3, 4]}, least=1e-6,
    weights={"three": np.asarray(3), "yes": np.asarray(True), "half": np.asarray(0.5, np.float32)},
)  # fmt: skip
RIGHT.text(
    "pointwise-convolution-as-a-product", "A convolution of one pixel is a product of matrices.",
    "g (float[n, 4, h, w] x) => (float[n, 4, h, w] y) { y = Conv(x, k) }",
    ("y = Conv(x, k)", "q = Shape(x) f = Reshape(x, flat) m = MatMul(k2, f) y = Reshape(m, q)"),
    witness={"x": normal(2, 4, 3, 5)}, least=ROUNDING,
    weights={"k": normal(4, 4, 1, 1), "k2": normal(4, 4, 1, 1).reshape(4, 4),
             "flat": np.asarray([0, 4, -1])},
)  # fmt: skip
RIGHT.text(
    "dropout-removed", "Dropout does nothing at inference.",
    ROW + "{ d = Dropout(x) y = Relu(d) }", ("d = Dropout(x) y = Relu(d)", "y = Relu(x)"),
    witness={"x": normal(2, 6)}, least=0.0,
)  # fmt: skip
RIGHT.text(
    "relu6-behind-a-sigmoid", "A clip at 0 and 6 behind a sigmoid clips nothing.",
    ROW + "{ s = Sigmoid(x) lo = Constant <value_float = 0.0> () hi = Constant <value_float = 6.0> () "
    "y = Clip(s, lo, hi) }",
    ("y = Clip(s, lo, hi)", "y = Identity(s)"), witness={"x": [[-200, -20, 0, 20, 200, 1]]}, least=0.0,
)  # fmt: skip

# Right, but badly conditioned: in single precision, one order of summing is as wrong as the other.
_WAVE = np.asarray([1e8, 1, -1e8, 1, 3e7, -3e7], np.float32)
RIGHT.text(
    "sum-of-huge-terms", "Terms of ±1e8 cancel; the candidate adds them up in another order.",
    "g (float[n, 6] x) => (float[n, 1] y) { p = Mul(x, w) a = Constant <value_ints = [1]> () y = ReduceSum(p, a) }",
    ("y = ReduceSum(p, a)", "q = Gather <axis = 1> (p, o) y = ReduceSum(q, a)"),
    witness={"x": [[1, 1, 1, 1, 1, 1], [2, 0.5, 2, 0.25, 1, 1]]}, least=np.inf,
    weights={"w": _WAVE, "o": np.asarray([1, 0, 2, 4, 5, 3])},
)  # fmt: skip
RIGHT.text(
    "huge-offset-taken-off-again", "x + 1e6 - 1e6 became x, which is more exact.",
    ROW + "{ k = Constant <value_float = 1000000.0> () a = Add(x, k) y = Sub(a, k) }",
    ("a = Add(x, k) y = Sub(a, k)", "y = Identity(x)"), witness={"x": normal(2, 6)}, least=0.1,
)  # fmt: skip
_TURN, _OTHER = (
    "s{i} = Sub(one, x{j}) m{i} = Mul(x{j}, s{i}) x{i} = Mul(m{i}, four) ",
    ("q{i} = Mul(x{j}, x{j}) s{i} = Sub(x{j}, q{i}) x{i} = Mul(s{i}, four) "),
)
_TURNS = "".join(_TURN.format(i=i + 1, j=i) for i in range(9))
_OTHERS = "".join(_OTHER.format(i=i + 1, j=i) for i in range(9))
RIGHT.text(
    "a-chaotic-chain", "4x(1 - x) nine times over doubles every rounding error nine times.",
    ROW + "{ " + ONE + "four = Constant <value_float = 4.0> () x0 = Sigmoid(x) " + _TURNS + "y = Identity(x9) }",
    (_TURNS, _OTHERS), witness={"x": normal(2, 6)}, least=0.02,
)  # fmt: skip
_SPLIT = normal(16, 1, seed=5)
RIGHT.text(
    "label-of-a-near-tie", "Two classes have equal scores but for rounding: the label may change, the scores agree.",
    "g (float[n, 16] x) => (float[n, 2] scores, int64[n] label) "
    "{ scores = MatMul(x, w) label = ArgMax <axis = 1, keepdims = 0> (scores) }",
    ("scores = MatMul(x, w)",
     "a, b = Split <axis = 1> (x, eight) u, v = Split <axis = 0> (w, eight) p = MatMul(a, u) q = MatMul(b, v) "
     "scores = Add(p, q)"),
    witness={"x": normal(64, 16, seed=6)}, least=np.inf,
    weights={"w": np.concatenate([_SPLIT, _SPLIT * np.float32(1 + 1.2e-7)], axis=1),
             "eight": np.asarray([8, 8])},
)  # fmt: skip
RIGHT.text(
    "variance-of-constant-rows", "Rows without any variance: what remains is rounding over epsilon.",
    "g (float[n, 8] x) => (float[n, 8] y) <float[8] w = {1, 1, 1, 1, 1, 1, 1, 1}> "
    "{ y = LayerNormalization <epsilon = 1e-5> (x, w) }",
    ("y = LayerNormalization <epsilon = 1e-5> (x, w)",
     "a = Constant <value_ints = [-1]> () e = Constant <value_float = 1e-5> () m = ReduceMean(x, a) "
     "d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, a) t = Add(v, e) r = Sqrt(t) y = Div(d, r)"),
    witness={"x": np.full((2, 8), 0.1, np.float32)}, plain={"x": normal(2, 8)}, least=1e-4,
)  # fmt: skip
