"""Errors in convolutions, pooling, resizing and padding."""

from __future__ import annotations

import numpy as np

from torture.bases.vision import CONV, RESTORED, WINDOWS
from torture.case import Family, normal
from torture.draft import Draft

IMAGES = Family("images")

_SCALES = {"scales": np.asarray([1, 1, 1.5, 1.5], np.float32)}
_RESIZE = ('g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) { y = Resize <mode = "nearest", '
           'coordinate_transformation_mode = "half_pixel", nearest_mode = "round_prefer_floor"> '
           "(x, , scales) }")  # fmt: skip
_POOL = "g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) "


@IMAGES.planted(RESTORED)
def resized_from_corners(draft: Draft) -> None:
    """Doubling aligns corners instead of pixel centres."""
    draft.set(draft.producer("large"), coordinate_transformation_mode="asymmetric")


@IMAGES.planted(RESTORED, height=31, width=33)
def aligned_corners(draft: Draft) -> None:
    """Doubling stretches the corners onto each other."""
    draft.set(draft.producer("large"), coordinate_transformation_mode="align_corners")


@IMAGES.planted(RESTORED)
def nearest_from_the_other_side(draft: Draft) -> None:
    """The preview takes the pixel to the right of each pair."""
    draft.set(
        draft.producer("small"), nearest_mode="ceil", coordinate_transformation_mode="half_pixel"
    )


@IMAGES.planted(RESTORED)
def reflected_edge_repeated(draft: Draft) -> None:
    """The frame repeats the edge instead of mirroring what is behind it."""
    draft.set(draft.producer("framed"), mode="edge")


@IMAGES.planted(RESTORED)
def frame_of_zeros(draft: Draft) -> None:
    """The frame is black instead of mirrored."""
    draft.set(draft.producer("framed"), mode="constant")


@IMAGES.planted(RESTORED)
def pixels_shuffled_by_depth(draft: Draft) -> None:
    """Channels are spread over pixels in the other order."""
    draft.set(draft.producer("detail"), mode="DCR")


@IMAGES.planted(
    RESTORED, lambda i: {"pixel_values": i["pixel_values"] * np.float32(6)}, hidden=True
)
def picture_never_clipped(draft: Draft) -> None:
    """The picture is not clipped at ±8."""
    draft.bypass(draft.producer("clipped"))


@IMAGES.planted(RESTORED)
def slopes_of_another_channel(draft: Draft) -> None:
    """The slopes below zero are in reverse order."""
    draft.change("slope", lambda w: w[::-1])


@IMAGES.planted(CONV)
def padded_on_the_other_side(draft: Draft) -> None:
    """Uneven padding is put in front instead of behind."""
    draft.set(draft.producer("stem.out"), pads=[1, 1, 0, 0])


@IMAGES.planted(CONV, height=33, width=35, hidden=True)
def last_row_dropped_at_odd_sizes(draft: Draft) -> None:
    """At odd sizes the last row and column of the picture are black: strides were rounded."""
    pads = [("pixel_values", axis) for axis in (2, 3)]
    for value, axis in pads:
        size = draft.size(value, axis)
        odd = draft.op("Equal", draft.op("Mod", size, 2), 1)
        last = draft.op("Equal", draft.op("Range", 0, size, 1), draft.op("Sub", size, 1))
        hit = draft.op("And", odd, last)
        row = draft.op("Unsqueeze", hit, [1]) if axis == 2 else hit
        draft.before(
            draft.producer("stem.out"), 0, lambda was, r=row: draft.op("Where", r, 0.0, was)
        )


@IMAGES.planted(CONV)
def dilation_forgotten(draft: Draft) -> None:
    """A dilated convolution is not dilated."""
    draft.set(draft.producer("wide.out"), dilations=[1, 1], pads=[1, 1, 1, 1])


