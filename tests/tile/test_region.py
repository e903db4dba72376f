from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.tile.expr import Guard
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import Axis, Index, at, bounds, floor_divide
from burnish.tile.region import Box, DimensionSpan, propagate, shift
from tile_samples import whole
from tile_strategies import UNHURRIED, chains, tiles

Point = tuple[int, ...]

COUNTER = Axis("u0", 6)


def value_of(index: Index, at: dict[Axis, int]) -> int:
    low, high = bounds(index, {axis: (value, value) for axis, value in at.items()})
    assert low == high
    return low


def holds(guard: Guard, at: dict[Axis, int]) -> bool:
    return guard.low <= value_of(guard.index, at) < guard.high


def elements_read(op: TileOp, point: Point) -> Iterator[tuple[str, Point]]:
    """Yield what computing one element of a nest's output reads, by walking its loops."""
    for inner in itertools.product(*(range(axis.extent) for axis in op.reduced)):
        at = dict(zip((*op.spatial, *op.reduced), (*point, *inner), strict=True))
        for read in op.reads:
            if all(holds(guard, at) for guard in read.guards):
                yield read.tensor, tuple(value_of(index, at) for index in read.index)


def corner(box: Box, counters: dict[Axis, int]) -> Point:
    return tuple(value_of(span.origin, counters) for span in box)


def needed(graph: TileGraph, points: set[Point]) -> dict[str, set[Point]]:
    """Return every element that computing these elements of the output needs."""
    result: dict[str, set[Point]] = {graph.ops[-1].output: points}
    for op in reversed(graph.ops):
        for point in result.get(op.output, set()):
            for tensor, element in elements_read(op, point):
                result.setdefault(tensor, set()).add(element)
    return result


@settings(UNHURRIED, max_examples=40)
@given(st.data())
def test_boxes_hold_every_element_that_a_tile_reads(data: st.DataObject) -> None:
    graph = data.draw(chains(steps=3))
    anchor = graph.ops[-1]
    tile = data.draw(tiles(anchor.shape))
    tile_map = propagate(whole(graph), tile)
    numbers = [data.draw(st.integers(0, counter.extent - 1)) for counter in tile_map.counters]
    at = dict(zip(tile_map.counters, numbers, strict=True))
    ranges = [
        range(number * size, min((number + 1) * size, extent))
        for number, size, extent in zip(numbers, tile, anchor.shape, strict=True)
    ]
    for tensor, elements in needed(graph, set(itertools.product(*ranges))).items():
        box = tile_map.boxes[tensor]
        start = corner(box, at)
        for element in elements:
            for place, low, span in zip(element, start, box, strict=True):
                assert low <= place < low + span.size, (tensor, element)


@settings(UNHURRIED, max_examples=40)
@given(st.data())
def test_what_is_said_to_shift_moves_by_that_many_rows_from_tile_to_tile(
    data: st.DataObject,
) -> None:
    graph = data.draw(chains(steps=3))
    tile_map = propagate(whole(graph), data.draw(tiles(graph.ops[-1].shape)))
    along = data.draw(st.sampled_from(tile_map.counters))
    others = {each: data.draw(st.integers(0, each.extent - 1)) for each in tile_map.counters}
    for box in tile_map.boxes.values():
        moved = shift(box, along)
        for number in range(along.extent - 1 if moved is not None else 0):
            here, there = (corner(box, {**others, along: number + k}) for k in (0, 1))
            wanted = [0] * len(box)
            if moved.step:
                wanted[moved.dimension] = moved.step
            assert [b - a for a, b in zip(here, there, strict=True)] == wanted


@pytest.mark.parametrize("origin", [floor_divide(at(COUNTER), 2), at(COUNTER) * -1])
def test_what_moves_unevenly_or_backwards_does_not_shift(origin: Index) -> None:
    assert shift((DimensionSpan(origin, 4),), COUNTER) is None
    assert shift((DimensionSpan(at(COUNTER), 4),) * 2, COUNTER) is None


@settings(UNHURRIED, max_examples=40)
@given(st.data())
def test_what_is_called_partitioned_lies_in_exactly_one_box(data: st.DataObject) -> None:
    from burnish.tile.region import partitioned

    graph = data.draw(chains(steps=3))
    tile_map = propagate(whole(graph), data.draw(tiles(graph.ops[-1].shape)))
    for op in graph.ops:
        box = tile_map.boxes[op.output]
        if not partitioned(box, op.shape, tile_map.counters):
            continue
        found: list[Point] = []
        for numbers in itertools.product(*(range(each.extent) for each in tile_map.counters)):
            start = corner(box, dict(zip(tile_map.counters, numbers, strict=True)))
            ranges = [
                range(low, min(low + span.size, extent))
                for low, span, extent in zip(start, box, op.shape, strict=True)
            ]
            found += itertools.product(*ranges)
        assert sorted(found) == sorted(itertools.product(*map(range, op.shape)))
