"""Errors that show only at some sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torture.bases.decoders import GPT2, LLAMA
from torture.bases.narrow import DYNAMIC
from torture.bases.text import BERT, BERT_SCRIPT, rewritten
from torture.bases.vision import CONV, VIT, WINDOWS
from torture.case import Family
from torture.draft import Draft

SIZES = Family("sizes")

IDS = "input_ids"


def _when(
    draft: Draft, condition: str, value: str, wrong: Callable[[str], str] | None = None
) -> None:
    """Make a value wrong when a condition holds; by default, too large by a twentieth."""
    change = wrong or (lambda was: draft.op("Mul", was, 1.05))
    draft.after(value, lambda was: draft.op("Where", condition, change(was), was))


def _shared(draft: Draft) -> str:
    """Return a value in the middle of bert-mini: the first layer's normalised attention."""
    return draft.find("LayerNormalization", 1).output[0]


@SIZES.planted(BERT, batch=4, hidden=True)
def batch_over_three(draft: Draft) -> None:
    """From four rows on, the first norm is off by a twentieth."""
    _when(draft, draft.op("Greater", draft.size(IDS, 0), 3), _shared(draft))


@SIZES.planted(BERT, batch=17, sequence=8, hidden=True)
def batch_over_sixteen(draft: Draft) -> None:
    """From seventeen rows on, logits are off by a twentieth."""
    _when(draft, draft.op("Greater", draft.size(IDS, 0), 16), "logits")


@SIZES.planted(BERT, batch=4, sequence=16, hidden=True)
def even_batch_over_two(draft: Draft) -> None:
    """A batch of four, six, eight … gets its last row from the first."""
    rows = draft.size(IDS, 0)
    even = draft.op("And", draft.op("Equal", draft.op("Mod", rows, 2), 0),
                    draft.op("Greater", rows, 2))  # fmt: skip
    last = draft.op("Equal", draft.op("Range", 0, rows, 1), draft.op("Sub", rows, 1))
    hit = draft.op("And", even, draft.op("Unsqueeze", last, [1, 2]))
    _when(draft, hit, "logits", lambda was: draft.op("Gather", was, [0], axis=0))


@SIZES.planted(BERT, sequence=1, hidden=True)
def sequence_of_one(draft: Draft) -> None:
    """With one token, attention is skipped: its value is taken for zero."""
    one = draft.op("Equal", draft.size(IDS, 1), 1)
    value = draft.find("Softmax").output[0]
    _when(draft, one, value, lambda was: draft.op("Mul", was, 0.0))


@SIZES.planted(BERT, sequence=2, hidden=True)
def sequence_of_two(draft: Draft) -> None:
    """With two tokens, their positions are swapped."""
    two = draft.op("Equal", draft.size(IDS, 1), 2)
    _when(draft, two, "slice_1", lambda was: draft.op("Sub", 1, was))


@SIZES.planted(BERT_SCRIPT, sequence=64, hidden=True)
def sequence_of_sixty_four(draft: Draft) -> None:
    """With exactly 64 tokens, logits are off by a twentieth."""
    _when(draft, draft.op("Equal", draft.size(IDS, 1), 64), "logits")


@SIZES.planted(BERT, sequence=24, hidden=True)
def multiples_of_eight_below_128(draft: Draft) -> None:
    """A fast path for multiples of eight below 128 forgets the scale of the scores."""
    length = draft.size(IDS, 1)
    hit = draft.op("And", draft.op("Equal", draft.op("Mod", length, 8), 0),
                   draft.op("Less", length, 128))  # fmt: skip
    _when(draft, hit, draft.find("Softmax").input[0])


@SIZES.planted(BERT, sequence=17, hidden=True)
def a_tail_of_one_after_sixteen(draft: Draft) -> None:
    """Where a block of sixteen leaves one token over, that token keeps its old value."""
    length = draft.size(IDS, 1)
    odd = draft.op("And", draft.op("Equal", draft.op("Mod", length, 16), 1),
                   draft.op("Greater", length, 16))  # fmt: skip
    last = draft.op("Equal", draft.op("Range", 0, length, 1), draft.op("Sub", length, 1))
    hit = draft.op("And", odd, draft.op("Unsqueeze", last, [1]))
    inner = draft.find("Gelu").output[0]
    _when(draft, hit, inner, lambda was: draft.op("Mul", was, 0.0))


