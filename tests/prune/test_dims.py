"""Sizes that split and join: whatever is done to an axis, its length stays."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from burnish.prune.dims import axis_of, join, leaves, parted, pin, size_of

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(SIZES)
def test_an_axis_parted_into_factors_is_still_as_long(sizes: list[int]) -> None:
    axis = axis_of(math.prod(sizes))
    parts = parted(axis, sizes)
    assert parts is not None
    assert [size_of(leaves(part)) for part in parts] == sizes
    assert size_of(leaves(axis)) == math.prod(sizes)


@given(SIZES, st.integers(2, 4))
def test_what_is_joined_is_split_together(sizes: list[int], factor: int) -> None:
    one, other = (axis_of(math.prod(sizes) * factor) for _ in range(2))
    join(one, other, "")
    parted(one, (factor, math.prod(sizes)))
    assert leaves(one) == leaves(other)
    assert leaves(one)[0].size == factor


def test_axes_that_do_not_fit_are_pinned_with_the_reason() -> None:
    one, other = axis_of(6), axis_of(4)
    join(one, other, "they differ")
    assert {dim.pinned for dim in leaves([*one, *other])} == {"they differ"}


def test_parts_of_what_is_pinned_are_pinned_and_the_first_reason_stays() -> None:
    axis = axis_of(12)
    pin(axis, "first")
    parted(axis, (3, 4))
    pin(axis, "second")
    assert [dim.pinned for dim in leaves(axis)] == ["first", "first"]


def test_an_axis_has_no_parts_of_sizes_that_do_not_divide_it() -> None:
    assert parted(axis_of(12), (5, 2)) is None
    assert parted(axis_of(12), (3, 2)) is None
    assert parted(axis_of(12), (3, 8)) is None


def test_an_axis_of_one_dim_twice_is_not_taken_apart() -> None:
    (dim,) = axis_of(4)
    assert parted([dim, dim], (2, 8)) is None
