from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.zoo.tokens import ids, mask, positions, segments

pytestmark = pytest.mark.torch
SIZES = {"batch": st.integers(1, 9), "length": st.integers(1, 40)}


@settings(deadline=None)  # the first example imports torch
@given(**SIZES, side=st.sampled_from(["left", "right"]))
def test_every_row_keeps_at_least_half_its_tokens_in_one_piece(
    batch: int, length: int, side: str
) -> None:
    rows = mask(batch, length, side=side)
    assert rows.shape == (batch, length)
    assert rows[0].all()
    for row in rows:
        kept = int(row.sum())
        assert kept >= length / 2
        assert (row[:kept] if side == "right" else row[-kept:]).all()


def test_left_is_right_in_a_mirror() -> None:
    assert mask(3, 8, side="left").tolist() == mask(3, 8, side="right").flip(1).tolist()


@settings(deadline=None)  # the first example imports torch
@given(**SIZES)
def test_hole_lies_behind_the_first_token(batch: int, length: int) -> None:
    expected = mask(batch, length, side="left")
    expected[:, 0] = 1
    assert mask(batch, length, side="after-first").equal(expected)


@settings(deadline=None)  # the first example imports torch
@given(**SIZES)
def test_ids_are_no_reserved_tokens_and_within_the_vocabulary(batch: int, length: int) -> None:
    tokens = ids(batch, length, vocabulary=131, seed=0)
    assert tokens.shape == (batch, length)
    assert tokens.min() >= 5
    assert tokens.max() < 131


def test_same_seed_gives_the_same_ids() -> None:
    assert ids(2, 9, vocabulary=131, seed=4).equal(ids(2, 9, vocabulary=131, seed=4))
    assert not ids(2, 9, vocabulary=131, seed=4).equal(ids(2, 9, vocabulary=131, seed=5))


def test_segments_change_in_the_middle() -> None:
    assert segments(1, 5).tolist() == [[0, 0, 1, 1, 1]]


def test_positions_count_the_tokens_that_the_mask_leaves() -> None:
    import torch

    assert positions(torch.tensor([[0, 0, 1, 1]])).tolist() == [[0, 0, 0, 1]]
    assert positions(torch.tensor([[1, 1, 0, 1]])).tolist() == [[0, 1, 0, 2]]
