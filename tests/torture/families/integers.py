"""Errors of integers, indices and shapes."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal

INTEGERS = Family("integers")

WHOLE = "g (int64[n, 4] x) => (int64[n, 4] y) "
NEGATIVE = {"x": [[-7, 7, -8, 3]]}

INTEGERS.text(
    "division-of-negatives", "-7 / 2 is -4, not -3: floor instead of truncation.",
    WHOLE + "{ two = Constant <value_int = 2> () y = Div(x, two) }",
    ("y = Div(x, two)", "f = Cast <to = 11> (x) t = Cast <to = 11> (two) q = Div(f, t) "
     "d = Floor(q) y = Cast <to = 7> (d)"),
    witness=NEGATIVE, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "sign-of-a-remainder", "The remainder has the sign of the dividend, not of the divisor.",
    WHOLE + "{ t = Constant <value_int = 3> () y = Mod(x, t) }",
    ("y = Mod(x, t)", "y = Mod <fmod = 1> (x, t)"), witness=NEGATIVE, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "products-in-32-bits", "A product is formed in 32 bits: it wraps beyond 2³¹.",
    WHOLE + "{ k = Constant <value_int = 1000> () y = Mul(x, k) }",
    ("y = Mul(x, k)", "a = Cast <to = 6> (x) b = Cast <to = 6> (k) c = Mul(a, b) y = Cast <to = 7> (c)"),
    witness={"x": [[3_000_000, 1, 2, 3]]}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "integers-through-floats", "Integers pass through f32: exact up to 2²⁴ only.",
    WHOLE + "{ y = Neg(x) }",
    ("y = Neg(x)", "f = Cast <to = 1> (x) g1 = Neg(f) y = Cast <to = 7> (g1)"),
    witness={"x": [[16_777_217, 1, 2, 3]]}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "negative-index", "Indices below zero are clipped to zero instead of counted from the end.",
    "g (int64[n] i) => (float[n, 3] y) { y = Gather(table, i) }",
    ("y = Gather(table, i)", "z = Constant <value_int = 0> () c = Max(i, z) y = Gather(table, c)"),
    witness={"i": [-1, 2, 0]}, plain={"i": [1, 2, 0]}, weights={"table": normal(5, 3)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "slice-past-the-end", "A slice of the last eight, of fewer rows: the end is not clamped alike.",
    "g (float[n, 3] x) => (float[m, 3] y) { s = Constant <value_ints = [-8]> () "
    "e = Constant <value_ints = [9999]> () y = Slice(x, s, e) }",
    ("s = Constant <value_ints = [-8]> ()",
     "h = Shape(x) w = Gather(h, zero) q = Sub(w, eight) s = Mod(q, w)"),
    witness={"x": normal(5, 3)}, plain={"x": normal(12, 3)}, hidden=True,
    weights={"zero": np.asarray([0]), "eight": np.asarray([8])},
)  # fmt: skip
INTEGERS.text(
    "slice-one-short", "The last row is cut off where there are more than sixteen.",
    "g (float[n, 3] x) => (float[m, 3] y) { s = Constant <value_ints = [0]> () "
    "e = Constant <value_ints = [32]> () y = Slice(x, s, e) }",
    ("[32]", "[31]"),
    witness={"x": normal(32, 3)}, plain={"x": normal(5, 3)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "running-sum-exclusive", "A running sum leaves out the element it stands at.",
    "g (float[n, 4] x) => (float[n, 4] y) { a = Constant <value_int = 1> () y = CumSum(x, a) }",
    ("CumSum(x, a)", "CumSum <exclusive = 1> (x, a)"), witness={"x": normal(2, 4)},
)  # fmt: skip
INTEGERS.text(
    "triangle-of-the-other-diagonal", "A triangle keeps one diagonal too many.",
    "g (float[n, n] x) => (float[n, n] y) { k = Constant <value_int = 0> () y = Trilu <upper = 0> (x, k) }",
    ("value_int = 0", "value_int = 1"), witness={"x": normal(4, 4)},
)  # fmt: skip
INTEGERS.text(
    "axes-of-a-square", "Two axes of equal size are swapped.",
    "g (float[n, 4, 4] x) => (float[n, 4, 4] y) { y = Transpose <perm = [0, 1, 2]> (x) }",
    ("[0, 1, 2]", "[0, 2, 1]"), witness={"x": normal(2, 4, 4)},
)  # fmt: skip
INTEGERS.text(
    "einsum-of-a-square", "A product of squares contracts the wrong axis.",
    'g (float[n, 4, 4] x) => (float[n, 4, 4] y) { y = Einsum <equation = "bij,jk->bik"> (x, w) }',
    ("bij,jk", "bji,jk"), witness={"x": normal(2, 4, 4)}, weights={"w": normal(4, 4)},
)  # fmt: skip
INTEGERS.text(
    "repeat-for-tile", "Rows are repeated one by one (0, 0, 1, 1), not as a whole (0, 1, 0, 1).",
    "g (float[n, 4] x) => (float[m, 4] y) { r = Constant <value_ints = [2, 1]> () y = Tile(x, r) }",
    ("r = Constant <value_ints = [2, 1]> () y = Tile(x, r)",
     "r = Constant <value_ints = [1, 2]> () t = Tile(x, r) s = Constant <value_ints = [-1, 4]> () "
     "y = Reshape(t, s)"),
    witness={"x": normal(3, 4)}, plain={"x": normal(1, 4)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "squeezed-batch", "An axis of one is squeezed whichever it is: a batch of one vanishes.",
    "g (float[n, 4, 4] x) => (float[n, 4] y) { a = Constant <value_ints = [2]> () "
    "y = ReduceSum <keepdims = 0> (x, a) }",
    ("y = ReduceSum <keepdims = 0> (x, a)", "s = ReduceSum (x, a) y = Squeeze(s)"),
    witness={"x": normal(1, 4, 4)}, plain={"x": normal(2, 4, 4)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "flattened-batch", "A reshape was fixed to the four rows that it was traced with.",
    "g (float[n, 4, 4] x) => (float[n, 16] y) { s = Constant <value_ints = [0, 16]> () y = Reshape(x, s) }",
    ("[0, 16]", "[4, -1]"), witness={"x": normal(8, 4, 4)}, plain={"x": normal(4, 4, 4)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "split-of-uneven-parts", "Halves of an odd size: the larger one comes last instead of first.",
    "g (float[sequence, 4] x) => (float[a, 4] y, float[b, 4] z) { y, z = Split <axis = 0, num_outputs = 2> (x) }",
    ("y, z = Split <axis = 0, num_outputs = 2> (x)",
     "h = Shape(x) r = Gather(h, zero) f = Div(r, two) g1 = Sub(r, f) p = Concat <axis = 0> (f, g1) "
     "y, z = Split <axis = 0> (x, p)"),
    witness={"x": normal(5, 4)}, plain={"x": normal(6, 4)}, hidden=True,
    weights={"zero": np.asarray([0]), "two": np.asarray([2])},
)  # fmt: skip
INTEGERS.text(
    "scatter-adds-twice", "Updates of one place are added up; in the reference the last one wins.",
    "g (float[10, 4] x, int64[2, 4] i) => (float[10, 4] y) { y = ScatterElements <axis = 0> (x, i, u) }",
    ("<axis = 0>", '<axis = 0, reduction = "add">'),
    witness={"x": normal(10, 4) * 0, "i": [[0, 1, 2, 3], [0, 2, 1, 3]]},
    plain={"x": normal(10, 4) * 0, "i": [[0, 1, 2, 3], [1, 2, 3, 0]]},
    weights={"u": normal(2, 4)}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "one-hot-of-the-last", "One-hot codes have one place too few: the last class is all zeros.",
    "g (int64[n] i) => (float[n, 8] y) { d = Constant <value_ints = [8]> () "
    "v = Constant <value_floats = [0.0, 1.0]> () y = OneHot(i, d, v) }",
    ("y = OneHot(i, d, v)", "o = OneHot(i, d, v) y = Mul(o, keep)"),
    witness={"i": [7, 1, 2]}, plain={"i": [0, 1, 2]}, hidden=True,
    weights={"keep": np.asarray([1, 1, 1, 1, 1, 1, 1, 0], np.float32)},
)  # fmt: skip
INTEGERS.text(
    "bits-shifted-out", "A shift is taken in 8 bits.",
    "g (uint32[n, 4] x) => (uint32[n, 4] y) { y = BitShift <direction = \"LEFT\"> (x, three) }",
    ("y = BitShift <direction = \"LEFT\"> (x, three)",
     "a = Cast <to = 2> (x) b = Cast <to = 2> (three) c = BitShift <direction = \"LEFT\"> (a, b) "
     "y = Cast <to = 12> (c)"),
    witness={"x": np.asarray([[200, 1, 2, 3]], np.uint32)}, hidden=True,
    weights={"three": np.asarray(3, np.uint32)},
)  # fmt: skip
INTEGERS.text(
    "times-in-32-bits", "Times are cut to 32 bits: they turn negative in 2038.",
    WHOLE + "{ k = Constant <value_int = 86400> () y = Div(x, k) }",
    ("y = Div(x, k)", "a = Cast <to = 6> (x) b = Cast <to = 7> (a) y = Div(b, k)"),
    witness={"x": [[4_000_000_000, 1, 2, 3]]}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "either-or-both", "Exactly one of two became at least one of two.",
    "g (bool[n] a, bool[n] b) => (bool[n] y) { y = Xor(a, b) }", ("Xor", "Or"), witness={"a": [1, 1, 0], "b": [1, 0, 0]},
)  # fmt: skip
INTEGERS.text(
    "remainder-of-negative-angles", "The remainder of a negative angle is negative.",
    "g (float[n, 4] x) => (float[n, 4] y) { q = Div(x, k) f = Floor(q) p = Mul(f, k) y = Sub(x, p) }",
    ("q = Div(x, k) f = Floor(q) p = Mul(f, k) y = Sub(x, p)", "y = Mod <fmod = 1> (x, k)"), hidden=True,
    weights={"k": np.asarray(6.2831855, np.float32)}, witness={"x": [[-1, -7, 3, 9]]}, plain={"x": [[1, 7, 3, 9]]},
)  # fmt: skip
INTEGERS.text(
    "difference-of-bytes-stops-at-zero", "A difference of bytes stops at zero instead of wrapping.",
    "g (uint8[n] a, uint8[n] b) => (uint8[n] y) { y = Sub(a, b) }",
    ("y = Sub(a, b)", "g1 = Less(a, b) s = Sub(a, b) z = Sub(a, a) y = Where(g1, z, s)"),
    witness={"a": [3, 9], "b": [5, 2]}, plain={"a": [9, 9], "b": [5, 2]}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "infinities-of-one-sign", "Only positive infinities are found.",
    "g (float[n, 4] x) => (bool[n, 4] y) { e = Exp(x) l = Log(x) s = Where(c, e, l) y = IsInf(s) }",
    ("IsInf(s)", "IsInf <detect_negative = 0> (s)"), weights={"c": np.asarray([True, True, False, False])},
    witness={"x": [[1, 100, 0, 2]]}, plain={"x": [[1, 2, 3, 2]]}, hidden=True,
)  # fmt: skip
INTEGERS.text(
    "bounds-in-the-other-order", "Where the bounds cross, the lower one wins instead of the upper.",
    "g (float[n] x, float[n] low, float[n] high) => (float[n] y) { a = Max(x, low) y = Min(a, high) }",
    ("a = Max(x, low) y = Min(a, high)", "a = Min(x, high) y = Max(a, low)"), hidden=True,
    witness={"x": [1, 2], "low": [3, 0], "high": [2, 5]}, plain={"x": [1, 2], "low": [-3, 0], "high": [2, 5]},
)  # fmt: skip