@IMAGES.planted(CONV)
def padding_counted_in_a_mean(draft: Draft) -> None:
    """Averages at the frame count the frame's zeros."""
    draft.set(draft.find("AveragePool"), count_include_pad=1)


@IMAGES.planted(CONV, height=33, width=40)
def pooled_mean_of_a_square(draft: Draft) -> None:
    """The mean over the picture divides by the square of its width."""
    node = draft.find("GlobalAveragePool")
    source = node.input[0]
    total = draft.op("ReduceSum", source, [2, 3], keepdims=1)
    wide = draft.op("Cast", draft.size(source, 3), to=1)
    draft.replace(node, "Div", total, draft.op("Mul", wide, wide))


@IMAGES.planted(CONV)
def slope_of_leaky_relu(draft: Draft) -> None:
    """A slope of 0.1 became the default of 0.01."""
    draft.set(draft.find("LeakyRelu"), alpha=0.01)


@IMAGES.planted(CONV)
def groups_reversed(draft: Draft) -> None:
    """Each channel of a depthwise convolution has its neighbour's filter."""
    draft.change("depth.weight", lambda w: np.roll(w, 1, axis=0))


@IMAGES.planted(WINDOWS, height=44, width=44, hidden=True)
def full_windows_for_what_is_over(draft: Draft) -> None:
    """Rows over are cropped from the front of the padded picture."""
    node = draft.producer("whole")
    rows = draft.op("Sub", draft.size("joined", 1), draft.size("grid", 1))
    start = draft.op("Concat", draft.op("Unsqueeze", rows, [0]), [0], axis=0)
    ends = draft.op("Add", node.input[2], start)
    node.input[1], node.input[2] = start, ends


