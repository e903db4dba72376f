"""Errors in quantised models: scales, zero points, axes, rounding, saturation."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.narrow import CALIBRATED, DYNAMIC, QCONV
from torture.case import Change, Family, normal
from torture.draft import F32, U8, Draft

QUANTISED = Family("quantised")


def _louder(factor: float) -> Change:
    return lambda inputs: {name: array * np.float32(factor) for name, array in inputs.items()}


@QUANTISED.planted(CALIBRATED, least=0.01)
def scale_of_one_channel(draft: Draft) -> None:
    """One of 32 channels of a weight has the scale of its neighbour."""

    def copy(scales: Array) -> None:
        scales[5] = scales[6] if abs(scales[5] / scales[6] - 1) > 0.05 else scales[5] * 1.1

    draft.change("first.scales", copy)


@QUANTISED.planted(CALIBRATED, least=0.01)
def zero_point_off_by_one(draft: Draft) -> None:
    """The zero point of the input is 127 when it is taken back, 128 when it is taken."""
    node = draft.producer("input.back")
    draft.before(node, 2, lambda _was: draft.constant(np.asarray(127, np.uint8)))


@QUANTISED.planted(DYNAMIC, least=0.01)
def zero_point_left_out(draft: Draft) -> None:
    """The zero point of the second product is one too small."""
    node = draft.find("MatMulInteger", 1)
    draft.before(node, 2, lambda was: draft.op("Sub", draft.op(
        "Max", was, np.asarray(1, np.uint8)), np.asarray(1, np.uint8)))  # fmt: skip
    first = draft.find("MatMulInteger")
    draft.before(first, 2, lambda was: draft.op("Sub", was, np.asarray(1, np.uint8)))


# ONNX Runtime 1.31.1 fuses the two into a product whose scales always lie along the columns.
@QUANTISED.planted(CALIBRATED, least=0.01, as_written=True)
def scales_along_the_other_axis(draft: Draft) -> None:
    """The scales of a square weight are laid along its rows instead of its columns."""
    draft.set(draft.producer("first.weight"), axis=0)


@QUANTISED.planted(QCONV, lambda i: {"pixel_values": np.float32((np.arange(4 * 144) % 97 + 0.5) / 128)
                   .reshape(1, 4, 12, 12) * np.ones_like(i["pixel_values"])}, least=0.01,
                   hidden=True)  # fmt: skip
def halves_rounded_up(draft: Draft) -> None:
    """Codes are rounded half up instead of half to even."""
    node = draft.producer("input.codes")
    steps = draft.op("Div", node.input[0], "input.scale")
    up = draft.op("Floor", draft.op("Add", steps, 0.5))
    moved = draft.op("Clip", draft.op("Add", up, 64.0), 0.0, 255.0)
    draft.replace(node, "Cast", moved, to=U8)


@QUANTISED.planted(CALIBRATED, _louder(4.0), hidden=True, least=0.01)
def codes_wrap_instead_of_saturating(draft: Draft) -> None:
    """Codes beyond 255 wrap around."""
    node = draft.producer("input.codes")
    steps = draft.op("Round", draft.op("Div", node.input[0], "input.scale"))
    moved = draft.op("Cast", draft.op("Add", steps, 128.0), to=6)
    wrapped = draft.op("BitwiseAnd", moved, np.asarray(255, np.int32))
    draft.replace(node, "Cast", wrapped, to=U8)


@QUANTISED.planted(CALIBRATED, _louder(4.0), least=0.01)
def never_saturated(draft: Draft) -> None:
    """Quantising and back was removed altogether where it only rounds: values beyond stay."""
    codes, back = draft.producer("inner.codes"), draft.producer("inner.back")
    steps = draft.op("Round", draft.op("Div", codes.input[0], "inner.scale"))
    draft.drop(codes)
    draft.replace(back, "Mul", steps, "inner.scale")


@QUANTISED.planted(QCONV, least=0.05)
def padding_with_zero_codes(draft: Draft) -> None:
    """The frame is filled with code 0 instead of the code that means zero."""
    node = draft.producer("conv")
    framed = draft.op("Pad", node.input[0], [0, 0, 1, 1, 0, 0, 1, 1], -0.5)
    draft.before(node, 0, lambda _was: framed)
    draft.set(node, pads=[0, 0, 0, 0])


@QUANTISED.planted(QCONV, least=0.01)
def signed_for_unsigned(draft: Draft) -> None:
    """Codes above 127 are read as negative ones."""
    codes = draft.producer("input.codes").output[0]
    node = draft.producer("input.back")
    low = draft.op("Sub", draft.op("Cast", codes, to=6), np.asarray(0, np.int32))
    wrapped = draft.op("Where", draft.op("Greater", low, np.asarray(127, np.int32)),
                       draft.op("Sub", low, np.asarray(256, np.int32)), low)  # fmt: skip
    moved = draft.op("Cast", draft.op("Sub", wrapped, np.asarray(64, np.int32)), to=F32)
    draft.replace(node, "Mul", moved, "input.scale")


@QUANTISED.planted(QCONV, least=5e-3)
def output_scale_of_another_tensor(draft: Draft) -> None:
    """The scale of the output is off by two per cent when it is taken back."""
    draft.before(draft.producer("output.back"), 1, lambda _was: draft.constant(0.0204))


@QUANTISED.planted(DYNAMIC, _louder(0.05), least=0.01)
def range_without_zero(draft: Draft) -> None:
    """One scale for all: the range of the moment is taken for ±3."""
    node = draft.producer("layer.0.codes")
    source = node.input[0]
    out = [*node.output]
    draft.drop(node)
    scale = draft.op("Identity", np.asarray(6 / 255, np.float32), out=out[1])
    zero = draft.op("Identity", np.asarray(128, np.uint8), out=out[2])
    draft.op("QuantizeLinear", source, scale, zero, out=out[0])


@QUANTISED.planted(DYNAMIC, lambda i: {"features": i["features"] * np.float32([[[1]], [[6]]])},
                   least=5e-3)  # fmt: skip
def range_of_the_first_row(draft: Draft) -> None:
    """The range of the moment is that of the first row of a batch."""
    node = draft.producer("layer.0.codes")
    first = draft.op("Gather", node.input[0], [0], axis=0)
    source, out = node.input[0], [*node.output]
    draft.drop(node)
    draft.ops("DynamicQuantizeLinear", first, out=["unread", *out[1:]])
    draft.op("QuantizeLinear", source, out[1], out[2], out=out[0])


@QUANTISED.planted(CALIBRATED, _louder(1.6), hidden=True, least=5e-3)
def range_a_tenth_too_short(draft: Draft) -> None:
    """The calibrated range is cut by a tenth: only the largest values notice."""
    draft.before(draft.producer("input.codes"), 0, lambda was: draft.op("Clip", was, -4.4, 4.4))


QUANTISED.text(
    "accumulated-in-16-bits", "Sums of products saturate at 16 bits.",
    "g (uint8[n, 64] x) => (int32[n, 4] y) { y = MatMulInteger(x, w) }",
    ("y = MatMulInteger(x, w)",
     "s = MatMulInteger(x, w) high = Constant <value = int32 {32767}> () "
     "low = Constant <value = int32 {-32768}> () y = Clip(s, low, high)"),
    witness={"x": np.full((1, 64), 255, np.uint8)}, plain={"x": np.full((1, 64), 3, np.uint8)},
    weights={"w": np.full((64, 4), 100, np.int8)}, hidden=True,
)  # fmt: skip
QUANTISED.text(
    "symmetric-range-misses-minus-128", "Codes are clipped at -127, not at -128.",
    "g (float[n, 6] x) => (float[n, 6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }",
    ("q = QuantizeLinear(x, s, z)", "low = Constant <value_float = -12.7> () c = Max(x, low) "
     "q = QuantizeLinear(c, s, z)"),
    witness={"x": [[-12.8, -20, 1, 2, 3, 4]]}, hidden=True,
    weights={"s": np.asarray(0.1, np.float32), "z": np.asarray(0, np.int8)},
)  # fmt: skip
QUANTISED.text(
    "requantised-from-the-rounded", "A value is rounded to 8 bits twice, with different scales.",
    "g (float[n, 6] x) => (float[n, 6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }",
    ("q = QuantizeLinear(x, s, z)",
     "a = Div(x, t) p = Round(a) r = Mul(p, t) q = QuantizeLinear(r, s, z)"),
    witness={"x": normal(2, 6)},
    weights={"s": np.asarray(0.05, np.float32), "t": np.asarray(0.07, np.float32), "z": np.asarray(0, np.int8)},
)  # fmt: skip


@QUANTISED.planted(CALIBRATED, least=1e-4)
def zero_point_of_one_channel(draft: Draft) -> None:
    """The zero point of the last of 32 channels of a weight is one too high."""

    def shift(zeros: Array) -> None:
        zeros[-1] += 1

    draft.change("first.zeros", shift)


_PACKED = np.random.default_rng(5).integers(0, 256, (8, 2, 16)).astype(np.uint8)
_SWAPPED = _PACKED.copy()
_SWAPPED[-1, -1] = (_PACKED[-1, -1] >> 4) | (_PACKED[-1, -1] << 4)
_BLOCKS = np.abs(normal(16, seed=6)) * np.float32(0.02) + np.float32(0.01)
_FOUR_BITS = (
    "y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 4, block_size = 32> (x, packed, blocks)"
)
QUANTISED.text(
    "nibbles-of-the-last-block", "In the last block of 32 weights of four bits, the nibbles are swapped.",
    f"g (float[n, 64] x) => (float[n, 8] y) {{ {_FOUR_BITS} }}", ("packed", "swapped"),
    weights={"packed": _PACKED, "swapped": _SWAPPED, "blocks": _BLOCKS}, witness={"x": normal(2, 64)},
)  # fmt: skip
QUANTISED.text(
    "scale-of-the-last-block", "The last block of 32 weights of four bits has the scale of the one before.",
    f"g (float[n, 64] x) => (float[n, 8] y) {{ {_FOUR_BITS} }}", ("(x, packed, blocks)", "(x, packed, others)"),
    weights={"packed": _PACKED, "blocks": _BLOCKS, "others": np.append(_BLOCKS[:-1], _BLOCKS[-2])},
    witness={"x": normal(2, 64)},
)  # fmt: skip
QUANTISED.text(
    "relu-at-code-zero", "What is below zero is cut at code 0 instead of at the code that means zero.",
    "g (float[n, 6] x) => (float[n, 6] y) { r = Relu(x) q = QuantizeLinear(r, s, z) y = DequantizeLinear(q, s, z) }",
    ("r = Relu(x) q = QuantizeLinear(r, s, z)", "q = QuantizeLinear(x, s, z)"),
    witness={"x": [[-0.3, -1, 1, 2, 3, 4]]}, plain={"x": np.abs(normal(1, 6))}, hidden=True,
    weights={"s": np.asarray(0.05, np.float32), "z": np.asarray(10, np.uint8)},
)  # fmt: skip
QUANTISED.text(
    "bias-in-another-channel-s-scale", "Biases are taken back with the scales of their neighbours.",
    "g (float[n, 4] x) => (float[n, 4] y) { b = DequantizeLinear <axis = 0> (codes, scales) y = Add(x, b) }",
    ("(codes, scales)", "(codes, rolled)"), witness={"x": normal(2, 4)},
    weights={"codes": np.asarray([100, -220, 310, 40], np.int32), "scales": np.asarray([1e-3, 2e-3, 3e-3, 4e-3], np.float32),
             "rolled": np.asarray([2e-3, 3e-3, 4e-3, 1e-3], np.float32)},
)  # fmt: skip
QUANTISED.text(
    "range-of-nothing", "A range of zero is divided by: all zeros become NaN.",
    "g (float[n, 6] x) => (float[n, 6] y) { q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z) }",
    ("y = DequantizeLinear(q, s, z)", "h = ReduceMax <keepdims = 0> (x) l = ReduceMin <keepdims = 0> (x) a = Max(h, nought) "
     "b = Min(l, nought) w = Sub(a, b) f = Div(w, w) t = Mul(s, f) y = DequantizeLinear(q, t, z)"),
    witness={"x": np.zeros((2, 6))}, hidden=True, weights={"nought": np.asarray(0, np.float32)},
)  # fmt: skip


def _one_up(codes: Array) -> None:
    codes[3, 5] += 1 if codes[3, 5] < 0 else -1


@QUANTISED.planted(DYNAMIC, least=1e-4)
def one_code_of_a_weight(draft: Draft) -> None:
    """In a model with ranges of the moment, one of 2,048 codes of a weight is off by one."""
    draft.change("layer.0.weight", _one_up)


@QUANTISED.planted(CALIBRATED, least=1e-4)
def one_code_of_a_calibrated_weight(draft: Draft) -> None:
    """In a calibrated model, one of 1,024 codes of a weight is off by one."""
    draft.change("first.codes", _one_up)


@QUANTISED.planted(DYNAMIC, least=1e-4)
def scales_a_little_off(draft: Draft) -> None:
    """In a model with ranges of the moment, the scales of a weight are off by one in 200."""
    draft.change("layer.1.scales", lambda scales: scales * np.float32(1.005))


@QUANTISED.planted(CALIBRATED, least=1e-4)
def bias_a_little_off(draft: Draft) -> None:
    """In a calibrated model, one bias is off by 0.002, an eighth of a step."""

    def nudge(bias: Array) -> None:
        bias[4] += 0.002

    draft.change("first.bias", nudge)
