"""Decoders with past: one as GPT-2 is, one as Llama is (rotary, RMS norm, grouped heads)."""

from __future__ import annotations

import numpy as np
import onnx

from burnish.core.arrays import Array
from torture.bases import blocks
from torture.bases.blocks import Weights
from torture.case import Base
from torture.draft import BOOL, F32, I64, Draft

LAYERS, WIDTH, HEADS, SIZE, KV_HEADS = 2, 32, 4, 8, 2
WORDS, POSITIONS = 131, 64
LOWEST = float(np.finfo(np.float32).min)


def fed(*, heads: int, positions: bool, batch: int = 2, sequence: int = 6, past: int = 5,
        seed: int = 0) -> dict[str, Array]:  # fmt: skip
    """Return a step of generation: some tokens, and the keys and values of those before."""
    random = np.random.default_rng(seed)
    inputs: dict[str, Array] = {
        "input_ids": random.integers(0, WORDS, (batch, sequence)),
        "attention_mask": np.ones((batch, past + sequence), np.int64),
    }
    if positions:
        steps = past + np.arange(sequence)
        inputs["position_ids"] = np.broadcast_to(steps, (batch, sequence)).copy()
    for layer in range(LAYERS):
        for kind in ("key", "value"):
            cache = random.standard_normal((batch, heads, past, SIZE))
            inputs[f"past_key_values.{layer}.{kind}"] = cache.astype(np.float32)
    return inputs


def _kept(draft: Draft) -> tuple[str, str]:
    """Return which keys each query sees, (batch, 1, sequence, total), and the past's length."""
    past = draft.size("past_key_values.0.key", 2)
    total = draft.op("Add", past, draft.size("input_ids", 1), out="total")
    columns = draft.op("Range", 0, total, 1)
    rows = draft.op("Unsqueeze", draft.op("Range", past, total, 1), [1])
    causal = draft.op("LessOrEqual", columns, rows, out="causal")
    padding = draft.op("Cast", draft.op("Unsqueeze", "attention_mask", [1, 2]), to=BOOL)
    return draft.op("And", causal, padding, out="kept"), past


def _interface(draft: Draft, heads: int, *, positions: bool) -> None:
    draft.input("input_ids", ["batch", "sequence"], I64)
    draft.input("attention_mask", ["batch", "past_sequence + sequence"], I64)
    if positions:
        draft.input("position_ids", ["batch", "sequence"], I64)
    for layer in range(LAYERS):
        for kind in ("key", "value"):
            draft.input(f"past_key_values.{layer}.{kind}", ["batch", heads, "past_sequence", SIZE])


def _extended(draft: Draft, layer: int, kind: str, new: str) -> str:
    """Return the past with the new steps behind it, which is also given back."""
    past = f"past_key_values.{layer}.{kind}"
    return draft.op("Concat", past, new, axis=2, out=f"layer.{layer}.{kind}")


def _give_back(draft: Draft, heads: int, hidden: str, head: str) -> onnx.ModelProto:
    logits = draft.op("MatMul", hidden, head)
    draft.output(logits, "logits", ["batch", "sequence", WORDS], F32)
    for layer in range(LAYERS):
        for kind in ("key", "value"):
            shape = ["batch", heads, "past_sequence + sequence", SIZE]
            draft.output(f"layer.{layer}.{kind}", f"present.{layer}.{kind}", shape)
    return draft.finish()


def _gpt2() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=1)
    _interface(draft, HEADS, positions=False)
    kept, past = _kept(draft)
    bias = draft.op("Where", kept, 0.0, LOWEST, out="bias")
    words = w.tensor("wte", WORDS, WIDTH)
    steps = draft.op("Range", past, "total", 1, out="positions")
    table = w.tensor("wpe", POSITIONS, WIDTH, gain=0.7)
    x = draft.op("Add", draft.op("Gather", words, "input_ids"), draft.op("Gather", table, steps))
    for layer in range(LAYERS):
        x = _gpt2_layer(draft, w, x, layer, bias)
    hidden = blocks.layer_norm(draft, w, x, "final", WIDTH)
    return _give_back(draft, HEADS, hidden, draft.op("Transpose", words, perm=[1, 0]))


def _gpt2_layer(draft: Draft, w: Weights, x: str, layer: int, bias: str) -> str:
    name = f"layer.{layer}"
    normed = blocks.layer_norm(draft, w, x, f"{name}.norm1", WIDTH)
    joined = blocks.linear(draft, w, normed, f"{name}.qkv", (WIDTH, 3 * WIDTH), gain=1.5)
    parts = draft.ops("Split", joined, [WIDTH] * 3, out=3, axis=-1)
    q, k, v = (blocks.heads_first(draft, part, HEADS, SIZE) for part in parts)
    keys, values = _extended(draft, layer, "key", k), _extended(draft, layer, "value", v)
    mixed = blocks.attended(draft, q, keys, values, size=SIZE, bias=bias, name=name)
    x = draft.op("Add", x, blocks.linear(draft, w, mixed, f"{name}.proj", (WIDTH, WIDTH)))
    normed = blocks.layer_norm(draft, w, x, f"{name}.norm2", WIDTH)
    wide = blocks.linear(draft, w, normed, f"{name}.up", (WIDTH, 64), gain=1.5)
    grown = blocks.gelu_tanh(draft, wide)
    return draft.op("Add", x, blocks.linear(draft, w, grown, f"{name}.down", (64, WIDTH)),
                    out=f"{name}.residual")  # fmt: skip


