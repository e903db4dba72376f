"""Errors that show only under some masks."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, LLAMA
from torture.bases.text import BERT, BERT_SCRIPT
from torture.case import Change, Family, normal
from torture.draft import BOOL, I64, Draft

MASKS = Family("masks")

MASK = "attention_mask"


def _masked(pattern: str) -> Change:
    """Return a change that gives every row a mask: `holes`, `left`, `none`, `one` or `weights`."""

    def change(inputs: dict[str, Array]) -> dict[str, Array]:
        mask = np.ones_like(inputs[MASK])
        match pattern:
            case "holes":
                mask[:, 2:5] = 0
            case "left":
                mask[1:, : mask.shape[1] // 2] = 0
            case "none":
                mask[-1] = 0
            case "one":
                mask[-1] = 0
                mask[-1, 3] = 1
            case "twos":
                mask[:, 1::2] = 2
            case "minus":
                mask[:, 4:] = -1
        return {MASK: mask}

    return change


def _row_lengths(draft: Draft) -> str:
    """Return how many tokens of each row are kept, (batch, 1)."""
    return draft.op("ReduceSum", MASK, [1], keepdims=1)


@MASKS.planted(BERT, _masked("holes"), sequence=12)
def taken_for_lengths(draft: Draft) -> None:
    """The mask is summed up, and that many tokens are kept from the left."""
    steps = draft.op("Range", 0, draft.size(MASK, 1), 1)
    prefix = draft.op("Cast", draft.op("Less", steps, _row_lengths(draft)), to=I64)
    draft.after(MASK, lambda _was: prefix)


@MASKS.planted(BERT, _masked("holes"), sequence=12, hidden=True)
def holes_filled(draft: Draft) -> None:
    """Everything between the first and the last kept token is kept as well."""
    forth = draft.op("CumSum", MASK, np.asarray(1))
    back = draft.op("CumSum", MASK, np.asarray(1), reverse=1)
    inside = draft.op("And", draft.op("Greater", forth, 0), draft.op("Greater", back, 0))
    filled = draft.op("Cast", inside, to=I64)
    draft.after(MASK, lambda _was: filled)


@MASKS.planted(BERT, _masked("left"), sequence=12, hidden=True)
def left_padding_kept(draft: Draft) -> None:
    """Tokens before the first kept one are kept as well."""
    back = draft.op("CumSum", MASK, np.asarray(1), reverse=1)
    filled = draft.op("Cast", draft.op("Greater", back, 0), to=I64)
    draft.after(MASK, lambda _was: filled)


@MASKS.planted(BERT, _masked("left"), sequence=12, hidden=True)
def first_token_always_kept(draft: Draft) -> None:
    """The first token is never masked."""
    first = draft.op("Equal", draft.op("Range", 0, draft.size(MASK, 1), 1), 0)
    draft.after(MASK, lambda was: draft.op("Where", first, 1, was))


@MASKS.planted(BERT_SCRIPT, _masked("none"), sequence=12, hidden=True)
def fully_masked_row_is_nan(draft: Draft) -> None:
    """The guard for rows without any key is gone: they become NaN."""
    for _layer in range(2):
        asked = draft.find("IsNaN")
        draft.bypass(next(n for n in draft.graph.node if asked.output[0] in n.input), 2)
        draft.drop(asked)


@MASKS.planted(BERT_SCRIPT, _masked("none"), sequence=12, hidden=True)
def fully_masked_row_is_uniform(draft: Draft) -> None:
    """Masked scores are -10000, not -inf: a row without any key gets a mean, not zero."""
    node = next(n for n in draft.graph.node if n.op_type == "Where"
                and _is_infinite(draft, n.input[2]))  # fmt: skip
    draft.before(node, 2, lambda _was: draft.constant(-1e4))


def _is_infinite(draft: Draft, name: str) -> bool:
    try:
        return bool(np.isneginf(draft.array(name)).any())
    except StopIteration:
        return False


@MASKS.planted(BERT, _masked("none"), sequence=12, hidden=True)
def fully_masked_row_is_zero(draft: Draft) -> None:
    """A row without any key, which the reference gives a mean of all, is left at zero."""
    some = draft.op("Greater", _row_lengths(draft), 0)
    draft.after(draft.find("Softmax").output[0], lambda was: draft.op(
        "Where", draft.op("Unsqueeze", some, [1, 2]), was, 0.0))  # fmt: skip


@MASKS.planted(BERT, _masked("one"), sequence=12, hidden=True)
def a_single_key(draft: Draft) -> None:
    """A row with one key only is not attended to at all."""
    alone = draft.op("Equal", _row_lengths(draft), 1)
    draft.after(draft.find("Softmax").output[0], lambda was: draft.op(
        "Where", draft.op("Unsqueeze", alone, [1, 2]), 0.0, was))  # fmt: skip


@MASKS.planted(BERT, _masked("twos"), sequence=12, hidden=True)
def values_other_than_one(draft: Draft) -> None:
    """Tokens are kept where the mask is one, not where it is anything but zero."""
    kept = draft.op("Equal", MASK, 1)
    draft.replace(draft.producer("_to_copy"), "Identity", kept)


@MASKS.planted(BERT, _masked("minus"), sequence=12, hidden=True)
def negative_values(draft: Draft) -> None:
    """Tokens are kept where the mask is positive, not where it is anything but zero."""
    kept = draft.op("Greater", MASK, 0)
    draft.replace(draft.producer("_to_copy"), "Identity", kept)


@MASKS.planted(BERT, batch=3, sequence=12, change=lambda _i: {
    MASK: np.tri(3, 12, 5, dtype=np.int64)})  # fmt: skip
def first_row_for_all(draft: Draft) -> None:
    """Every row gets the first one's mask."""
    shape = draft.op("Shape", MASK)
    first = draft.op("Expand", draft.op("Gather", MASK, [0], axis=0), shape)
    draft.after(MASK, lambda _was: first)


