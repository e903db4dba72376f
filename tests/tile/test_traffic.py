from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.hw.spec import load
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at, fetched
from burnish.tile.region import propagate
from burnish.tile.traffic import (
    Transactions,
    contiguous_run,
    moved_elements,
    traffic,
    transactions,
)
from burnish.tile.workload import workload
from tile_samples import Sketch, feed_forward, first, scores, whole
from tile_strategies import UNHURRIED, chains, tiles

EXACT = Transactions(1, 1)


@pytest.mark.parametrize(
    ("tile", "kib_per_tile", "mib"), [((4, 128), 35, 840), ((16, 128), 44, 264)]
)
def test_the_papers_example_moves_what_the_paper_says(
    tile: tuple[int, ...], kib_per_tile: int, mib: int
) -> None:
    graph = scores(98304, 64, 128)
    group = whole(graph)
    sizes = transactions(load("nvidia-v100"))
    found = traffic(workload(group, graph), propagate(group, tile), sizes)
    assert found.tile_bytes == kib_per_tile * 2**10
    assert found.total_bytes == mib * 2**20
    assert set(found.redundancy.values()) == {1.0}


def test_a_run_ends_at_the_first_dimension_that_is_not_whole() -> None:
    assert contiguous_run((2, 3, 4), (8, 8, 8)) == 4
    assert contiguous_run((2, 3, 8), (8, 8, 8)) == 24
    assert contiguous_run((2, 8, 8), (8, 8, 8)) == 128


def test_short_runs_move_whole_transactions() -> None:
    assert moved_elements((4, 8), (16, 64), transaction=32) == 4 * 32
    assert moved_elements((4, 64), (16, 64), transaction=32) == 4 * 64
    assert moved_elements((0, 8), (16, 64), transaction=32) == 0


def test_devices_differ_in_what_they_move_at_once() -> None:
    assert transactions(load("nvidia-h200")) == Transactions(128, 32)
    assert transactions(load("x86-avx2")) == Transactions(64, 64)


def test_constants_are_laid_out_for_the_reader() -> None:
    graph = scores(64, 64, 128)
    group = whole(graph)
    found = traffic(workload(group, graph), propagate(group, (4, 128)), Transactions(1 << 20, 1))
    weight = next(each for each in found.movements if each.tensor.startswith("weight"))
    assert weight.moved_bytes == 64 * 128 * 4
    assert weight.counters == frozenset()


def test_a_halo_is_moved_and_computed_again() -> None:
    graph = feed_forward(4, 8, 16)
    group = whole(graph)
    found = traffic(workload(group, graph), propagate(group, (1, 4, 4, 16)), EXACT)
    assert found.redundancy["depthwise$0"] == 1.0
    assert found.redundancy["padded$0"] == pytest.approx(4 * 6 / 18)
    assert found.redundancy["convolved$0"] == pytest.approx(4 * 6 / 16)
    source = next(each for each in found.movements if each.tensor == "x")
    assert source.box_bytes == 4 * 6 * 16 * 4
    assert source.distinct_bytes == 4 * 16 * 16 * 4
    assert source.counters == frozenset({2})
    assert found.operations > sum(op.work for op in graph.ops)


def test_elements_that_no_tile_needs_are_not_counted() -> None:
    sketch = Sketch(x=(1, 8, 4, 4))
    graph = sketch.graph(sketch.gate("x"))
    found = traffic(workload(whole(graph), graph), propagate(whole(graph), (1, 4, 4, 4)), EXACT)
    assert found.movements[0].distinct_bytes == 8 * 4 * 4 * 4


def test_of_a_table_only_the_rows_that_are_fetched_are_moved() -> None:
    sketch = Sketch(table=(1000, 8))
    sketch.builder.tensors["ids"] = TensorType("i64", (6,))
    row, column = Axis("row", 6), Axis("column", 8)
    read = Read("table", (fetched("ids", [at(row)], 1000), at(column)))
    sketch.builder.add("y", [row, column], [read], first())
    graph = TileGraph(sketch.builder.tensors, ("table", "ids"), ("y",), tuple(sketch.builder.ops))
    found = traffic(workload(whole(graph), graph), propagate(whole(graph), (2, 8)), EXACT)
    table = next(each for each in found.movements if each.tensor == "table")
    assert (table.box_bytes, table.moved_bytes) == (2 * 8 * 4, 2 * 8 * 4)
    assert table.distinct_bytes == 6 * 8 * 4


@UNHURRIED
@given(st.data())
def test_a_whole_output_as_one_tile_does_nothing_twice(data: st.DataObject) -> None:
    graph = data.draw(chains())
    group = whole(graph)
    found = traffic(workload(group, graph), propagate(group, graph.ops[-1].shape), EXACT)
    assert found.tiles == 1
    assert found.operations == sum(op.work for op in graph.ops)


@UNHURRIED
@given(st.data())
def test_what_is_moved_is_never_less_than_what_is_distinct(data: st.DataObject) -> None:
    graph = data.draw(chains())
    group = whole(graph)
    tile_map = propagate(group, data.draw(tiles(graph.ops[-1].shape)))
    for each in traffic(workload(group, graph), tile_map, Transactions(64, 64)).movements:
        assert each.box_bytes <= each.moved_bytes
        assert each.distinct_bytes <= tile_map.tiles * each.box_bytes
