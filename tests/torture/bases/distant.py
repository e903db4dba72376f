"""Layers whose scores depend on how far apart tokens are, a cross attention, and experts."""

from __future__ import annotations

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.bases import blocks
from torture.bases.blocks import Weights
from torture.bases.decoders import LOWEST
from torture.case import Base
from torture.draft import BOOL, F32, I64, Draft

WIDTH, HEADS, SIZE = 24, 6, 4
BUCKETS, FARTHEST, WINDOW, SINKS = 16, 64, 24, 2
WORDS, EXPERTS, CHOSEN, INNER = 96, 8, 2, 32


def steps(
    *, batch: int = 2, sequence: int = 12, source: int = 9, seed: int = 0
) -> dict[str, Array]:
    """Return rows of numbers to decode, those to look up, and which of the latter are real."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, source + 1, batch)
    lengths[0] = source
    return {
        "hidden": random.standard_normal((batch, sequence, WIDTH)).astype(np.float32),
        "memory": random.standard_normal((batch, source, WIDTH)).astype(np.float32),
        "memory_mask": (np.arange(source) < lengths[:, None]).astype(np.int64),
    }


def _distant() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=21)
    draft.input("hidden", ["batch", "sequence", WIDTH])
    draft.input("memory", ["batch", "source", WIDTH])
    draft.input("memory_mask", ["batch", "source"], I64)
    places = draft.op("Range", 0, draft.size("hidden", 1), 1, out="places")
    column = draft.op("Unsqueeze", places, [1], out="rows")
    back = draft.op("Sub", column, places, out="back")
    seen = draft.op("GreaterOrEqual", back, 0, out="seen")
    x = _layer(draft, w, "hidden", "hidden", "bucketed", _bucketed(draft, w, back, seen))
    x = _layer(draft, w, x, x, "sloped", _sloped(draft, back, seen))
    real = draft.op("Cast", draft.op("Unsqueeze", "memory_mask", [1, 2]), to=BOOL, out="real")
    x = _layer(draft, w, x, "memory", "cross", draft.op("Where", real, 0.0, LOWEST))
    draft.output(x, "decoded", ["batch", "sequence", WIDTH])
    return draft.finish()


def _layer(draft: Draft, w: Weights, x: str, looked_up: str, name: str, bias: str) -> str:
    normed = blocks.layer_norm(draft, w, x, f"{name}.norm", WIDTH)
    q, k, v = (
        blocks.heads_first(
            draft,
            blocks.linear(draft, w, normed if part == "q" or looked_up == x else looked_up,
                          f"{name}.{part}", (WIDTH, WIDTH)),
            HEADS, SIZE, out=f"{name}.{part}_heads",
        )
        for part in "qkv"
    )  # fmt: skip
    mixed = blocks.attended(draft, q, k, v, size=SIZE, bias=bias, name=name)
    out = blocks.linear(draft, w, mixed, f"{name}.proj", (WIDTH, WIDTH))
    return draft.op("Add", x, out, out=f"{name}.residual")


def _bucketed(draft: Draft, w: Weights, back: str, seen: str) -> str:
    """Return a bias by distance: near ones have their own, far ones share one logarithmically."""
    exact = BUCKETS // 2
    away = draft.op("Max", back, 0)
    ratio = draft.op("Div", draft.op("Cast", draft.op("Max", away, 1), to=F32), float(exact))
    share = draft.op("Div", draft.op("Log", ratio), float(np.log(FARTHEST / exact)), out="share")
    far = draft.op("Cast", draft.op("Mul", share, float(BUCKETS - exact)), to=I64, out="far_steps")
    far = draft.op("Min", draft.op("Add", far, exact), BUCKETS - 1, out="far_bucket")
    bucket = draft.op("Where", draft.op("Less", away, exact), away, far, out="bucket")
    bias = draft.op("Gather", w.tensor("bias_table", BUCKETS, HEADS), bucket)
    return draft.op("Where", seen, draft.op("Transpose", bias, perm=[2, 0, 1]), LOWEST)


def _sloped(draft: Draft, back: str, seen: str) -> str:
    """Return a bias that grows with the distance, within a window, the first tokens always seen."""
    first = 2.0 ** -(8 * np.arange(1, 5) / 4)
    more = 2.0 ** -(8 * np.arange(1, 9) / 8)
    slopes = np.concatenate([first, more[::2][: HEADS - 4]]).astype(np.float32)
    away = draft.op("Cast", back, to=F32)
    bias = draft.op(
        "Mul", away, draft.constant(-slopes.reshape(HEADS, 1, 1), "slopes"), out="slope_bias"
    )
    near = draft.op("Less", back, draft.constant(WINDOW, "window"), out="near")
    sink = draft.op("Less", "places", draft.constant(SINKS, "sinks"), out="sink")
    kept = draft.op("And", seen, draft.op("Or", near, sink), out="kept")
    return draft.op("Where", kept, bias, LOWEST)


def words(*, batch: int = 2, sequence: int = 10, seed: int = 0) -> dict[str, Array]:
    """Return sentences."""
    return {"ids": np.random.default_rng(seed).integers(0, WORDS, (batch, sequence))}


def _routed() -> onnx.ModelProto:
    """Return a layer in which each token goes to two of eight experts; the last is rarely best."""
    draft = Draft()
    w = Weights(draft, seed=22)
    draft.input("ids", ["batch", "sequence"], I64)
    x = draft.op("Gather", w.tensor("table", WORDS, WIDTH), "ids", out="embedded")
    normed = blocks.rms_norm(draft, w, x, "norm", WIDTH)
    preference = np.zeros(EXPERTS)
    preference[-1] = -2.0
    scores = draft.op("MatMul", normed, w.matrix("router.weight", WIDTH, EXPERTS, gain=1.5))
    scores = draft.op("Add", scores, w.put("router.bias", preference), out="router.scores")
    best, which = draft.ops("TopK", scores, [CHOSEN], out=["best", "which"], axis=-1)
    shares = draft.op("Softmax", best, axis=-1, out="routed.shares")
    row = draft.op("Unsqueeze", normed, [2, 3])
    wide = draft.op(
        "MatMul", row, draft.op("Gather", w.tensor("up", EXPERTS, WIDTH, INNER, gain=0.3), which)
    )
    grown = blocks.silu(draft, wide)
    down = w.tensor("down", EXPERTS, INNER, WIDTH, gain=0.2)
    narrow = draft.op("MatMul", grown, draft.op("Gather", down, which))
    each = draft.op("Squeeze", narrow, [3], out="each")
    weighted = draft.op("Mul", each, draft.op("Unsqueeze", shares, [-1]), out="weighted")
    summed = draft.op("ReduceSum", weighted, [2], keepdims=0, out="summed")
    x = draft.op("Add", x, summed, out="residual")
    logits = blocks.linear(draft, w, x, "head", (WIDTH, WORDS))
    draft.output(logits, "logits", ["batch", "sequence", WORDS])
    return draft.finish()


DISTANT = Base("distant", _distant, steps, ({}, {"batch": 1, "sequence": 20, "source": 20}))
ROUTED = Base("routed", _routed, words, ({}, {"batch": 1, "sequence": 6, "seed": 1}))
