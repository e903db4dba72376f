from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.hw.spec import for_cores, load
from burnish.tile.candidates import Space, _run, _sizes, axis_sizes, candidates
from burnish.tile.expr import Argument
from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import at
from burnish.tile.machine import Machine, machine
from burnish.tile.region import partitioned, propagate
from burnish.tile.semantics import axes_for
from tile_samples import Sketch, attention, chain_of_layers, feed_forward, whole
from tile_strategies import UNHURRIED, chains

AVX2 = machine(for_cores(load("x86-avx2"), 2))


@pytest.mark.parametrize(
    ("extent", "sizes"),
    [(1, (1,)), (7, (1, 2, 4, 7)), (56, (1, 2, 4, 8, 16, 32, 56)), (0, (1,))],
)
def test_sizes_are_divisors_and_powers_of_two(extent: int, sizes: tuple[int, ...]) -> None:
    assert axis_sizes(extent, lanes=8) == sizes


@given(st.integers(2, 100_000), st.sampled_from([1, 8, 16]))
def test_sizes_reach_from_one_to_the_whole_axis_and_stay_few(extent: int, lanes: int) -> None:
    sizes = axis_sizes(extent, lanes)
    assert sizes[0] == 1
    assert sizes[-1] == extent
    assert len(sizes) <= 2 * extent.bit_length()


def test_innermost_channels_that_are_less_than_a_vector_stay_together() -> None:
    axes = axes_for((1, 16, 6, 8))
    read = Read("x", tuple(map(at, axes)))
    anchor = TileOp("y", axes, (read,), Argument(0, "bool"))
    assert AVX2.lanes("bool") > 16
    assert _sizes(anchor, (0, 2, 3, 1), AVX2)[1] == (16,)


def test_sizes_favour_whole_vectors_along_the_innermost_axis_that_is_one() -> None:
    """Of the means of 232 channels, half would be seven vectors and a quarter."""
    axes = axes_for((1, 232, 1, 1))
    anchor = TileOp("y", axes, (Read("x", tuple(map(at, axes))),), Argument(0, "f32"))
    sizes = _sizes(anchor, None, machine(load("x86-avx512")))[1]
    assert {128, 64} <= set(sizes)
    assert 116 not in sizes


def test_the_best_comes_first_and_there_are_no_more_than_asked_for() -> None:
    graph = attention(12, 128, 64)
    found = candidates(whole(graph), graph, AVX2, Space(top=5)).candidates
    seconds = [each.cost.seconds for each in found]
    assert len(found) == 5
    assert seconds == sorted(seconds)


def test_every_thread_has_several_tiles_where_there_is_enough_work() -> None:
    graph = feed_forward(48, 128, 256)
    best = candidates(whole(graph), graph, AVX2).candidates[0]
    assert best.cost.waves >= 4


def test_a_chain_of_convolutions_keeps_all_channels_in_a_tile() -> None:
    graph = feed_forward(48, 128, 256)
    best = candidates(whole(graph), graph, AVX2).candidates[0]
    assert best.schedule.tile[1] == 48
    assert best.cost.traffic.redundancy["convolved$0"] > 1


def test_layers_are_walked_in_bands_of_whole_rows() -> None:
    graph = chain_of_layers(16384, 64, 8)
    best = candidates(whole(graph), graph, AVX2).candidates[0]
    assert best.schedule.tile[1] == 64
    assert 16 <= best.schedule.tile[0] <= 1024


def test_walks_are_offered_where_neighbours_share_something() -> None:
    space = Space(walks=("independent", "carried"), visits=60)
    graph = feed_forward(48, 128, 256)
    found = candidates(whole(graph), graph, AVX2, space).candidates
    assert found[0].schedule.carried == 2
    assert found[0].schedule.run > 1
    layers = chain_of_layers(1024, 64, 2)
    found = candidates(whole(layers), layers, AVX2, space).candidates
    assert {each.schedule.carried for each in found} == {None}


@pytest.mark.parametrize(("rows", "runs"), [(1, 4), (2, 2), (4, 1), (100, 1)])
def test_runs_leave_every_thread_its_share(rows: int, runs: int) -> None:
    length = _run(rows * 64, 64, 2)
    assert -(-64 // length) == runs
    assert _run(rows * 64, 64, 1) == 64


def test_only_walks_of_a_group_without_neighbours_is_nothing() -> None:
    graph = chain_of_layers(64, 64, 1)
    found = candidates(whole(graph), graph, AVX2, Space(walks=("carried",)))
    assert found.candidates == ()


def test_scratch_that_fits_nowhere_is_the_reason() -> None:
    tight = dataclasses.replace(AVX2, scratch_bytes=1000)
    graph = feed_forward(48, 128, 64)
    found = candidates(whole(graph), graph, tight)
    assert found.candidates == ()
    assert found.reason.startswith("its least scratch is ")
    assert found.reason.endswith(" bytes, and x86-avx2 has room for 1,000")


def test_a_tensor_that_tiles_would_write_twice_is_the_reason() -> None:
    sketch = Sketch(x=(1, 4, 8, 8))
    convolved = sketch.convolution("x", 4)
    graph = sketch.graph(convolved, sketch.depthwise(convolved))
    group = Group(graph.ops, graph.outputs)
    found = candidates(group, graph, AVX2)
    for each in found.candidates:
        tile_map = propagate(group, each.schedule.tile)
        assert partitioned(tile_map.boxes[convolved], (1, 4, 8, 8), tile_map.counters)
        assert each.schedule.tile[2:] == (8, 8)


def test_an_output_without_elements_has_no_candidate() -> None:
    sketch = Sketch(x=(0, 8))
    graph = sketch.graph(sketch.relu("x"))
    assert candidates(whole(graph), graph, AVX2).reason == "its output has no element"


def test_seeds_are_visited_and_cut_to_the_axes() -> None:
    graph = chain_of_layers(64, 64, 1)
    found = candidates(whole(graph), graph, AVX2, Space(visits=1), seeds=[(3, 999), (1,)])
    assert [each.schedule.tile for each in found.candidates] == [(3, 64)]


@settings(UNHURRIED, max_examples=30)
@given(chains(), st.sampled_from(["x86-avx2", "nvidia-h200"]))
def test_every_candidate_fits_and_the_search_stops(graph: TileGraph, name: str) -> None:
    device: Machine = machine(load(name))
    found = candidates(whole(graph), graph, device, Space(top=1000, visits=40)).candidates
    assert found
    assert len({each.schedule.tile for each in found}) <= 40
    for each in found:
        assert each.cost.scratch_bytes <= device.scratch_bytes
        assert all(
            1 <= s <= e for s, e in zip(each.schedule.tile, graph.ops[-1].shape, strict=True)
        )
