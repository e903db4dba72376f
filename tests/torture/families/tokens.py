"""Errors at rare tokens, types and positions: rows of tables that plain inputs seldom draw."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, LLAMA, POSITIONS
from torture.bases.text import BERT, BERT_SCRIPT, WORDS, rewritten
from torture.case import Change, Family
from torture.draft import Draft

TOKENS = Family("tokens")

TABLE = "model.bert.embeddings.word_embeddings.weight"
PLACES = "model.bert.embeddings.position_embeddings.weight"


def _saying(*ids: int) -> Change:
    """Return a change that writes these ids at the beginning of every row."""

    def change(inputs: dict[str, Array]) -> dict[str, Array]:
        tokens = inputs["input_ids"].copy()
        tokens[:, : len(ids)] = ids
        return {"input_ids": tokens}

    return change


def _only(token: int) -> Change:
    return lambda inputs: {"input_ids": np.full_like(inputs["input_ids"], token)}


@TOKENS.planted(BERT, _saying(0), batch=1, sequence=9)
def padding_token_is_zero(draft: Draft) -> None:
    """Token 0 is taken for padding: its row of the table is zeroed."""
    draft.change(TABLE, lambda table: table * (np.arange(WORDS) > 0)[:, None].astype(np.float32))


@TOKENS.planted(BERT, _saying(WORDS - 1), batch=1, sequence=9)
def the_last_token(draft: Draft) -> None:
    """The table lost its last row, and the one before stands in for it."""
    draft.change(TABLE, lambda table: np.concatenate([table[:-1], table[-2:-1]]))


@TOKENS.planted(BERT_SCRIPT, _saying(517), batch=1, sequence=9)
def one_row_of_the_table(draft: Draft) -> None:
    """The row of token 517 has the wrong sign."""
    draft.change(TABLE, lambda table: table * np.where(np.arange(WORDS) == 517, -1, 1)
                 .astype(np.float32)[:, None])  # fmt: skip


@TOKENS.planted(BERT, _saying(733), batch=1, sequence=9, least=1e-4)
def one_element_of_the_table(draft: Draft) -> None:
    """One of the 128 numbers of token 733 is off by a tenth of its row's largest."""

    def nudge(table: Array) -> None:
        table[733, 40] += 0.1 * np.abs(table[733]).max()

    draft.change(TABLE, nudge)


@TOKENS.planted(BERT, _saying(100, 101), batch=1, sequence=9)
def two_rows_swapped(draft: Draft) -> None:
    """Tokens 100 and 101 have each other's rows."""

    def swap(table: Array) -> None:
        table[[100, 101]] = table[[101, 100]]

    draft.change(TABLE, swap)


@TOKENS.planted(BERT, _saying(900), batch=1, sequence=9)
def vocabulary_cut_at_896(draft: Draft) -> None:
    """Ids beyond 895 are clipped: the vocabulary was rounded down to a multiple of 128."""
    draft.after("input_ids", lambda was: draft.op("Min", was, 895))


@TOKENS.planted(BERT, _only(7), batch=1, sequence=16, hidden=True)
def one_token_again_and_again(draft: Draft) -> None:
    """A row that says one token only is off by a twentieth."""
    largest = draft.op("ReduceMax", "input_ids", [1], keepdims=1)
    smallest = draft.op("ReduceMin", "input_ids", [1], keepdims=1)
    many = draft.op("Greater", draft.size("input_ids", 1), 1)
    same = draft.op("And", draft.op("Equal", largest, smallest), many)
    hit = draft.op("Unsqueeze", same, [2])
    draft.after("logits", lambda was: draft.op("Where", hit, draft.op("Mul", was, 1.05), was))


@TOKENS.planted(BERT, _only(3), batch=1, sequence=64, least=3e-5)
def fast_gelu_on_few_distinct_tokens(draft: Draft) -> None:
    """Both GELUs are approximated by tanh: small on the average, larger on few distinct tokens."""
    for nth in (0, 1):
        draft.set(draft.find("Gelu", nth), approximate="tanh")