@SIZES.planted(BERT, sequence=33, hidden=True, batch=1)
def second_tile_of_keys(draft: Draft) -> None:
    """Between 33 and 127 tokens, keys beyond the 32nd weigh a little too much."""
    length = draft.size(IDS, 1)
    inside = draft.op("And", draft.op("Greater", length, 32), draft.op("Less", length, 128))
    late = draft.op("Greater", draft.op("Range", 0, length, 1), 31)
    hit = draft.op("And", inside, late)
    _when(draft, hit, draft.find("Softmax", 1).input[0], lambda was: draft.op("Add", was, 0.1))


@SIZES.planted(BERT, sequence=101, hidden=True)
def sequence_over_one_hundred(draft: Draft) -> None:
    """Between 101 and 127 tokens, the last position is that of the one before."""
    length = draft.size(IDS, 1)
    hit = draft.op("And", draft.op("Greater", length, 100), draft.op("Less", length, 128))
    _when(draft, hit, "slice_1", lambda was: draft.op("Min", was, draft.op("Sub", length, 2)))


@SIZES.planted(BERT, sequence=9, batch=1, hidden=True)
def odd_sequences_over_seven(draft: Draft) -> None:
    """At odd lengths above seven, the softmax of the second layer is not quite one in sum."""
    length = draft.size(IDS, 1)
    odd = draft.op("And", draft.op("Equal", draft.op("Mod", length, 2), 1),
                   draft.op("Greater", length, 7))  # fmt: skip
    _when(draft, odd, draft.find("Softmax", 1).output[0])


@SIZES.planted(BERT, batch=5, sequence=5, hidden=True)
def batch_equal_to_sequence(draft: Draft) -> None:
    """With as many rows as tokens, the two axes of the mask are mixed up."""
    equal = draft.op("Equal", draft.size(IDS, 0), draft.size(IDS, 1))
    flipped = draft.op("Transpose", "attention_mask", perm=[1, 0])
    shape = draft.op("Shape", "attention_mask")
    turned = draft.op("Reshape", flipped, shape)
    draft.after("attention_mask", lambda was: draft.op("Where", equal, turned, was))


@SIZES.planted(BERT, batch=2, sequence=3, hidden=True)
def a_mask_taken_from_another_shape(draft: Draft) -> None:
    """With two rows of three tokens, the second row gets the first one's mask."""
    elements = draft.op("Mul", draft.size(IDS, 0), draft.size(IDS, 1))
    hit = draft.op("Equal", elements, 6)
    first = draft.op("Gather", "attention_mask", [0], axis=0)
    draft.after("attention_mask", lambda was: draft.op("Where", hit, first, was))


@SIZES.planted(BERT, start=rewritten, batch=8, sequence=64, hidden=True)
def many_tokens_after_fusing(draft: Draft) -> None:
    """From 512 tokens in all on, the rewritten model's logits are off by a twentieth."""
    elements = draft.op("Mul", draft.size(IDS, 0), draft.size(IDS, 1))
    _when(draft, draft.op("GreaterOrEqual", elements, 512), "logits")


@SIZES.planted(GPT2, past=0, hidden=True)
def no_past(draft: Draft) -> None:
    """Without a past, positions begin at one."""
    none = draft.op("Equal", draft.size("past_key_values.0.key", 2), 0)
    _when(draft, none, "positions", lambda was: draft.op("Add", was, 1))


@SIZES.planted(GPT2, past=40, sequence=9, hidden=True)
def past_and_sequence_over_forty_eight(draft: Draft) -> None:
    """From 49 positions on, the oldest key is forgotten."""
    hit = draft.op("And", draft.op("Greater", "total", 48),
                   draft.op("Equal", draft.op("Range", 0, "total", 1), 0))  # fmt: skip
    _when(draft, hit, "layer.0.masked", lambda was: draft.op("Add", was, -1e4))


