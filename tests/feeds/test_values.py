from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.array_types import array_type
from burnish.core.tensors import Dim, TensorSpec
from burnish.feeds.feed import Padding
from burnish.feeds.roles import Role, role_of
from burnish.feeds.uses import Purpose
from burnish.feeds.values import Filled, Request, fill
from burnish.store.element_types import DATA_TYPES


def filled(
    name: str, dtype: str, shape: tuple[int, ...], *, symbols: tuple[Dim, ...] | None = None,
    rows: int | None = None, padding: Padding = "right", past: int = 0, sequence: int = 8,
) -> Filled:  # fmt: skip
    spec = TensorSpec(name, dtype, shape if symbols is None else symbols)
    random = np.random.default_rng(0)
    purpose = Purpose(role_of(spec))
    return fill(Request(spec, shape, rows, random, padding, past, sequence, purpose))


@pytest.mark.parametrize("dtype", [name for name in DATA_TYPES if name != "str"])
def test_every_type_can_be_filled(dtype: str) -> None:
    array = filled("x", dtype, (2, 3)).array
    assert (array.dtype, array.shape) == (array_type(dtype), (2, 3))


@pytest.mark.parametrize(
    "name",
    ["input_ids", "attention_mask", "token_type_ids", "position_ids", "past_length", "lengths"],
)
@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0,), (0, 0)])
def test_empty_inputs_stay_empty(name: str, shape: tuple[int, ...]) -> None:
    assert filled(name, "i64", shape).array.shape == shape


@given(
    rows=st.integers(1, 5),
    length=st.integers(1, 9),
    padding=st.sampled_from(["right", "left"]),
    dtype=st.sampled_from(["i64", "i32", "bool", "f32", "f16"]),
    middle=st.sampled_from([(), (1,), (1, 3)]),
)
def test_masks_have_a_full_row_and_no_empty_one(
    rows: int, length: int, padding: Padding, dtype: str, middle: tuple[int, ...]
) -> None:
    mask = filled("attention_mask", dtype, (rows, *middle, length), padding=padding).array
    mask = mask.astype(int).reshape(rows, -1, length)[:, 0]
    assert set(mask.flat) <= {0, 1}
    assert (mask.sum(axis=1) == length).any()
    assert (mask.sum(axis=1) >= 1).all()
    steps = np.diff(mask, axis=1)
    assert (steps <= 0).all() if padding == "right" else (steps >= 0).all()
    assert length == 1 or rows == 1 or (mask == 0).any()


def test_a_mask_without_padding_is_full() -> None:
    assert filled("attention_mask", "i64", (3, 4), padding="none").array.all()


def test_a_mask_of_one_row_says_that_it_shows_no_padding() -> None:
    found = filled("attention_mask", "i64", (1, 4), symbols=("batch", "seq"))
    assert found.note == (
        "attention_mask has one row, which is full; padded rows come with --shape batch=2"
    )


def test_tokens_stay_below_their_table() -> None:
    found = filled("input_ids", "i64", (10, 100), rows=7)
    assert set(found.array.flat) == set(range(7))
    assert found.note is None


def test_tokens_without_table_are_noted() -> None:
    found = filled("input_ids", "i64", (10, 100))
    assert found.array.max() < 1000
    assert found.note == "input_ids: no embedding table found, token ids are below 1000"


def test_integers_without_table_are_noted() -> None:
    found = filled("x", "i64", (100,))
    assert set(found.array.flat) == set(range(10))
    assert found.note == "x: nothing tells what it holds, so integers below 10"


def test_integers_fit_their_type() -> None:
    assert filled("input_ids", "i8", (1000,), rows=30_000).array.min() >= 0


def test_token_types_stay_below_their_table() -> None:
    assert set(filled("token_type_ids", "i64", (100,)).array.flat) == {0, 1}
    assert not filled("token_type_ids", "i64", (100,), rows=1).array.any()


def test_positions_go_on_after_the_past() -> None:
    assert filled("position_ids", "i64", (2, 3), past=5).array.tolist() == [[5, 6, 7]] * 2


def test_positions_beyond_the_table_repeat_and_say_so() -> None:
    found = filled("position_ids", "i64", (5,), rows=3)
    assert found.array.tolist() == [0, 1, 2, 0, 1]
    assert found.note == "position_ids: the model has 3 positions, so they repeat"


@pytest.mark.parametrize(
    ("name", "size"), [("past_length", 5), ("seqlens_k", 12), ("total_sequence_length", 13)]
)
def test_lengths_of_the_past_agree_with_it(name: str, size: int) -> None:
    assert filled(name, "i32", (2,), past=5, sequence=8).array.tolist() == [size, size]


def test_lengths_stay_within_the_sequence() -> None:
    lengths = filled("input_lengths", "i64", (9,), sequence=8).array
    assert lengths.max() == 8
    assert lengths.min() >= 1


def test_a_past_is_used_where_the_model_asks() -> None:
    assert filled("use_cache_branch", "bool", (1,)).array.tolist() == [True]


def test_byte_images_use_all_of_a_byte() -> None:
    assert filled("image", "u8", (1, 64, 64, 3)).array.max() > 200


def test_time_steps_are_below_a_thousand() -> None:
    step = filled("timestep", "f32", (1,)).array
    assert 0 <= step[0] < 1000


def test_text_is_made_of_words_that_stand_in_the_model_and_others() -> None:
    spec = TensorSpec("sentence", "str", (200,))
    purpose = Purpose(role_of(spec))
    random = np.random.default_rng(0)
    request = Request(spec, (200,), None, random, "right", 0, 8, purpose, ("cat", "dog"))
    found = fill(request)
    assert found.note == "sentence: its text is made up"
    assert found.array.dtype == object
    assert {"cat", "dog"} < {word for text in found.array for word in text.split()}


def test_every_role_can_be_filled() -> None:
    spec = TensorSpec("x", "i64", (1, 1, 1, 1))
    for role in set(Role) - {Role.TEXT}:
        random = np.random.default_rng(0)
        request = Request(spec, (1, 1, 1, 1), 5, random, "right", 0, 1, Purpose(role))
        assert fill(request).array.shape == (1, 1, 1, 1)