IMAGES.text(
    "nearest-mode-at-odd-sizes", "Halves go up instead of down when enlarging by 1.5.",
    _RESIZE, ("round_prefer_floor", "round_prefer_ceil"),
    witness={"x": normal(1, 2, 5, 7)}, weights=_SCALES,
)  # fmt: skip
IMAGES.text(
    "cubic-with-another-coefficient", "Cubic resizing with -0.5 instead of -0.75.",
    'g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) { y = Resize <mode = "cubic"> (x, , scales) }',
    ('mode = "cubic"', 'mode = "cubic", cubic_coeff_a = -0.5'),
    witness={"x": normal(1, 2, 5, 7)}, weights=_SCALES,
)  # fmt: skip
# ONNX Runtime 1.31.1 moves the frame of zeros into MaxPool, where it is one of -inf.
IMAGES.text(
    "maximum-padded-with-zeros", "The frame of a maximum is zero instead of -inf.",
    _POOL + "{ y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
    ("y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)",
     "p = Constant <value_ints = [0, 0, 1, 1, 0, 0, 1, 1]> () f = Pad(x, p) "
     "y = MaxPool <kernel_shape = [3, 3]> (f)"),
    witness={"x": -np.abs(normal(1, 2, 5, 5)) - np.float32(1)},
    plain={"x": np.abs(normal(1, 2, 5, 5))}, hidden=True, as_written=True,
)  # fmt: skip
IMAGES.text(
    "place-of-equal-maxima", "Of equal pixels the last is pointed at, not the first.",
    _POOL.replace("b] y)", "b] y, int64[n, 2, a, b] i)") +
    "{ y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) }",
    ("y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)",
     "r = Slice(x, from, to, ax, back) y0, j = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r) "
     "y = Slice(y0, from, to, ax, back) k = Slice(j, from, to, ax, back) i = Sub(thirty, k)"),
    witness={"x": np.ones((1, 2, 4, 4), np.float32)}, hidden=True,
    weights={"from": np.asarray([-1, -1, -1]), "to": np.asarray([-(2**31)] * 3),
             "ax": np.asarray([1, 2, 3]), "back": np.asarray([-1, -1, -1]), "thirty": np.asarray(31)},
)  # fmt: skip
IMAGES.text(
    "ceiling-for-floor", "Pooling keeps what is over at odd sizes.",
    _POOL + "{ y = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x) }",
    ("strides = [2, 2]", "strides = [2, 2], ceil_mode = 1"),
    witness={"x": normal(1, 2, 5, 5)}, plain={"x": normal(1, 2, 4, 4)}, hidden=True,
)  # fmt: skip
IMAGES.text(
    "same-upper-for-same-lower", "Padding that cannot be even goes to the other side.",
    _POOL + '{ y = Conv <auto_pad = "SAME_UPPER", kernel_shape = [2, 2]> (x, k) }',
    ("SAME_UPPER", "SAME_LOWER"), witness={"x": normal(1, 2, 4, 4)}, weights={"k": normal(2, 2, 2, 2)},
)  # fmt: skip
IMAGES.text(
    "stride-starts-one-later", "Every second pixel, starting with the second, at odd widths.",
    "g (float[n, 2, h, w] x) => (float[n, 2, h, v] y) { y = Slice(x, s, e, a, two) }",
    ("y = Slice(x, s, e, a, two)",
     "q = Shape(x) w0 = Gather(q, a) p = Mod(w0, two) y = Slice(x, p, e, a, two)"),
    witness={"x": normal(1, 2, 3, 7)}, plain={"x": normal(1, 2, 4, 8)}, hidden=True,
    weights={"s": np.asarray([0]), "e": np.asarray([2**31]), "a": np.asarray([3]), "two": np.asarray([2])},
)  # fmt: skip
IMAGES.text(
    "sampled-at-other-corners", "A grid from -1 to 1 means pixel edges, not pixel centres.",
    "g (float[n, 2, h, w] x, float[n, 4, 4, 2] grid) => (float[n, 2, 4, 4] y) "
    "{ y = GridSample <align_corners = 1> (x, grid) }",
    ("align_corners = 1", "align_corners = 0"),
    witness={"x": normal(1, 2, 5, 5), "grid": np.tanh(normal(1, 4, 4, 2))},
)  # fmt: skip
IMAGES.text(
    "grown-by-one-pixel-less", "A transposed convolution is cut on the other side.",
    "g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) "
    "{ y = ConvTranspose <strides = [2, 2], pads = [1, 1, 0, 0]> (x, k) }",
    ("pads = [1, 1, 0, 0]", "pads = [0, 0, 1, 1]"),
    witness={"x": normal(1, 2, 4, 4)}, weights={"k": normal(2, 2, 3, 3)},
)  # fmt: skip
IMAGES.text(
    "instance-norm-of-flat-pictures", "The epsilon of an instance norm is 1e-3 instead of 1e-5.",
    "g (float[n, 2, h, w] x) => (float[n, 2, h, w] y) "
    "{ y = InstanceNormalization <epsilon = 1e-5> (x, s, b) }",
    ("1e-5", "1e-3"), least=1e-4,
    witness={"x": normal(1, 2, 6, 6, scale=0.02)}, plain={"x": normal(1, 2, 6, 6, scale=100.0)},
    weights={"s": np.ones(2, np.float32), "b": np.zeros(2, np.float32)}, hidden=True,
)  # fmt: skip
IMAGES.text(
    "softmax-over-rows-only", "Attention over a picture adds up to one in each row.",
    "g (float[n, 1, h, w] x) => (float[n, 1, h, w] y) "
    "{ q = Shape(x) f = Flatten <axis = 2> (x) s = Softmax <axis = -1> (f) y = Reshape(s, q) }",
    ("f = Flatten <axis = 2> (x) s = Softmax <axis = -1> (f)", "s = Softmax <axis = -1> (x)"),
    witness={"x": normal(2, 1, 4, 4)}, plain={"x": normal(2, 1, 1, 4)}, hidden=True,
)  # fmt: skip
IMAGES.text(
    "shrunk-to-one-pixel", "The only pixel that is left is the corner, not the centre.",
    'g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) { y = Resize <mode = "linear"> (x, , quarter) }',
    ('mode = "linear"', 'mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"'),
    witness={"x": normal(1, 2, 4, 12)}, plain={"x": normal(1, 2, 16, 12)}, hidden=True,
    weights={"quarter": np.asarray([1, 1, 0.25, 0.25], np.float32)},
)  # fmt: skip
IMAGES.text(
    "shrunk-without-averaging", "Pixels between the samples no longer count when a picture is shrunk.",
    'g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) { y = Resize <mode = "linear", antialias = 1> (x, , quarter) }',
    ("antialias = 1", "antialias = 0"), witness={"x": normal(1, 2, 16, 12)},
    weights={"quarter": np.asarray([1, 1, 0.25, 0.25], np.float32)},
)  # fmt: skip
IMAGES.text(
    "cubic-weights-at-the-edge", "Weights of pixels beyond the edge are left out, and the others grow.",
    'g (float[n, 2, h, w] x) => (float[n, 2, a, b] y) { y = Resize <mode = "cubic", exclude_outside = 0> (x, , scales) }',
    ("exclude_outside = 0", "exclude_outside = 1"), witness={"x": normal(1, 2, 6, 6)}, weights=_SCALES,
)  # fmt: skip
IMAGES.text(
    "sampled-beyond-the-edge", "Beyond its edge a picture goes on instead of being black.",
    "g (float[n, 2, h, w] x, float[n, 4, 4, 2] grid) => (float[n, 2, 4, 4] y) "
    '{ y = GridSample <align_corners = 1, padding_mode = "zeros"> (x, grid) }',
    ('"zeros"', '"border"'), hidden=True,
    witness={"x": normal(1, 2, 5, 5), "grid": 1.5 * normal(1, 4, 4, 2)},
    plain={"x": normal(1, 2, 5, 5), "grid": np.tanh(normal(1, 4, 4, 2))},
)  # fmt: skip
IMAGES.text(
    "dilated-along-the-other-axis", "A filter is dilated along the rows instead of the columns.",
    _POOL + "{ y = Conv <dilations = [1, 2], pads = [2, 2, 2, 2]> (x, k) }",
    ("dilations = [1, 2], pads = [2, 2, 2, 2]", "dilations = [2, 1], pads = [3, 1, 3, 1]"),
    witness={"x": normal(1, 2, 6, 6)}, weights={"k": normal(2, 2, 3, 3)},
)  # fmt: skip
IMAGES.text(
    "neighbours-of-another-number", "Each channel is normalised by three neighbours instead of five.",
    "g (float[n, 8, h, w] x) => (float[n, 8, h, w] y) { y = LRN <size = 5, alpha = 0.1> (x) }",
    ("size = 5, alpha = 0.1", "size = 3, alpha = 0.06"), witness={"x": normal(1, 8, 3, 3)}, least=1e-3,
)  # fmt: skip
IMAGES.text(
    "centre-of-odd-pictures", "The middle of an odd picture is cut one pixel too far to the right.",
    "g (float[n, 2, h, w] x) => (float[n, 2, 4, 4] y) { s = Shape(x) hw = Slice(s, two, four, none) d = Sub(hw, fours) "
    "b = Div(d, twos) e = Add(b, fours) y = Slice(x, b, e, axes) }",
    ("b = Div(d, twos)", "d1 = Add(d, ones) b = Div(d1, twos)"), hidden=True,
    witness={"x": normal(1, 2, 9, 7)}, plain={"x": normal(1, 2, 8, 10)},
    weights={"two": np.asarray([2]), "four": np.asarray([4]), "none": np.asarray([0]), "fours": np.asarray([4, 4]),
             "twos": np.asarray([2, 2]), "ones": np.asarray([1, 1]), "axes": np.asarray([2, 3])},
)  # fmt: skip