def _llama() -> onnx.ModelProto:
    draft = Draft()
    w = Weights(draft, seed=2)
    _interface(draft, KV_HEADS, positions=True)
    kept, _ = _kept(draft)
    bias = draft.op("Where", kept, 0.0, LOWEST, out="bias")
    angles = np.outer(np.arange(POSITIONS), 10000.0 ** (-np.arange(SIZE // 2) / (SIZE // 2)))
    both = np.concatenate([angles, angles], axis=-1)
    turn = [
        draft.op("Unsqueeze", draft.op("Gather", w.put(name, table), "position_ids"), [1])
        for name, table in (("cos", np.cos(both)), ("sin", np.sin(both)))
    ]
    x = draft.op("Gather", w.tensor("words", WORDS, WIDTH), "input_ids")
    for layer in range(LAYERS):
        x = _llama_layer(draft, w, x, layer, (bias, *turn))
    hidden = blocks.rms_norm(draft, w, x, "final", WIDTH)
    return _give_back(draft, KV_HEADS, hidden, w.matrix("head", WIDTH, WORDS))


def _llama_layer(draft: Draft, w: Weights, x: str, layer: int, shared: tuple[str, str, str]) -> str:
    name = f"layer.{layer}"
    bias, cos, sin = shared
    normed = blocks.rms_norm(draft, w, x, f"{name}.norm1", WIDTH)
    q, k, v = (
        blocks.heads_first(
            draft,
            blocks.linear(draft, w, normed, f"{name}.{kind}", (WIDTH, heads * SIZE), gain=1.5,
                          bias=False),
            heads, SIZE, out=f"{name}.{kind}_heads",
        )
        for kind, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))
    )  # fmt: skip
    q, k = (_rotated(draft, each, cos, sin, f"{name}.{kind}_rotated")
            for each, kind in ((q, "q"), (k, "k")))  # fmt: skip
    keys = _repeated(draft, _extended(draft, layer, "key", k), f"{name}.keys")
    values = _repeated(draft, _extended(draft, layer, "value", v), f"{name}.values")
    mixed = blocks.attended(draft, q, keys, values, size=SIZE, bias=bias, name=name)
    out = blocks.linear(draft, w, mixed, f"{name}.proj", (WIDTH, WIDTH), bias=False)
    x = draft.op("Add", x, out)
    normed = blocks.rms_norm(draft, w, x, f"{name}.norm2", WIDTH)
    gate = blocks.linear(draft, w, normed, f"{name}.gate", (WIDTH, 64), gain=1.5, bias=False)
    up = blocks.linear(draft, w, normed, f"{name}.up", (WIDTH, 64), bias=False)
    grown = draft.op("Mul", blocks.silu(draft, gate), up, out=f"{name}.grown")
    down = blocks.linear(draft, w, grown, f"{name}.down", (64, WIDTH), bias=False)
    return draft.op("Add", x, down, out=f"{name}.residual")


def _rotated(draft: Draft, x: str, cos: str, sin: str, out: str) -> str:
    """Return x turned by its position, the halves of a head being the two coordinates."""
    first, second = draft.ops("Split", x, [SIZE // 2] * 2, out=2, axis=-1)
    turned = draft.op("Concat", draft.op("Neg", second), first, axis=-1, out=f"{out}.turned")
    return draft.op("Add", draft.op("Mul", x, cos), draft.op("Mul", turned, sin), out=out)


def _repeated(draft: Draft, x: str, out: str) -> str:
    """Return each head of keys or values once for every query head that reads it."""
    one = draft.op("Unsqueeze", x, [2], out=f"{out}.one")
    shape = draft.op("Concat", [1], [1], [HEADS // KV_HEADS], [1], [1], axis=0)
    many = draft.op("Expand", one, shape, out=f"{out}.many")
    return draft.op("Reshape", many, [0, HEADS, -1, SIZE], out=out)


def _gpt2_fed(**sizes: int) -> dict[str, Array]:
    return fed(heads=HEADS, positions=False, **sizes)


def _llama_fed(**sizes: int) -> dict[str, Array]:
    return fed(heads=KV_HEADS, positions=True, **sizes)


_PLAIN = ({}, {"batch": 1, "sequence": 1, "past": 16}, {"batch": 3, "sequence": 7, "past": 5})
GPT2 = Base("gpt2", _gpt2, _gpt2_fed, _PLAIN)
LLAMA = Base("llama", _llama, _llama_fed, _PLAIN)