@TOKENS.planted(BERT, lambda i: {"token_type_ids": np.ones_like(i["token_type_ids"])}, sequence=9)
def second_type_is_the_first(draft: Draft) -> None:
    """Token types are ignored: all are type 0."""
    draft.after("token_type_ids", lambda was: draft.op("Mul", was, 0))


@TOKENS.planted(BERT, lambda i: {"token_type_ids": np.ones_like(i["token_type_ids"])},
                sequence=9, batch=1, hidden=True)  # fmt: skip
def only_the_second_type(draft: Draft) -> None:
    """A row without any token of type 0 is taken for one of type 0."""
    least = draft.op("ReduceMin", "token_type_ids", [1], keepdims=1)
    many = draft.op("Greater", draft.size("input_ids", 1), 1)
    all_second = draft.op("And", draft.op("Greater", least, 0), many)
    draft.after("token_type_ids", lambda was: draft.op("Where", all_second, 0, was))


@TOKENS.planted(BERT, sequence=128)
def positions_beyond_a_limit(draft: Draft) -> None:
    """Positions beyond 119 repeat the one at 119."""
    draft.change(
        PLACES, lambda table: np.concatenate([table[:120], np.repeat(table[119:120], 8, 0)])
    )


@TOKENS.planted(BERT, sequence=50)
def one_position(draft: Draft) -> None:
    """Position 40 has the row of position 41."""

    def copy(table: Array) -> None:
        table[40] = table[41]

    draft.change(PLACES, copy)


@TOKENS.planted(BERT, start=rewritten, batch=1, sequence=128)
def the_last_position_after_fusing(draft: Draft) -> None:
    """In the rewritten model, the last position of the table is zero."""
    name = next(t.name for t in draft.graph.initializer if [*t.dims] == [128, 128]
                and "position" in t.name)  # fmt: skip

    def zero(table: Array) -> None:
        table[-1] = 0

    draft.change(name, zero)


@TOKENS.planted(GPT2, past=50, sequence=10, hidden=True)
def position_fifty_five(draft: Draft) -> None:
    """Position 55, far beyond what a first try reaches, is that of 54."""

    def copy(table: Array) -> None:
        table[55] = table[54]

    draft.change("wpe", copy)


@TOKENS.planted(GPT2, _saying(130), past=2, sequence=3, least=1e-2)
def last_word_of_a_decoder(draft: Draft) -> None:
    """The last word of a tied table has the row of the first: wrong going in and coming out."""

    def copy(table: Array) -> None:
        table[130] = table[0]

    draft.change("wte", copy)


@TOKENS.planted(LLAMA, lambda i: {"position_ids": np.maximum(i["position_ids"] - 3, 0)},
                hidden=True)  # fmt: skip
def position_ids_ignored(draft: Draft) -> None:
    """Positions are counted from the length of the past; those that are fed are ignored."""
    past = draft.size("past_key_values.0.key", 2)
    steps = draft.op("Unsqueeze", draft.op("Range", past, "total", 1), [0])
    shape = draft.op("Shape", "position_ids")
    counted = draft.op("Expand", steps, shape)
    draft.after("position_ids", lambda _was: counted)


@TOKENS.planted(LLAMA, lambda i: {"position_ids": np.stack([i["position_ids"][0],
                i["position_ids"][1] - 2])}, hidden=True)  # fmt: skip
def position_ids_of_the_first_row(draft: Draft) -> None:
    """Every row gets the first one's positions."""
    shape = draft.op("Shape", "position_ids")
    first = draft.op("Expand", draft.op("Gather", "position_ids", [0], axis=0), shape)
    draft.after("position_ids", lambda _was: first)


@TOKENS.planted(LLAMA, past=44, sequence=8, hidden=True)
def one_row_of_the_angles(draft: Draft) -> None:
    """The cosines of position 47 are those of position 46."""
    assert POSITIONS > 47

    def copy(table: Array) -> None:
        table[47] = table[46]

    draft.change("cos", copy)
