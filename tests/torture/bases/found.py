"""A head as detectors have it (decode, threshold, suppress, the best few), and an LSTM."""

from __future__ import annotations

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.bases.blocks import Weights
from torture.case import Base
from torture.draft import I32, I64, Draft

CLASSES, FEATURES, HIDDEN = 5, 12, 8


def proposals(*, boxes: int = 24, seed: int = 0) -> dict[str, Array]:
    """Return what a network says of each anchor: where, how large, and how sure of each class."""
    random = np.random.default_rng(seed)
    return {
        "deltas": random.standard_normal((boxes, 4)).astype(np.float32),
        "scores": random.standard_normal((boxes, CLASSES)).astype(np.float32),
    }


def _detector() -> onnx.ModelProto:
    draft = Draft()
    deltas = draft.input("deltas", ["boxes", 4])
    scores = draft.input("scores", ["boxes", CLASSES])
    centre, grown = draft.ops("Split", deltas, [2, 2], out=2, axis=1)
    extent = draft.op("Exp", draft.op("Clip", grown, -10.0, 4.135, out="clipped"), out="extent")
    corner = [draft.op(kind, centre, draft.op("Mul", extent, 0.5)) for kind in ("Sub", "Add")]
    boxes = draft.op("Concat", *corner, axis=1, out="decoded")
    likely = draft.op("Sigmoid", scores, out="likely")
    best = draft.op("ReduceMax", likely, [1], keepdims=0, out="best")
    label = draft.op("ArgMax", likely, axis=1, keepdims=0, out="label")
    few = draft.op("Unsqueeze", draft.op("Min", draft.size(scores, 0), 10), [0], out="few")
    top, order = draft.ops("TopK", best, few, out=["top", "order"], axis=0)
    sure = draft.op("Greater", best, 0.5, out="sure")
    kept = draft.op("Squeeze", draft.op("NonZero", sure), [0], out="kept_inner")
    picked = draft.op(
        "NonMaxSuppression",
        draft.op("Unsqueeze", boxes, [0]),
        draft.op("Unsqueeze", draft.op("Transpose", likely, perm=[1, 0]), [0]),
        20,
        np.asarray([0.45], np.float32),
        np.asarray([0.4], np.float32),
    )
    draft.output(draft.op("Gather", boxes, order), "top_boxes", ["k", 4])
    draft.output(top, "top_scores", ["k"])
    draft.output(draft.op("Gather", label, order), "top_labels", ["k"], I64)
    draft.output(kept, "kept", ["m"], I64)
    draft.output(picked, "picked", ["p", 3], I64)
    return draft.finish()


def frames(*, batch: int = 2, sequence: int = 9, seed: int = 0) -> dict[str, Array]:
    """Return frames of sound, and how many of each row are real."""
    random = np.random.default_rng(seed)
    lengths = np.full(batch, sequence, np.int32)
    return {
        "frames": random.standard_normal((sequence, batch, FEATURES)).astype(np.float32),
        "lengths": lengths,
        "initial": random.standard_normal((2, batch, HIDDEN)).astype(np.float32),
    }


def _lstm() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=12)
    x = draft.input("frames", ["sequence", "batch", FEATURES])
    lengths = draft.input("lengths", ["batch"], I32)
    initial = draft.input("initial", [2, "batch", HIDDEN])
    every, last, cell = draft.ops(
        "LSTM",
        x,
        w.tensor("W", 2, 4 * HIDDEN, FEATURES, gain=0.5),
        w.tensor("R", 2, 4 * HIDDEN, HIDDEN, gain=0.5),
        w.tensor("B", 2, 8 * HIDDEN, gain=0.3),
        lengths,
        initial,
        out=["every", "last_inner", "cell_inner"],
        hidden_size=HIDDEN,
        direction="bidirectional",
    )
    joined = draft.op("Reshape", draft.op("Transpose", every, perm=[0, 2, 1, 3]), [0, 0, -1])
    draft.output(joined, "states", ["sequence", "batch", 2 * HIDDEN])
    draft.output(last, "last", [2, "batch", HIDDEN])
    draft.output(cell, "cell", [2, "batch", HIDDEN])
    return draft.finish()


DETECTOR = Base("detector", _detector, proposals, ({}, {"boxes": 100}))
LSTM = Base("lstm", _lstm, frames, ({}, {"batch": 1, "sequence": 20}))
