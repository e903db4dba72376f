"""Errors that show only for some numbers: tails, ties, tiny and huge ones."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal

VALUES = Family("values")

ROW = "g (float[n, 6] x) => (float[n, 6] y) "
PAIR = "g (float[n, 6] x) => (int64[n, 1] y) "


def _one(op: str, *, const: str = "") -> str:
    """Return a model of one operator on rows of six."""
    return f"{ROW} {{ {const} y = {op} }}"


def _number(name: str, value: float) -> str:
    return f"{name} = Constant <value_float = {float(value)!r}> () "


VALUES.text(
    "beyond-a-clip", "Values above 6 are cut off, which the reference lets pass.",
    _one("Relu(x)"),
    ("y = Relu(x)", _number("low", 0) + _number("high", 6) + "y = Clip(x, low, high)"),
    witness={"x": [[0.5, 5, 6, 6.5, 20, -3]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "clip-a-little-narrower", "A clip at ±10 became one at ±9.",
    _one("Clip(x, low, high)", const=_number("low", -10) + _number("high", 10)),
    ("10.0", "9.0"),
    witness={"x": [[0.5, 5, 9.5, 10.5, -9.5, -30]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "exponent-clipped", "Exponents above 8 are cut off before exp.",
    _one("Exp(x)"), ("y = Exp(x)", _number("high", 8) + "z = Min(x, high) y = Exp(z)"),
    witness={"x": [[1, 2, 9, 8.5, 0, -3]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "softmax-overflows", "Softmax without taking the largest off first: inf / inf from 89 on.",
    _one("Softmax <axis = -1> (x)"),
    ("y = Softmax <axis = -1> (x)",
     "a = Constant <value_ints = [-1]> () e = Exp(x) s = ReduceSum(e, a) y = Div(e, s)"),
    witness={"x": [[100, 99, 0, 1, 2, 3]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "log-sum-exp-overflows", "The logarithm of a sum of exponentials, summed as it stands.",
    "g (float[n, 6] x) => (float[n, 1] y) { a = Constant <value_ints = [-1]> () "
    "y = ReduceLogSumExp(x, a) }",
    ("y = ReduceLogSumExp(x, a)", "e = Exp(x) s = ReduceSum(e, a) y = Log(s)"),
    witness={"x": [[100, 99, 0, 1, 2, 3]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "tanh-saturates-early", "tanh is one from 2.5 on.",
    _one("Tanh(x)"),
    ("y = Tanh(x)", _number("t", 2.5) + _number("one", 1) +
     "z = Tanh(x) far = Greater(x, t) y = Where(far, one, z)"),
    witness={"x": [[2.6, 3, -3, 0, 1, 4]]}, plain={"x": np.linspace(-2, 2, 6, dtype=np.float32)[None]},
    hidden=True, least=5e-3,
)  # fmt: skip
VALUES.text(
    "erf-saturates-early", "erf is one from 2 on, where it is 0.9953.",
    _one("Erf(x)"),
    ("y = Erf(x)", _number("t", 2) + _number("one", 1) +
     "z = Erf(x) far = Greater(x, t) y = Where(far, one, z)"),
    witness={"x": [[2.01, 3, -3, 0, 1, 4]]}, plain={"x": np.linspace(-2, 2, 6, dtype=np.float32)[None]},
    hidden=True,
)  # fmt: skip
VALUES.text(
    "sigmoid-by-pieces", "A hard sigmoid beyond ±5: zero and one.",
    _one("Sigmoid(x)"),
    ("y = Sigmoid(x)", _number("t", 5) + _number("one", 1) +
     "z = Sigmoid(x) far = Greater(x, t) y = Where(far, one, z)"),
    witness={"x": [[5.1, 6, -6, 0, 1, 8]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "small-tail-of-a-sigmoid", "Sigmoids below 1e-4 are zero: their logarithm becomes -inf.",
    f"{ROW} {{ s = Sigmoid(x) y = Log(s) }}",
    ("y = Log(s)", _number("t", 1e-4) + _number("zero", 0) +
     "small = Less(s, t) f = Where(small, zero, s) y = Log(f)"),
    witness={"x": [[-10, -12, -30, 0, 1, 8]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "softplus-linear-early", "Softplus is taken for x from 4 on, where it is 4.018.",
    _one("Softplus(x)"),
    ("y = Softplus(x)", _number("t", 4) + "z = Softplus(x) far = Greater(x, t) y = Where(far, x, z)"),
    witness={"x": [[4.01, 5, -6, 0, 1, 8]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "gelu-cut-at-minus-two", "GELU is zero below -2, where it is -0.0455.",
    _one("Gelu(x)"),
    ("y = Gelu(x)", _number("t", -2) + _number("zero", 0) +
     "z = Gelu(x) far = Less(x, t) y = Where(far, zero, z)"),
    witness={"x": [[-2.01, -2.5, -6, 0, 1, 2]]},
    plain={"x": np.linspace(-1.9, 2, 6, dtype=np.float32)[None]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "leaky-slope-of-large-values", "The slope below zero is dropped below -8.",
    _one("LeakyRelu <alpha = 0.1> (x)"),
    ("y = LeakyRelu <alpha = 0.1> (x)", _number("low", -8) +
     "c = Max(x, low) y = LeakyRelu <alpha = 0.1> (c)"),
    witness={"x": [[-9, -20, 1, 2, 3, 4]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "hard-swish-for-swish", "x · clip(x/6 + 1/2) instead of x · sigmoid(x).",
    f"{ROW} {{ s = Sigmoid(x) y = Mul(x, s) }}",
    ("s = Sigmoid(x) y = Mul(x, s)", "y = HardSwish(x)"),
    witness={"x": [[-4, -2, 1, 2, 3, 4]]},
)  # fmt: skip
VALUES.text(
    "epsilon-on-tiny-rows", "A norm's epsilon is 1e-5 instead of 1e-12: rows of 1e-4 notice.",
    "g (float[n, 6] x) => (float[n, 6] y) <float[6] w = {1, 1, 1, 1, 1, 1}> "
    "{ y = LayerNormalization <epsilon = 1e-12> (x, w) }",
    ("1e-12", "1e-5"),
    witness={"x": normal(2, 6, scale=1e-4)},
    plain={"x": normal(2, 6, scale=30.0)}, hidden=True,
)  # fmt: skip
VALUES.text(
    "variance-by-squares", "A variance as E[x²] - E[x]²: useless for rows around 10,000.",
    "g (float[n, 6] x) => (float[n, 1] y) { a = Constant <value_ints = [-1]> () "
    "m = ReduceMean(x, a) d = Sub(x, m) q = Mul(d, d) y = ReduceMean(q, a) }",
    ("d = Sub(x, m) q = Mul(d, d) y = ReduceMean(q, a)",
     "q = Mul(x, x) s = ReduceMean(q, a) r = Mul(m, m) y = Sub(s, r)"),
    witness={"x": normal(2, 6) + np.float32(10000)}, hidden=True,
)  # fmt: skip
VALUES.text(
    "root-of-a-sum-overflows", "A length by squares overflows at 2e19; the reference scales first.",
    "g (float[n, 6] x) => (float[n, 1] y) { a = Constant <value_ints = [-1]> () "
    "m = Abs(x) b = ReduceMax(m, a) z = Div(x, b) q = Mul(z, z) s = ReduceSum(q, a) r = Sqrt(s) "
    "y = Mul(r, b) }",
    ("m = Abs(x) b = ReduceMax(m, a) z = Div(x, b) q = Mul(z, z) s = ReduceSum(q, a) r = Sqrt(s) "
     "y = Mul(r, b)", "q = Mul(x, x) s = ReduceSum(q, a) y = Sqrt(s)"),
    witness={"x": [[3e19, 1e19, 1, 1, 1, 1]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "denormals-flushed", "Numbers below 1e-30 become zero before they are scaled up again.",
    f"{ROW} {{ big = Constant <value_float = 1e30> () y = Mul(x, big) }}",
    ("y = Mul(x, big)", _number("zero", 0) + "t = Constant <value_float = 1e-30> () m = Abs(x) "
     "tiny = Less(m, t) z = Where(tiny, zero, x) y = Mul(z, big)"),
    witness={"x": [[1e-31, 2e-32, 1e-35, 0, 0, 0]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "negative-zero", "x + 0 for x: the sign of zero is lost, and 1/x goes the other way.",
    _one("Reciprocal(x)"), ("y = Reciprocal(x)", _number("zero", 0) + "z = Add(x, zero) y = Reciprocal(z)"),
    witness={"x": [[-0.0, 0.0, 1, 2, 3, -4]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "nan-let-through", "The guard against NaN (0 / 0) is gone.",
    f"{ROW} {{ {_number('zero', 0)} m = Abs(x) q = Div(x, m) bad = IsNaN(q) y = Where(bad, zero, q) }}",
    ("bad = IsNaN(q) y = Where(bad, zero, q)", "y = Identity(q)"),
    witness={"x": [[0, 1, -2, 0, 3, 4]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "masked-by-a-product", "Where(mask, x, 0) became x · mask: inf · 0 is NaN.",
    "g (float[n, 6] x, bool[n, 6] keep) => (float[n, 6] y) "
    "{ e = Exp(x) zero = Constant <value_float = 0.0> () y = Where(keep, e, zero) }",
    ("y = Where(keep, e, zero)", "k = Cast <to = 1> (keep) y = Mul(e, k)"),
    witness={"x": [[100, 1, 2, 3, 4, 5]], "keep": [[False, True, True, True, True, True]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "round-half-up", "Halves are rounded up instead of to even.",
    _one("Round(x)"), ("y = Round(x)", _number("h", 0.5) + "z = Add(x, h) y = Floor(z)"),
    witness={"x": [[0.5, 1.5, 2.5, -0.5, -1.5, 3.5]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "floor-for-truncate", "A cast to integers rounds down instead of towards zero.",
    "g (float[n, 6] x) => (int64[n, 6] y) { y = Cast <to = 7> (x) }",
    ("y = Cast <to = 7> (x)", "z = Floor(x) y = Cast <to = 7> (z)"),
    witness={"x": [[-1.5, 1.5, 2.5, -0.5, -1.5, 3.5]]},
)  # fmt: skip
VALUES.text(
    "argmax-takes-the-last-of-equals", "Of several largest ones the last is taken, not the first.",
    PAIR + "{ y = ArgMax <axis = 1> (x) }", ("<axis = 1>", "<axis = 1, select_last_index = 1>"),
    witness={"x": [[1, 2, 2, 0, 1, 2]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "argmin-of-rounded-scores", "Scores are rounded to 1/1024 before the smallest is looked for.",
    PAIR + "{ y = ArgMin <axis = 1> (x) }",
    ("y = ArgMin <axis = 1> (x)", _number("k", 1024) + "a = Mul(x, k) h = Round(a) y = ArgMin <axis = 1> (h)"),
    witness={"x": [[1.0002, 1.0001, 1.0, 2, 3, 4]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "greater-for-greater-or-equal", "A threshold is no longer met by what equals it.",
    "g (float[n, 6] x) => (bool[n, 6] y) { t = Constant <value_float = 0.5> () y = GreaterOrEqual(x, t) }",
    ("GreaterOrEqual(x, t)", "Greater(x, t)"),
    witness={"x": [[0.5, 1, -1, 0.25, 0.5, 2]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "sign-of-zero-is-one", "The sign of zero is taken for one.",
    _one("Sign(x)"),
    ("y = Sign(x)", _number("zero", 0) + _number("one", 1) + _number("minus", -1) +
     "up = GreaterOrEqual(x, zero) y = Where(up, one, minus)"),
    witness={"x": [[0, 1, -1, 0.25, 0.5, 2]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "power-of-a-negative-base", "x³ as exp(3 · log x): NaN below zero.",
    f"{ROW} {{ {_number('three', 3)} y = Pow(x, three) }}",
    ("y = Pow(x, three)", "l = Log(x) m = Mul(l, three) y = Exp(m)"),
    witness={"x": [[-2, 1, 2, 3, 4, 5]]}, plain={"x": [[0.5, 1, 2, 3, 4, 5]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "logarithm-of-one-plus-little", "log(1 + x) where the reference keeps small x apart.",
    f"{ROW} {{ {_number('t', 1e-3)} {_number('one', 1)} m = Abs(x) small = Less(m, t) "
    "s = Add(x, one) l = Log(s) y = Where(small, x, l) }",
    ("y = Where(small, x, l)", "y = Identity(l)"),
    witness={"x": [[1e-8, 2e-8, 3e-8, 1e-9, 1e-8, 5e-9]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "reciprocal-guard-too-large", "A guard of 1e-6 became one of 1e-3.",
    f"{ROW} {{ e = Constant <value_float = 1e-6> () s = Mul(x, x) r = Sqrt(s) m = Max(r, e) y = Div(x, m) }}",
    ("1e-6", "1e-3"),
    witness={"x": [[1e-4, -1e-5, 1, 2, 3, 4]]}, hidden=True,
)  # fmt: skip
VALUES.text(
    "temperature-in-the-wrong-place", "A clip is taken before the scale, not behind it.",
    f"{ROW} {{ {_number('k', 4)} {_number('low', -8)} {_number('high', 8)} z = Mul(x, k) y = Clip(z, low, high) }}",
    ("z = Mul(x, k) y = Clip(z, low, high)", "z = Clip(x, low, high) y = Mul(z, k)"),
    witness={"x": [[2.5, -2.5, 1, 2, 1.5, 0.5]]},
    plain={"x": np.linspace(-1.9, 1.9, 6, dtype=np.float32)[None]}, hidden=True,
)  # fmt: skip
