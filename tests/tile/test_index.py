from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.tile.index import (
    Axis,
    Div,
    Fetch,
    Index,
    Mod,
    at,
    axes_of,
    bounds,
    coefficient,
    flatten,
    floor_divide,
    number,
    remainder,
    substitute,
    unflatten,
)

AXES = (Axis("a", 4), Axis("b", 6), Axis("c", 5))


@st.composite
def indices(draw: st.DrawFn) -> Index:
    index = number(draw(st.integers(-9, 9)))
    for axis in AXES:
        index = index + at(axis) * draw(st.integers(-6, 6))
    for _ in range(draw(st.integers(0, 3))):
        by = draw(st.integers(1, 12))
        other = floor_divide(index, by) if draw(st.booleans()) else remainder(index, by)
        index = draw(
            st.sampled_from(
                [other, index + other, other * by, index - other * draw(st.integers(1, 6))]
            )
        )
    return index


def points() -> Iterator[dict[Axis, int]]:
    for values in product(*(range(axis.extent) for axis in AXES)):
        yield dict(zip(AXES, values, strict=True))


def value(index: Index, point: Mapping[Axis, int]) -> int:
    """Return the value of an index, by its plain meaning."""
    total = index.constant
    for atom, factor in index.terms:
        match atom:
            case Axis():
                total += factor * point[atom]
            case Div(of, by):
                total += factor * (value(of, point) // by)
            case Mod(of, by):
                total += factor * (value(of, point) % by)
            case Fetch():
                raise AssertionError("no index is fetched here")
    return total


@settings(deadline=None)
@given(indices(), st.integers(1, 12))
def test_division_and_remainder_are_those_of_python(index: Index, by: int) -> None:
    quotient, rest = floor_divide(index, by), remainder(index, by)
    for point in points():
        assert value(quotient, point) == value(index, point) // by
        assert value(rest, point) == value(index, point) % by


@settings(deadline=None)
@given(indices(), indices(), st.integers(-5, 5))
def test_sums_and_multiples_are_those_of_numbers(a: Index, b: Index, factor: int) -> None:
    both = a + b * factor
    for point in points():
        assert value(both, point) == value(a, point) + factor * value(b, point)


@settings(deadline=None)
@given(indices(), st.integers(1, 12), st.integers(-3, 3))
def test_quotient_and_remainder_make_the_whole_again(index: Index, by: int, factor: int) -> None:
    whole = floor_divide(index, by) * by * factor + remainder(index, by) * factor
    for point in points():
        assert value(whole, point) == factor * value(index, point)


def test_what_is_parted_and_joined_is_what_it_was() -> None:
    shifted = at(AXES[0]) * 3 + at(AXES[1]) + 1
    for by in (2, 3, 4, 5):
        assert floor_divide(shifted, by) * by + remainder(shifted, by) == shifted


@settings(deadline=None)
@given(indices())
def test_bounds_hold(index: Index) -> None:
    low, high = bounds(index)
    for point in points():
        assert low <= value(index, point) <= high


@settings(deadline=None)
@given(indices(), indices(), indices())
def test_substitution_is_evaluation_later(index: Index, a: Index, b: Index) -> None:
    changed = substitute(index, {AXES[0]: a, AXES[1]: b})
    for point in points():
        inner = {AXES[0]: value(a, point), AXES[1]: value(b, point), AXES[2]: point[AXES[2]]}
        inside = all(0 <= inner[axis] < axis.extent for axis in AXES)
        if inside:
            assert value(changed, point) == value(index, inner)


@settings(deadline=None)
@given(indices())
def test_a_coefficient_is_the_growth_per_step(index: Index) -> None:
    axis = AXES[1]
    step = coefficient(index, axis)
    assert step is not None or axis in axes_of(index)
    if step is not None:
        for point in points():
            if point[axis] + 1 < axis.extent:
                after = {**point, axis: point[axis] + 1}
                assert value(index, after) - value(index, point) == step


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple))
def test_places_and_positions_are_two_names_of_one_thing(shape: tuple[int, ...]) -> None:
    axes = [Axis(f"i{n}", extent) for n, extent in enumerate(shape)]
    index = tuple(map(at, axes))
    assert unflatten(flatten(index, shape), shape) == index
