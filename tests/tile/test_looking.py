"""Nests that look at computed places say between which numbers they lie, whatever these are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.tile.demands import Demand
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.looking import MOST_AT_ONCE, PART, looked_at
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate_op
from tile_strategies import UNHURRIED

AT = Demand("at", 9)
DIVISOR = Demand("at", None)
SHORT = {"int32": "i32", "int64": "i64", "uint8": "u8", "uint64": "u64"}


def graph_with(kind: TensorType) -> TileGraph:
    """Return a graph that fetches by a tensor of places; it is nobody's output."""
    axes = ", ".join(f"i{dim}={size}" for dim, size in enumerate(kind.shape))
    place = ", ".join(f"i{dim}" for dim in range(len(kind.shape)))
    return parse(
        f"in at: {kind}\nin x: f32[9]\nout y\ny: f32[{axes}] = x[fetch(at[{place}], 9)]", {}
    )


def span_of(numbers: Array, wanted: Demand = AT) -> tuple[int, int]:
    """Return the least and the greatest of what is looked at, as nests tell."""
    kind = TensorType(SHORT[numbers.dtype.name], numbers.shape)
    values = {"at": numbers}
    # who fetches by them is an error for the judge, and is left out
    for op in looked_at(graph_with(kind), {wanted: "at.span"}).ops[1:]:
        values[op.output] = evaluate_op(op, values)
    found = values["at.span"]
    assert found.dtype in (np.int32, np.int64)
    return -1 - int(found[0]), int(found[1])


@UNHURRIED
@given(
    st.sampled_from([(), (1,), (5,), (2, 1, 3)]),
    st.sampled_from([np.int32, np.int64]),
    st.data(),
)
def test_a_span_is_the_least_and_the_greatest(
    shape: tuple[int, ...], dtype: type[np.signedinteger], data: st.DataObject
) -> None:
    size, limits = int(np.prod(shape)), np.iinfo(dtype)
    numbers = st.integers(int(limits.min), int(limits.max))
    held = data.draw(st.lists(numbers, min_size=size, max_size=size))
    assert span_of(np.array(held, dtype).reshape(shape)) == (min(held), max(held))


@pytest.mark.parametrize("size", [MOST_AT_ONCE + 1, 5 * PART])
@pytest.mark.parametrize("where", [0, PART, -1])
def test_many_places_are_looked_at_in_parts(size: int, where: int) -> None:
    places = np.random.default_rng(0).integers(-9, 9, (1, size))
    places[0, where] = -(2**63)
    assert span_of(places) == (-(2**63), int(places.max()))
    graph = looked_at(graph_with(TensorType("i64", (1, size))), {AT: "at.span"})
    assert [op.shape for op in graph.ops[1:]] == [(2, -(-size // PART)), (2,)]


def test_behind_the_last_part_nothing_is_told_but_a_place_that_exists() -> None:
    places = np.full(MOST_AT_ONCE + 1, 3)
    assert span_of(places) == (0, 3)


def test_the_work_is_that_of_whoever_makes_the_places() -> None:
    graph = parse(
        "in a: i64[3]\nin x: f32[9]\nout y\nat: i64[i0=3] = a[i0] + a[i0]  # sum\n"
        "y: f32[i0=3] = x[fetch(at[i0], 9)]  # look",
        {},
    )
    found = looked_at(graph, {AT: "at.span", Demand("a", 9): "a.span"})
    assert found.outputs == ("y", "at.span", "a.span")
    assert [op.nodes for op in found.ops[2:]] == [("sum",), ("sum",)]


@UNHURRIED
@given(
    st.sampled_from([(), (5,), (2, 1, 3)]),
    st.sampled_from([np.int32, np.int64, np.uint8, np.uint64]),
    st.data(),
)
def test_of_divisors_it_is_told_whether_they_are_other_than_0(
    shape: tuple[int, ...], dtype: type[np.integer], data: st.DataObject
) -> None:
    limits = np.iinfo(dtype)
    numbers = st.sampled_from([0, 1, 7, int(limits.min), int(limits.max)])
    size = int(np.prod(shape))
    held = data.draw(st.lists(numbers, min_size=size, max_size=size))
    others = [int(each != 0) for each in held]
    assert span_of(np.array(held, dtype).reshape(shape), DIVISOR) == (min(others), max(others))


@pytest.mark.parametrize("where", [0, PART, -1, None])
def test_many_divisors_are_looked_at_in_parts(where: int | None) -> None:
    divisors = np.full(MOST_AT_ONCE + 1, -3)
    if where is not None:
        divisors[where] = 0
    assert span_of(divisors, DIVISOR) == (int(where is None), 1)


@pytest.mark.parametrize("rows", [1, 4, MOST_AT_ONCE + 1])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_of_a_table_only_the_column_is_looked_at(rows: int, column: int) -> None:
    table = np.random.default_rng(rows).integers(-9, 9, (2, rows, 3)) + 100 * np.arange(1, 4)
    seen = table[..., column]
    # behind the last part there is a 0
    low = int(seen.min()) if table[..., 0].size <= MOST_AT_ONCE else 0
    assert span_of(table, Demand("at", 999, column)) == (low, int(seen.max()))


def test_places_of_a_byte_are_told_as_they_are() -> None:
    assert span_of(np.array([3, 255], np.uint8)) == (3, 255)
