"""Models of weaker types: int8 by ranges of the moment or calibrated ones, half precision."""

from __future__ import annotations

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.bases import blocks
from torture.bases.blocks import Weights
from torture.case import Base
from torture.draft import F16, F32, Draft

WIDTH = 32


def features(*, batch: int = 2, sequence: int = 6, seed: int = 0) -> dict[str, Array]:
    """Return rows of normal numbers."""
    random = np.random.default_rng(seed)
    return {"features": random.standard_normal((batch, sequence, WIDTH)).astype(np.float32)}


def pictures(
    *, batch: int = 1, height: int = 12, width: int = 12, seed: int = 0
) -> dict[str, Array]:
    """Return pictures of noise, all of them above zero, as a sensor gives them."""
    random = np.random.default_rng(seed)
    return {"pixel_values": random.uniform(0.1, 1.0, (batch, 4, height, width)).astype(np.float32)}


def quantised(array: Array, axis: int) -> tuple[Array, Array]:
    """Return int8 weights and their scales, one for each place along `axis`."""
    others = tuple(i for i in range(array.ndim) if i != axis)
    scales = np.abs(array).max(axis=others, keepdims=True) / 127
    return np.round(array / scales).astype(np.int8), scales.reshape(-1).astype(np.float32)


def _dynamic() -> onnx.ModelProto:
    draft = Draft()
    random = np.random.default_rng(8)
    x = draft.input("features", ["batch", "sequence", WIDTH])
    for index, (rows, columns) in enumerate(((WIDTH, 64), (64, 16))):
        codes, scales = quantised(random.standard_normal((rows, columns)) / np.sqrt(rows), 1)
        name = f"layer.{index}"
        weight = draft.constant(codes, f"{name}.weight")
        shift = draft.constant(
            (0.2 * random.standard_normal(columns)).astype(np.float32), f"{name}.bias"
        )
        taken, scale, zero = draft.ops(
            "DynamicQuantizeLinear", x, out=[f"{name}.{k}" for k in ("codes", "scale", "zero")]
        )
        product = draft.op("MatMulInteger", taken, weight, zero, np.zeros(columns, np.int8))
        back = draft.op("Mul", scale, draft.constant(scales, f"{name}.scales"))
        sums = draft.op("Mul", draft.op("Cast", product, to=F32), back)
        x = draft.op("Add", sums, shift, out=f"{name}.out")
        x = draft.op("Relu", x) if index == 0 else x
    draft.output(x, "logits", ["batch", "sequence", 16])
    return draft.finish()


def _rounded(draft: Draft, x: str, name: str, scale: float, zero: int) -> str:
    """Return x through u8 and back."""
    terms = [draft.constant(np.asarray(scale, np.float32), f"{name}.scale"),
             draft.constant(np.asarray(zero, np.uint8), f"{name}.zero")]  # fmt: skip
    codes = draft.op("QuantizeLinear", x, *terms, out=f"{name}.codes")
    return draft.op("DequantizeLinear", codes, *terms, out=f"{name}.back")


def _weight(draft: Draft, random: np.random.Generator, name: str, shape: tuple[int, ...],
            axis: int) -> str:  # fmt: skip
    fan = int(np.prod(shape)) // shape[axis]
    codes, scales = quantised(random.standard_normal(shape) / np.sqrt(fan), axis)
    return draft.op(
        "DequantizeLinear", draft.constant(codes, f"{name}.codes"),
        draft.constant(scales, f"{name}.scales"),
        draft.constant(np.zeros(len(scales), np.int8), f"{name}.zeros"),
        axis=axis, out=f"{name}.weight",
    )  # fmt: skip


def _calibrated() -> onnx.ModelProto:
    draft = Draft()
    random = np.random.default_rng(9)
    x = draft.input("features", ["batch", "sequence", WIDTH])
    x = _rounded(draft, x, "input", 0.04, 128)
    x = draft.op("MatMul", x, _weight(draft, random, "first", (WIDTH, WIDTH), 1))
    shift = draft.constant((0.3 * random.standard_normal(WIDTH)).astype(np.float32), "first.bias")
    x = draft.op("Relu", draft.op("Add", x, shift), out="first.relu")
    x = _rounded(draft, x, "inner", 0.016, 0)
    x = draft.op("MatMul", x, _weight(draft, random, "second", (WIDTH, 16), 1), out="second.out")
    draft.output(x, "logits", ["batch", "sequence", 16])
    return draft.finish()


def _convolved() -> onnx.ModelProto:
    draft = Draft()
    random = np.random.default_rng(10)
    x = draft.input("pixel_values", ["batch", 4, "height", "width"])
    x = _rounded(draft, x, "input", 1 / 128, 64)
    weight = _weight(draft, random, "filters", (4, 4, 3, 3), 0)
    shift = draft.constant((0.3 * random.standard_normal(4)).astype(np.float32), "bias")
    x = draft.op("Conv", x, weight, shift, pads=[1, 1, 1, 1], out="conv")
    x = _rounded(draft, draft.op("Relu", x), "output", 0.02, 0)
    draft.output(x, "map", ["batch", 4, "height", "width"])
    return draft.finish()


def _half() -> onnx.ModelProto:
    """Return one layer of attention and one of GELU in half precision, f32 outside."""
    draft = Draft()
    w = Weights(draft, seed=11)
    x = draft.input("features", ["batch", "sequence", WIDTH])
    normed = blocks.layer_norm(draft, w, x, "norm", WIDTH)
    x = draft.op("Cast", normed, to=F16, out="narrow")
    q, k, v = (
        draft.op("MatMul", x, _to_half(draft, w.matrix(f"{kind}.weight", WIDTH, WIDTH)))
        for kind in "qkv"
    )
    scores = draft.op("MatMul", q, draft.op("Transpose", k, perm=[0, 2, 1]))
    scaled = draft.op("Mul", scores, np.asarray(1 / np.sqrt(WIDTH), np.float16), out="scaled")
    mixed = draft.op("MatMul", draft.op("Softmax", scaled, axis=-1), v)
    wide = draft.op("MatMul", mixed, _to_half(draft, w.matrix("up.weight", WIDTH, 64, gain=1.5)))
    grown = draft.op("Gelu", wide, out="gelu")
    out = draft.op(
        "MatMul", grown, _to_half(draft, w.matrix("down.weight", 64, 16)), out="half_logits"
    )
    draft.output(
        draft.op("Cast", out, to=F32, out="wide_logits"), "logits", ["batch", "sequence", 16]
    )
    return draft.finish()


def _to_half(draft: Draft, name: str) -> str:
    draft.put(name, draft.array(name).astype(np.float16))
    return name


_PLAIN = ({}, {"batch": 1, "sequence": 128})
DYNAMIC = Base("int8-dynamic", _dynamic, features, _PLAIN)
CALIBRATED = Base("int8-qdq", _calibrated, features, _PLAIN)
QCONV = Base("int8-conv", _convolved, pictures, ({}, {"height": 32, "width": 32}))
HALF = Base("f16", _half, features, _PLAIN)
