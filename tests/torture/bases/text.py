"""Encoders: the bundled bert-mini in both exports, and bert-mini as burnish rewrites it."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.case import Base

EXAMPLES = Path(__file__).parents[3] / "examples" / "bert-mini"
WORDS, POSITIONS, WIDTH, HEADS = 1000, 128, 128, 2


def tokens(*, batch: int = 2, sequence: int = 128, seed: int = 0) -> dict[str, Array]:
    """Return sentences; every row but the first is padded on the right."""
    random = np.random.default_rng(seed)
    shape = (batch, sequence)
    lengths = random.integers(1, max(sequence, 2), batch)
    lengths[0] = sequence
    return {
        "input_ids": random.integers(0, WORDS, shape),
        "attention_mask": (np.arange(sequence) < lengths[:, None]).astype(np.int64),
        "token_type_ids": random.integers(0, 2, shape),
    }


def _example(export: str) -> Base:
    path = EXAMPLES / export / f"bert-mini_{export}.onnx"
    plain = ({"batch": 1}, {"batch": 2}, {"batch": 3, "sequence": 7})
    return Base(f"bert-{export}", lambda: onnx.load(path), tokens, plain)


BERT = _example("dynamo")
BERT_SCRIPT = _example("torchscript")


def rewritten(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model as `burnish optimize` rewrites it."""
    return onnx.ModelProto.FromString(_rewritten(model.SerializeToString(deterministic=True)))


@functools.cache
def _rewritten(content: bytes) -> bytes:
    import onnx_ir as ir

    from burnish.rewrite.pipeline import optimize

    model = ir.serde.deserialize_model(onnx.ModelProto.FromString(content))
    written: bytes = ir.serde.serialize_model(optimize(model).model).SerializeToString()
    return written
