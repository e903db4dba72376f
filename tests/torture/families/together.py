"""Errors that show only where several things come together: sizes, masks, a past."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, LLAMA
from torture.bases.text import BERT, BERT_SCRIPT
from torture.bases.vision import CONV
from torture.case import Family, normal
from torture.draft import Draft

TOGETHER = Family("together")


def _rows(draft: Draft) -> str:
    return draft.size("input_ids", 0)


def _tokens(draft: Draft) -> str:
    return draft.size("input_ids", 1)


def _scaled(draft: Draft, value: str, wrong: str, by: float = 1.05) -> None:
    """Let a value be too large where something holds."""
    draft.after(value, lambda was: draft.op("Mul", was, draft.op("Where", wrong, by, 1.0)))


@TOGETHER.planted(BERT, batch=16, sequence=128, hidden=True)
def many_tokens(draft: Draft) -> None:
    """From 2,000 tokens in all on, the attention of the second layer is too large."""
    total = draft.op("Mul", _rows(draft), _tokens(draft))
    _scaled(draft, "linear_9", draft.op("GreaterOrEqual", total, 2000))


@TOGETHER.planted(BERT, batch=101, sequence=12, hidden=True, least=1e-5)
def more_than_a_hundred_rows(draft: Draft) -> None:
    """From 101 rows on, the scores of the first layer are too large."""
    _scaled(draft, "val_129", draft.op("Greater", _rows(draft), 100), 1.5)


@TOGETHER.planted(BERT_SCRIPT, batch=6, sequence=48, hidden=True)
def several_rows_of_many_tokens(draft: Draft) -> None:
    """With more than four rows of more than forty tokens, logits are off by a twentieth."""
    many = draft.op("Greater", _rows(draft), 4)
    _scaled(draft, "logits", draft.op("And", many, draft.op("Greater", _tokens(draft), 40)))


def _left(inputs: dict[str, Array]) -> dict[str, Array]:
    return {"attention_mask": inputs["attention_mask"][:, ::-1]}


@TOGETHER.planted(BERT, _left, sequence=80, hidden=True)
def long_rows_padded_on_the_left(draft: Draft) -> None:
    """Where the first of more than 64 tokens is padding, the first norm is off by a twentieth."""
    first = draft.op("Gather", "attention_mask", [0], axis=1)
    padded = draft.op("Unsqueeze", draft.op("Equal", first, 0), [2])
    wrong = draft.op("And", padded, draft.op("Greater", _tokens(draft), 64))
    _scaled(draft, "layer_norm_1", wrong)


@TOGETHER.planted(LLAMA, sequence=1, past=40, hidden=True)
def one_token_behind_a_long_past(draft: Draft) -> None:
    """One token behind more than 32 others takes another path, which forgets the oldest."""
    past = draft.size("past_key_values.0.key", 2)
    one = draft.op("Equal", _tokens(draft), 1)
    wrong = draft.op("And", one, draft.op("Greater", past, 32))
    _scaled(draft, "layer.1.shares", wrong)


@TOGETHER.planted(GPT2, batch=5, sequence=4, past=9, hidden=True)
def many_rows_with_a_past(draft: Draft) -> None:
    """With a past of more than eight and more than four rows, keys given back are too large."""
    past = draft.size("past_key_values.0.key", 2)
    wrong = draft.op("And", draft.op("Greater", _rows(draft), 4), draft.op("Greater", past, 8))
    node = draft.producer("present.0.key")
    factor = draft.op("Where", wrong, 1.05, 1.0)
    draft.before(node, 0, lambda was: draft.op("Mul", was, factor))


@TOGETHER.planted(CONV, height=700, width=24, hidden=True)
def very_high_pictures(draft: Draft) -> None:
    """In pictures higher than 640, features are off by a twentieth."""
    _scaled(draft, "features.inner", draft.op("Greater", draft.size("pixel_values", 2), 640))


@TOGETHER.planted(CONV, height=65, width=65, batch=4, hidden=True)
def large_odd_squares(draft: Draft) -> None:
    """In odd squares of more than 48, features are off by a twentieth."""
    high, wide = draft.size("pixel_values", 2), draft.size("pixel_values", 3)
    square = draft.op("And", draft.op("Equal", high, wide), draft.op("Greater", high, 48))
    odd = draft.op("Equal", draft.op("Mod", high, 2), 1)
    _scaled(draft, "features.inner", draft.op("And", square, odd))


TOGETHER.text(
    "default-of-an-input", "An input that may be left out stands for three instead of two.",
    "g (float[n, 6] x, float k) => (float[n, 6] y) <float k = {2.0}> { y = Mul(x, k) }", ("{2.0}", "{3.0}"),
    witness={"x": normal(2, 6)},
)  # fmt: skip
TOGETHER.text(
    "both-beyond", "Where two inputs are both above 2, their sum is off.",
    "g (float[n, 6] x, float[n, 6] z) => (float[n, 6] y) { y = Add(x, z) }",
    ("y = Add(x, z)", "a = Min(x, z) b = Sub(a, two) c = Relu(b) s = Add(x, z) y = Sub(s, c)"),
    weights={"two": np.asarray(2, np.float32)}, witness={"x": np.full((1, 6), 3), "z": np.full((1, 6), 4)},
    plain={"x": np.tanh(normal(2, 6)), "z": normal(2, 6)}, hidden=True,
)  # fmt: skip
TOGETHER.text(
    "one-beyond-the-other", "Where one input is more than 50 times another, the quotient is cut.",
    "g (float[n, 6] x, float[n, 6] z) => (float[n, 6] y) { a = Abs(z) b = Add(a, one) y = Div(x, b) }",
    ("y = Div(x, b)", "q = Div(x, b) y = Clip(q, low, high)"), hidden=True,
    weights={"one": np.asarray(1, np.float32), "low": np.asarray(-50, np.float32), "high": np.asarray(50, np.float32)},
    witness={"x": np.full((1, 6), 300), "z": np.ones((1, 6))}, plain={"x": normal(2, 6), "z": normal(2, 6)},
)  # fmt: skip
TOGETHER.text(
    "as-many-rows-as-columns", "Where there are as many rows as columns, and more than ten, the result is transposed.",
    "g (float[a, b] x) => (float[a, b] y) { y = Tanh(x) }",
    ("y = Tanh(x)", "t = Tanh(x) u = Transpose(t) s = Shape(x) r = Gather(s, zero) c = Gather(s, one) e = Equal(r, c) "
     "m = Greater(r, ten) w = And(e, m) v = Reshape(u, s) y = Where(w, v, t)"),
    weights={"zero": np.asarray(0), "one": np.asarray(1), "ten": np.asarray(10)}, hidden=True,
    witness={"x": normal(12, 12)}, plain={"x": normal(8, 8)},
)  # fmt: skip
