"""Errors of 2026-11-18, written without a look at how verify chooses its inputs."""

from __future__ import annotations

import numpy as np

from torture.case import Family, normal, whole

AFRESH = Family("afresh")

_SQUARE = "g (float[n, 6, 6] x) => (float[n, 6, 6] y) "
_PICTURE = "g (float[n, 4, h, w] x) => (float[n, 4, a, b] y) "
_ROWS = "g (float[n, 8] x) => (float[n, 8] y) "


AFRESH.text(
    "softmax-over-the-other-of-two-equal-axes", "Shares are taken over the rows of a square, not its columns.",
    _SQUARE + "{ y = Softmax <axis = -1> (x) }", ("axis = -1", "axis = -2"), witness={"x": normal(2, 6, 6)},
)  # fmt: skip
AFRESH.text(
    "gelu-by-tanh-in-single-precision", "GELU is written by tanh, not by erf.",
    "g (float[n, 8] x) => (float[n, 4] y) { h = Gelu(x) y = MatMul(h, w) }", ("Gelu(x)", 'Gelu <approximate = "tanh"> (x)'),
    witness={"x": normal(4, 8, scale=2.0)}, weights={"w": normal(8, 4, seed=1)}, least=2e-5,
)  # fmt: skip
_RMS = "s = Mul(x, x) m = ReduceMean(s, last) "
AFRESH.text(
    "epsilon-beside-the-root", "The epsilon is added to the root instead of under it.",
    _ROWS + f"{{ {_RMS} a = Add(m, e) r = Sqrt(a) y = Div(x, r) }}",
    ("a = Add(m, e) r = Sqrt(a)", "a = Sqrt(m) r = Add(a, e)"), witness={"x": normal(2, 8, scale=0.05)},
    weights={"last": whole(-1), "e": np.float32(1e-3)},
)  # fmt: skip
AFRESH.text(
    "masked-by-ten-thousand", "What is masked is lowered by 10,000 instead of taken out.",
    "g (float[n, 8] x, bool[n, 8] m) => (float[n, 8] y) { k = Where(m, x, low) y = Softmax <axis = -1> (k) }",
    ("k = Where(m, x, low)", "a = Where(m, none, some) k = Add(x, a)"), hidden=True,
    weights={"low": np.float32(-3.4e38), "none": np.float32(0), "some": np.float32(-1e4)},
    witness={"x": [[0, 2e4, 1, 2, 3, 4, 5, 6]], "m": [[1, 0, 1, 1, 1, 1, 1, 1]]},
    plain={"x": normal(1, 8), "m": [[1, 0, 1, 1, 1, 1, 1, 1]]},
)  # fmt: skip
AFRESH.text(
    "rotary-pairs-of-neighbours", "Neighbours are turned as pairs, not the two halves.",
    _ROWS + "{ f, l = Split <axis = -1, num_outputs = 2> (x) m = Neg(l) t = Concat <axis = -1> (m, f) "
    "a = Mul(x, c) b = Mul(t, z) y = Add(a, b) }",
    ("f, l = Split <axis = -1, num_outputs = 2> (x) m = Neg(l) t = Concat <axis = -1> (m, f)",
     "p = Gather <axis = -1> (x, other) t = Mul(p, sign)"),
    weights={"c": np.cos(normal(8)), "z": np.sin(normal(8)), "other": whole(1, 0, 3, 2, 5, 4, 7, 6),
             "sign": np.float32([-1, 1] * 4)}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "hard-sigmoid-of-another-slope", "The slope is 0.2, the operator's default, not a sixth.",
    _ROWS + "{ y = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) }", ("alpha = 0.16666667", "alpha = 0.2"),
    witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "whole-numbers-by-floor", "Numbers become whole ones downwards instead of towards zero.",
    "g (float[n, 8] x) => (int64[n, 8] y) { h = Identity(x) y = Cast <to = 7> (h) }", ("Identity(x)", "Floor(x)"),
    witness={"x": normal(2, 8, scale=3.0)},
)  # fmt: skip
AFRESH.text(
    "a-size-of-one-resized-as-pytorch-does", "Where one pixel is left, it is taken from the corner and not the middle.",
    _PICTURE + '{ y = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (x, , half) }',
    ('"half_pixel"', '"pytorch_half_pixel"'), weights={"half": np.float32([1, 1, 0.5, 0.5])}, hidden=True,
    witness={"x": normal(1, 4, 2, 2)}, plain={"x": normal(1, 4, 8, 8)},
)  # fmt: skip
AFRESH.text(
    "nearest-rounded-down", "The nearest pixel is the one below, halves or not.",
    _PICTURE + '{ y = Resize <mode = "nearest", nearest_mode = "round_prefer_floor"> (x, , more) }',
    ('"round_prefer_floor"', '"floor"'), weights={"more": np.float32([1, 1, 1.5, 1.5])}, witness={"x": normal(1, 4, 6, 6)},
)  # fmt: skip
AFRESH.text(
    "corners-aligned", "Corners are aligned, centres were.",
    _PICTURE + '{ y = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (x, , more) }',
    ('"half_pixel"', '"align_corners"'), weights={"more": np.float32([1, 1, 2, 2])}, witness={"x": normal(1, 4, 5, 5)},
)  # fmt: skip
AFRESH.text(
    "the-last-of-the-largest", "Among equals the last is the largest, not the first.",
    "g (float[n, 8] x) => (int64[n, 1] y) { y = ArgMax <axis = -1, select_last_index = 0> (x) }",
    ("select_last_index = 0", "select_last_index = 1"), witness={"x": [[1, 5, 2, 5, 3, 0, 5, 1]]}, hidden=True,
)  # fmt: skip
AFRESH.text(
    "remainder-with-the-sign-of-the-dividend", "The remainder has the sign of what is divided.",
    "g (int64[n, 8] x) => (int64[n, 8] y) { y = Mod <fmod = 0> (x, seven) }", ("fmod = 0", "fmod = 1"),
    weights={"seven": whole(7)}, witness={"x": [[-1, -8, 3, 5, -7, 9, -20, 0]]}, hidden=True,
)  # fmt: skip
AFRESH.text(
    "counted-in-32-bits", "Squares are counted in 32 bits, and wrap around.",
    "g (int32[n, 8] x) => (int64[n, 8] y) { a = Cast <to = 7> (x) y = Mul(a, a) }",
    ("a = Cast <to = 7> (x) y = Mul(a, a)", "a = Mul(x, x) y = Cast <to = 7> (a)"), hidden=True,
    witness={"x": [[1, 2, 3, 50_000, 70_000, -60_000, 7, 8]]},
)  # fmt: skip
AFRESH.text(
    "norm-over-the-other-axis", "The norm is taken over the rows of a square.",
    _SQUARE + "{ m = ReduceMean(x, last) d = Sub(x, m) s = Mul(d, d) v = ReduceMean(s, last) a = Add(v, e) r = Sqrt(a) y = Div(d, r) }",
    ("v = ReduceMean(s, last)", "v = ReduceMean(s, other)"), weights={"last": whole(-1), "other": whole(-2), "e": np.float32(1e-5)},
    witness={"x": normal(2, 6, 6)},
)  # fmt: skip
AFRESH.text(
    "scale-of-dropout-left", "What dropout left out in training is made up for: a tenth more.",
    "g (float[n, 8] x) => (float[n, 4] y) { h = MatMul(x, w) y = Sigmoid(h) }",
    ("y = Sigmoid(h)", "k = Mul(h, more) y = Sigmoid(k)"), weights={"w": normal(8, 4), "more": np.float32(1 / 0.9)}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "frames-count-in-the-mean", "Pixels of the frame count when pictures are pooled.",
    _PICTURE + "{ y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 0> (x) }",
    ("count_include_pad = 0", "count_include_pad = 1"), witness={"x": normal(1, 4, 6, 6)},
)  # fmt: skip
AFRESH.text(
    "pooled-without-the-rest", "What does not fill a window is left out.",
    _PICTURE + "{ y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (x) }", ("ceil_mode = 1", "ceil_mode = 0"),
    witness={"x": normal(1, 4, 7, 7)}, plain={"x": normal(1, 4, 8, 8)}, hidden=True,
)  # fmt: skip
_FILTERS = {"w": normal(4, 4, 3, 3, scale=0.2)}
AFRESH.text(
    "frame-on-the-other-side", "With a stride of two, the frame is above and left instead of below and right.",
    _PICTURE + "{ y = Conv <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x, w) }",
    ("pads = [0, 0, 1, 1]", "pads = [1, 1, 0, 0]"), weights=_FILTERS, witness={"x": normal(1, 4, 8, 8)},
)  # fmt: skip
AFRESH.text(
    "dilated-once-less", "Taps are two apart instead of three; the frame is as wide as before.",
    _PICTURE + "{ y = Conv <kernel_shape = [3, 3], dilations = [3, 3], pads = [3, 3, 3, 3]> (x, w) }",
    ("dilations = [3, 3], pads = [3, 3, 3, 3]", "dilations = [2, 2], pads = [2, 2, 2, 2]"), weights=_FILTERS, witness={"x": normal(1, 4, 8, 8)},
)  # fmt: skip
AFRESH.text(
    "transposed-window-turned", "The window of a transposed convolution is turned around.",
    "g (float[n, 4, h, w] x) => (float[n, 2, a, b] y) { y = ConvTranspose <strides = [2, 2]> (x, f) }", ("(x, f)", "(x, t)"),
    weights={"f": normal(4, 2, 3, 3), "t": normal(4, 2, 3, 3)[..., ::-1, ::-1].copy()}, witness={"x": normal(1, 4, 5, 5)},
)  # fmt: skip
AFRESH.text(
    "sums-so-far-without-the-own", "Sums so far leave out the number itself.",
    _ROWS + "{ y = CumSum <exclusive = 0> (x, axis) }", ("exclusive = 0", "exclusive = 1"), weights={"axis": np.int64(1)}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "picked-along-the-other-axis", "Elements of a square are picked along its rows.",
    "g (float[6, 6] x, int64[6, 6] ids) => (float[6, 6] y) { y = GatherElements <axis = 0> (x, ids) }", ("axis = 0", "axis = 1"),
    witness={"x": normal(6, 6), "ids": np.random.default_rng(0).integers(0, 6, (6, 6))},
    plain={"x": normal(6, 6), "ids": np.random.default_rng(1).integers(0, 6, (6, 6))},
)  # fmt: skip
AFRESH.text(
    "the-last-to-write-wins", "Where several are put into one place, the last is kept instead of their sum.",
    "g (float[8] x, int64[5] ids, float[5] u) => (float[8] y) { i = Unsqueeze(ids, last) y = ScatterND <reduction = \"add\"> (z, i, u) }",
    ('ScatterND <reduction = "add"> (z, i, u)', "ScatterND(z, i, u)"), weights={"last": whole(-1), "z": np.zeros(8, np.float32)},
    witness={"x": normal(8), "ids": [1, 1, 2, 3, 3], "u": normal(5)}, plain={"x": normal(8), "ids": [1, 5, 2, 3, 4], "u": normal(5)}, hidden=True,
)  # fmt: skip
AFRESH.text(
    "mirrored-with-the-edge", "The frame repeats the edge instead of mirroring what is inside.",
    _PICTURE + '{ y = Pad <mode = "reflect"> (x, p) }', ('"reflect"', '"edge"'), weights={"p": whole(0, 0, 1, 1, 0, 0, 1, 1)}, witness={"x": normal(1, 4, 5, 5)},
)  # fmt: skip
AFRESH.text(
    "triangle-without-the-diagonal", "The lower triangle is cut below the diagonal.",
    _SQUARE + "{ y = Trilu <upper = 0> (x, k) }", ("(x, k)", "(x, j)"), weights={"k": np.int64(0), "j": np.int64(-1)}, witness={"x": normal(2, 6, 6)},
)  # fmt: skip
AFRESH.text(
    "celu-for-elu", "The exponential has another pace: CELU for ELU.",
    _ROWS + "{ y = Elu <alpha = 2.0> (x) }", ("Elu", "Celu"), witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "log-of-sums-that-overflow", "Exponentials are added up as they are: beyond 88 they are infinite.",
    "g (float[n, 8] x) => (float[n, 1] y) { y = ReduceLogSumExp(x, last) }",
    ("y = ReduceLogSumExp(x, last)", "e = Exp(x) s = ReduceSum(e, last) y = Log(s)"), weights={"last": whole(-1)},
    witness={"x": normal(2, 8) + 120}, hidden=True,
)  # fmt: skip
AFRESH.text(
    "spread-of-one-less", "The variance is divided by how many there are, not by one less.",
    "g (float[n, 8] x) => (float[n, 1] y) { m = ReduceMean(x, last) d = Sub(x, m) s = Mul(d, d) t = ReduceSum(s, last) y = Div(t, k) }",
    ("Div(t, k)", "Div(t, j)"), weights={"last": whole(-1), "k": np.float32(7), "j": np.float32(8)}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "length-plus-epsilon", "Lengths have the epsilon added; they were to be no less than it.",
    _ROWS + "{ l = ReduceL2(x, last) f = Max(l, e) y = Div(x, f) }", ("Max(l, e)", "Add(l, e)"),
    weights={"last": whole(-1), "e": np.float32(1e-3)}, witness={"x": normal(2, 8, scale=0.1)},
)  # fmt: skip
AFRESH.text(
    "depth-by-columns", "Depth becomes space in the other order.",
    "g (float[n, 8, h, w] x) => (float[n, 2, a, b] y) { y = DepthToSpace <blocksize = 2, mode = \"DCR\"> (x) }", ('"DCR"', '"CRD"'),
    witness={"x": normal(1, 8, 3, 3)},
)  # fmt: skip
AFRESH.text(
    "rolled-once-too-far", "A row is rolled by four instead of by three.",
    _ROWS + "{ a = Slice(x, three, end, one) b = Slice(x, nought, three, one) y = Concat <axis = 1> (a, b) }",
    ("x, three, end", "x, four, end"), ("nought, three", "nought, four"),
    weights={"nought": whole(0), "one": whole(1), "three": whole(3), "four": whole(4), "end": whole(8)}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "zero-counts-as-negative", "At zero exactly the other side is taken.",
    _ROWS + "{ k = GreaterOrEqual(x, nought) y = Where(k, a, b) }", ("GreaterOrEqual(x, nought)", "Greater(x, nought)"), hidden=True,
    weights={"nought": np.float32(0), "a": np.float32(2), "b": np.float32(-1)}, witness={"x": [[0, 1, -1, 0.5, 0, 2, 3, -4]]},
)  # fmt: skip
AFRESH.text(
    "einsum-of-the-transposed", "A square is multiplied as it lies instead of transposed.",
    "g (float[n, 6] x) => (float[n, 6] y) { y = Einsum <equation = \"ij,kj->ik\"> (x, w) }", ("ij,kj->ik", "ij,jk->ik"),
    weights={"w": normal(6, 6)}, witness={"x": normal(2, 6)},
)  # fmt: skip
AFRESH.text(
    "groups-of-two", "Channels are normed in two groups, not in four.",
    "g (float[n, 8, h, w] x) => (float[n, 8, h, w] y) { s = Shape(x) r = Reshape(x, groups) g = InstanceNormalization(r, one, nought) y = Reshape(g, s) }",
    ("(x, groups)", "(x, others)"), ("(r, one, nought)", "(r, ones, noughts)"),
    weights={"groups": whole(0, 4, -1), "others": whole(0, 2, -1), "one": np.ones(4, np.float32), "nought": np.zeros(4, np.float32),
             "ones": np.ones(2, np.float32), "noughts": np.zeros(2, np.float32)}, witness={"x": normal(2, 8, 3, 3)},
)  # fmt: skip
AFRESH.text(
    "zero-point-of-the-neighbour", "The zero point of one channel of weights is one too high.",
    "g (float[n, 8] x) => (float[n, 4] y) { w = DequantizeLinear <axis = 1> (codes, scales, zeros) y = MatMul(x, w) }", ("scales, zeros", "scales, others"),
    weights={"codes": np.random.default_rng(3).integers(-100, 100, (8, 4)).astype(np.int8), "scales": np.float32([0.01, 0.02, 0.01, 0.03]),
             "zeros": np.int8([0, 0, 0, 0]), "others": np.int8([0, 0, 1, 0])}, witness={"x": normal(2, 8)},
)  # fmt: skip
AFRESH.text(
    "past-counted-twice", "Places begin one too late behind a past.",
    "g (float[n, p, 4] past, float[n, s, 4] x) => (float[n, s, 4] y) { hp = Shape(past) hx = Shape(x) b = Gather(hp, one) k = Gather(hx, one) "
    "e = Add(b, k) r = Range(b, e, one) t = Gather(table, r) y = Add(x, t) }",
    ("r = Range(b, e, one)", "v = Sign(b) c = Add(b, v) f = Add(c, k) r = Range(c, f, one)"),
    weights={"one": np.asarray(1), "table": normal(64, 4)}, hidden=True,
    witness={"past": normal(1, 3, 4), "x": normal(1, 5, 4)}, plain={"past": np.zeros((1, 0, 4)), "x": normal(1, 5, 4)},
)  # fmt: skip