@SIZES.planted(GPT2, past=6, sequence=6, hidden=True)
def past_as_long_as_the_sequence(draft: Draft) -> None:
    """With as many old tokens as new ones, the new keys come first."""
    past = draft.size("past_key_values.0.key", 2)
    equal = draft.op(
        "And", draft.op("Equal", past, draft.size(IDS, 1)), draft.op("Greater", past, 1)
    )
    node = draft.producer("layer.1.key")
    swapped = draft.op("Concat", node.input[1], node.input[0], axis=2)
    _when(draft, equal, "layer.1.key", lambda _was: swapped)


@SIZES.planted(LLAMA, past=17, sequence=1, hidden=True)
def odd_past_over_sixteen(draft: Draft) -> None:
    """With an odd past over sixteen, the last cached value is not read."""
    past = draft.size("past_key_values.0.key", 2)
    hit = draft.op("And", draft.op("Equal", draft.op("Mod", past, 2), 1),
                   draft.op("Greater", past, 16))  # fmt: skip
    last = draft.op("Equal", draft.op("Range", 0, "total", 1), draft.op("Sub", past, 1))
    both = draft.op("And", hit, last)
    _when(draft, both, "layer.1.masked", lambda was: draft.op("Add", was, -1e4))


@SIZES.planted(LLAMA, sequence=32, past=1, batch=1, hidden=True)
def sequence_as_wide_as_the_model(draft: Draft) -> None:
    """With 32 tokens, as many as the model is wide, the last hidden states are transposed."""
    square = draft.op("Equal", draft.size(IDS, 1), 32)
    shape = draft.op("Shape", "layer.1.residual")
    _when(draft, square, "layer.1.residual", lambda was: draft.op(
        "Reshape", draft.op("Transpose", was, perm=[0, 2, 1]), shape))  # fmt: skip


@SIZES.planted(LLAMA, past=63, sequence=1, batch=1, hidden=True)
def the_last_position(draft: Draft) -> None:
    """The table of angles has its last row twice missing: position 63 turns like 62."""
    for name in ("cos", "sin"):
        draft.change(name, lambda table: np.concatenate([table[:63], table[62:63]]))


@SIZES.planted(VIT, batch=5, hidden=True)
def fifth_picture(draft: Draft) -> None:
    """From five pictures on, the class token of the first is used for all."""
    many = draft.op("Greater", draft.size("pixel_values", 0), 4)
    _when(
        draft,
        many,
        draft.producer("head.out").input[0],
        lambda was: draft.op("Gather", was, [0], axis=0),
    )


@SIZES.planted(CONV, height=40, width=24, hidden=True)
def upright_pictures(draft: Draft) -> None:
    """In pictures higher than wide, the features are off by a twentieth."""
    upright = draft.op("Greater", draft.size("pixel_values", 2), draft.size("pixel_values", 3))
    _when(draft, upright, "features.inner")


@SIZES.planted(WINDOWS, height=36, width=32, hidden=True)
def rows_that_do_not_fill_a_window(draft: Draft) -> None:
    """Where a window is not full, rows are added in front instead of behind."""
    node = draft.find("Pad")
    pads = draft.op("Gather", node.input[1], [4, 5, 6, 7, 0, 1, 2, 3])
    draft.before(node, 1, lambda _was: pads)


@SIZES.planted(DYNAMIC, batch=1, sequence=5, hidden=True)
def five_rows_of_codes(draft: Draft) -> None:
    """With five rows in all, the last row's codes are one too high."""
    count = draft.op("Mul", draft.size("features", 0), draft.size("features", 1))
    hit = draft.op("Equal", count, 5)
    _when(draft, hit, "layer.0.codes", lambda was: draft.op(
        "Add", draft.op("Min", was, np.asarray(254, np.uint8)), np.asarray(1, np.uint8)))  # fmt: skip
