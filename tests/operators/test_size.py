"""Sizes are sums of products, equal whenever they must be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.operators import size
from burnish.operators.size import Least, Quotient, Size, named, unknown

B, S = named("batch"), named("sequence")


def test_a_name_with_operators_is_read_as_a_formula() -> None:
    assert named("past + sequence") == size.add(named("past"), S)
    assert named("2*batch - 1") == size.subtract(size.multiply(2, B), 1)


def test_a_name_that_is_no_formula_stands_for_itself() -> None:
    assert named("batch size") == unknown("batch size")
    assert named("Min(64, sequence)") == unknown("Min(64, sequence)")


def test_what_cancels_leaves_a_number() -> None:
    assert size.subtract(size.add(B, 3), B) == 3
    assert size.subtract(B, B) == 0


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(12, 4, 3), (12, 5, None), (12, 0, None), (B, B, 1), (size.multiply(B, 64), 16,
      size.multiply(B, 4)), (size.multiply(B, S), B, S), (B, S, None), (B, 2, None)],
)  # fmt: skip
def test_division_is_exact_or_not_at_all(left: Size, right: Size, expected: Size | None) -> None:
    assert size.divide(left, right) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("(sequence - 1)//2 + 1", "(sequence + 1)//2"), ("(4*batch + 3)//4", "batch"),
     ("(batch*sequence*6 + 9)//3", "2*batch*sequence + 3"),
     ("sequence//4", "(sequence + 8)//4 - 2"), ("PythonMod(sequence + 8, 4)", "Mod(sequence, 4)"),
     ("PythonMod(-sequence, 4)", "3*sequence - 4*((3*sequence)//4)")],
)  # fmt: skip
def test_quotients_that_are_equal_for_every_size_are_equal(one: str, other: str) -> None:
    assert named(one) == named(other)


def test_quotients_that_differ_for_some_size_differ() -> None:
    assert named("(sequence + 1)//2") != named("sequence//2")
    assert named("sequence//2") != named("sequence//4")
    assert named("sequence//batch") == unknown("sequence//batch")


def test_a_limited_slice_fits_what_it_was_cut_for() -> None:
    cut = unknown(Least(512, S))
    assert size.broadcast(S, cut) == S
    assert size.broadcast(cut, S) == S
    assert size.broadcast(unknown(Least(1, S)), S) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"), [(1, S, S), (S, 1, S), (S, S, S), (4, S, 4), (B, S, None)]
)
def test_axes_are_stretched_only_where_that_is_certain(
    left: Size, right: Size, expected: Size | None
) -> None:
    assert size.broadcast(left, right) == expected


def _value(of: Size, batch: int, sequence: int) -> int:
    if isinstance(of, int):
        return of
    numbers = {"batch": batch, "sequence": sequence}
    total = 0
    for product, count in of.terms:
        for key, power in product:
            if isinstance(key, Quotient):
                count *= (_value(key.dividend, batch, sequence) // key.divisor) ** power
            else:
                count *= numbers[str(key)] ** power
        total += count
    return total


sizes = st.recursive(
    st.one_of(st.integers(0, 9), st.sampled_from([B, S])),
    lambda inner: st.one_of(
        st.builds(size.add, inner, inner),
        st.builds(size.multiply, inner, inner),
        st.builds(size.subtract, inner, inner),
        st.builds(size.floor_divide, inner, st.integers(1, 5)),
    ),
    max_leaves=6,
)


@given(sizes, sizes, st.integers(1, 7), st.integers(1, 7))
def test_arithmetic_is_that_of_numbers(left: Size, right: Size, b: int, s: int) -> None:
    x, y = _value(left, b, s), _value(right, b, s)
    assert _value(size.add(left, right), b, s) == x + y
    assert _value(size.multiply(left, right), b, s) == x * y
    assert _value(size.floor_divide(left, b), b, s) == x // b
    quotient = size.divide(left, right)
    if quotient is not None and y:
        assert _value(quotient, b, s) * y == x


def test_what_a_slice_of_limited_length_leaves_fits_what_it_is_added_to() -> None:
    length = named("sequence")
    assert named("1 - Max(0, 1 - sequence)") == 1
    assert size.broadcast(named("64 - Max(0, 64 - sequence)"), length) == length
    assert size.broadcast(named("64 - Max(0, 64 - other)"), length) is None


@given(sizes, st.integers(0, 9), st.integers(0, 9))
def test_what_is_countable_is_never_negative(one: Size, b: int, s: int) -> None:
    assert not size.is_countable(one) or _value(one, b, s) >= 0


def test_a_number_of_blocks_is_countable() -> None:
    assert size.is_countable(named("sequence - 127*sequence//128"))
    assert size.is_countable(named("(sequence + Mod(-sequence, 128))//128"))
    assert not size.is_countable(named("sequence - 129*sequence//128"))
    assert not size.is_countable(named("sequence - batch//128"))


@pytest.mark.parametrize("formula", [
    "batch", "12", "2 * batch * sequence", "3 + sequence", "sequence - 1", "-sequence",
    "128 * ((3 + sequence) // 128)",
])  # fmt: skip
def test_a_size_is_told_as_the_formula_that_it_is(formula: str) -> None:
    assert named(size.text(named(formula))) == named(formula)


def test_sizes_without_a_name_are_told_as_unknown() -> None:
    assert size.text(unknown((None, 1))) == "?"
    assert size.text(unknown(Least(64, S))) == "min(64, sequence)"