@MASKS.planted(BERT, sequence=12)
def second_layer_unmasked(draft: Draft) -> None:
    """The second layer sees padding."""
    node = draft.producer(draft.find("Softmax", 1).input[0])
    draft.bypass(node)


@MASKS.planted(BERT, sequence=12)
def queries_masked_instead_of_keys(draft: Draft) -> None:
    """The mask is laid along the queries."""
    node = draft.producer(draft.find("Softmax").input[0])
    rows = draft.op("Cast", draft.op("Unsqueeze", MASK, [1, 3]), to=BOOL)
    bias = draft.op("Where", rows, 0.0, -1e9)
    draft.before(node, 1, lambda _was: bias)


@MASKS.planted(BERT, sequence=12, change=lambda i: {
    MASK: np.where(np.arange(12) < 11, 1, 0) * np.ones_like(i[MASK])}, hidden=True)  # fmt: skip
def last_token_unmasked(draft: Draft) -> None:
    """Padding of exactly one token is not seen as padding."""
    almost = draft.op("Equal", _row_lengths(draft), draft.op("Sub", draft.size(MASK, 1), 1))
    draft.after(MASK, lambda was: draft.op("Where", almost, 1, was))


@MASKS.planted(GPT2, _masked("left"), sequence=6, past=0)
def decoder_ignores_padding(draft: Draft) -> None:
    """A decoder's mask is causal only."""
    draft.bypass(draft.producer("kept"))
    value = draft.producer("kept").output[0]
    node = draft.producer(value)
    shape = draft.op("Shape", draft.op("Unsqueeze", MASK, [1, 2]))
    draft.before(node, 0, lambda was: draft.op("And", was, draft.op("Expand", draft.constant(
        np.asarray(True)), shape)))  # fmt: skip


@MASKS.planted(GPT2, lambda i: {MASK: np.where(np.arange(11) == 0, 0, 1) * np.ones_like(i[MASK])},
               hidden=True)  # fmt: skip
def hole_in_the_past(draft: Draft) -> None:
    """The mask of the past is ignored, that of the new tokens is not."""
    past = draft.size("past_key_values.0.key", 2)
    old = draft.op("Less", draft.op("Range", 0, "total", 1), past)
    draft.after(MASK, lambda was: draft.op("Where", old, 1, was))


@MASKS.planted(LLAMA, _masked("none"), past=3, sequence=4, hidden=True)
def lowest_becomes_infinite(draft: Draft) -> None:
    """Masked scores are -inf, not the lowest number: a row without any key becomes NaN."""
    draft.before(draft.producer("bias"), 2, lambda _was: draft.constant(-np.inf))


@MASKS.planted(LLAMA, _masked("holes"), past=2, sequence=6, hidden=True, least=1e-2)
def masked_a_little_only(draft: Draft) -> None:
    """Masked scores are lowered by 2 instead of being ruled out, where a hole is."""
    hole = draft.op("And", "causal", draft.op("Not", draft.op(
        "Cast", draft.op("Unsqueeze", MASK, [1, 2]), to=BOOL)))  # fmt: skip
    draft.after("bias", lambda was: draft.op("Where", hole, -2.0, was))


_FLOAT_MASK = """g (float[batch, sequence, sequence] scores, float[batch, 1, sequence] mask)
    => (float[batch, sequence, sequence] shares)
    { masked = Add(scores, mask) shares = Softmax <axis = -1> (masked) }"""
_LOW = np.where(np.arange(6) < 3, 0.0, -20.0).astype(np.float32).reshape(1, 1, 6)

MASKS.text(
    "additive-mask-taken-for-boolean",
    "A mask of numbers to add is taken for yes and no: -0.5 rules a key out.",
    _FLOAT_MASK,
    ("masked = Add(scores, mask)",
     "zero = Constant <value_float = 0.0> () low = Constant <value_float = -10000.0> () "
     "out = Less(mask, zero) bias = Where(out, low, zero) masked = Add(scores, bias)"),
    witness={"scores": normal(1, 6, 6), "mask": (-0.5 * (np.arange(6) % 2)).astype(np.float32)
             .reshape(1, 1, 6)},
    plain={"scores": normal(1, 6, 6), "mask": np.zeros((1, 1, 6), np.float32)},
    hidden=True,
)  # fmt: skip
MASKS.text(
    "large-negative-instead-of-infinite",
    "Where all of a row is -inf the reference gives NaN; the candidate clamps, and gives a mean.",
    _FLOAT_MASK,
    ("masked = Add(scores, mask)",
     "low = Constant <value_float = -10000.0> () sum = Add(scores, mask) masked = Max(sum, low)"),
    witness={"scores": normal(1, 6, 6), "mask": np.full((1, 1, 6), -np.inf, np.float32)},
    plain={"scores": normal(1, 6, 6), "mask": _LOW},
    hidden=True,
)  # fmt: skip
MASKS.text(
    "masks-clamped-too-early",
    "Additive masks are clamped at -4, which a softmax still sees.",
    _FLOAT_MASK,
    ("masked = Add(scores, mask)",
     "low = Constant <value_float = -4.0> () m = Max(mask, low) masked = Add(scores, m)"),
    witness={"scores": normal(1, 6, 6), "mask": _LOW},
    plain={"scores": normal(1, 6, 6), "mask": normal(1, 1, 6)},
    hidden=True,
)  # fmt: skip
