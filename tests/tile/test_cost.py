from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.hw.spec import HardwareSpec, for_cores, load
from burnish.hw.unit import CORE
from burnish.tile.cost import Cost, carried_tensors, computed_elements, estimate
from burnish.tile.graph import TileGraph
from burnish.tile.machine import machine
from burnish.tile.parse import parse
from burnish.tile.region import propagate
from burnish.tile.schedule import Schedule
from burnish.tile.traffic import piece_bytes
from burnish.tile.workload import workload
from tile_samples import Sketch, chain_of_layers, feed_forward, scores, whole
from tile_strategies import UNHURRIED, chains, tiles

DEVICES = ["x86-avx2", "x86-avx512", "nvidia-v100", "nvidia-h200"]


def cost(
    graph: TileGraph, tile: tuple[int, ...], hw: HardwareSpec, carried: int | None = None
) -> Cost:
    schedule = Schedule(tile, carried=carried, run=1 if carried is None else 32)
    return estimate(workload(whole(graph), graph), schedule, machine(hw))


def slower_memory(hw: HardwareSpec, factor: float) -> HardwareSpec:
    levels = tuple(
        dataclasses.replace(level, bandwidth_bytes_per_s=level.bandwidth_bytes_per_s / factor)
        for level in hw.memory
    )
    return dataclasses.replace(hw, memory=levels)


def smaller_memory(hw: HardwareSpec, factor: int) -> HardwareSpec:
    levels = tuple(
        dataclasses.replace(level, capacity_bytes=max(level.capacity_bytes // factor, 1))
        for level in hw.memory
    )
    return dataclasses.replace(hw, memory=levels)


def slower_units(hw: HardwareSpec, factor: float) -> HardwareSpec:
    rates = {dtype: rate / factor for dtype, rate in hw.peak_flops_per_s.items()}
    return dataclasses.replace(hw, peak_flops_per_s=rates)


@UNHURRIED
@given(st.data(), st.sampled_from(DEVICES), st.floats(1, 100))
def test_a_slower_device_never_takes_less(data: st.DataObject, name: str, factor: float) -> None:
    graph = data.draw(chains())
    tile = data.draw(tiles(graph.ops[-1].shape))
    hw = load(name)
    now = cost(graph, tile, hw)
    launching = dataclasses.replace(hw, launch_overhead_s=hw.launch_overhead_s * factor)
    for worse in (slower_memory(hw, factor), slower_units(hw, factor), launching):
        assert cost(graph, tile, worse).seconds >= now.seconds * (1 - 1e-9)


@UNHURRIED
@given(st.data(), st.sampled_from(DEVICES), st.integers(2, 10_000))
def test_smaller_memories_never_cost_less(data: st.DataObject, name: str, factor: int) -> None:
    graph = data.draw(chains())
    tile = data.draw(tiles(graph.ops[-1].shape))
    hw = load(name)
    worse = cost(graph, tile, smaller_memory(hw, factor))
    assert worse.seconds >= cost(graph, tile, hw).seconds * (1 - 1e-9)


@UNHURRIED
@given(st.integers(1, 6), st.integers(1, 20), st.integers(1, 20), st.sampled_from(DEVICES))
def test_more_rows_never_cost_less(layers: int, few: int, more: int, name: str) -> None:
    least = cost(chain_of_layers(32 * few, 32, layers), (32, 32), load(name))
    most = cost(chain_of_layers(32 * (few + more), 32, layers), (32, 32), load(name))
    assert most.seconds >= least.seconds


@UNHURRIED
@given(st.data(), st.sampled_from(DEVICES))
def test_the_whole_is_at_least_each_of_its_parts(data: st.DataObject, name: str) -> None:
    graph = data.draw(chains())
    found = cost(graph, data.draw(tiles(graph.ops[-1].shape)), load(name))
    assert found.seconds >= found.compute_s + found.launch_s
    assert found.seconds >= max(found.memory_s.values())
    assert list(found.memory_s) == [level.name for level in load(name).memory]


def test_the_papers_better_tile_costs_less() -> None:
    graph = scores(98304, 64, 128)
    hw = load("nvidia-v100")
    few, many = cost(graph, (16, 128), hw), cost(graph, (4, 128), hw)
    assert few.seconds < many.seconds
    assert few.memory_s["l2"] / many.memory_s["l2"] == pytest.approx(264 / 840)


def test_tiles_shorter_than_a_vector_waste_the_rest_of_it() -> None:
    sketch = Sketch(x=(64, 64))
    graph = sketch.graph(sketch.relu("x"))
    hw = load("x86-avx2")
    assert cost(graph, (64, 4), hw).compute_s == 2 * cost(graph, (64, 8), hw).compute_s


def test_weights_of_tiles_that_begin_within_a_vector_lie_apart() -> None:
    """They are in panels only where each tile begins with one."""
    graph = parse(
        "in x: f32[64, 196]\nconst w: f32[232, 64]\n"
        "y: f32[i=196, j=232] = sum(k=64) x[k, i] * w[j, k]\nout y",
        {"w": np.ones((232, 64), np.float32)},
    )
    hw = load("x86-avx512")
    inside, whole_vectors = (cost(graph, (196, size), hw).compute_s for size in (58, 64))
    assert inside > 1.3 * whole_vectors


def test_elements_that_lie_apart_are_loaded_one_by_one() -> None:
    aside, straight = Sketch(x=(512, 512)), Sketch(x=(512, 512))
    moved = aside.graph(aside.transpose("x", (1, 0)))
    copied = straight.graph(straight.transpose("x", (0, 1)))
    hw = load("x86-avx2")
    assert cost(moved, (64, 512), hw).seconds > cost(copied, (64, 512), hw).seconds


def test_a_row_reduction_runs_along_the_row() -> None:
    sketch = Sketch(x=(512, 512))
    graph = sketch.graph(sketch.reduce_last("sum", "x"))
    found = cost(graph, (64,), load("x86-avx2"))
    assert found.compute_s == pytest.approx(512 * (512 + 8) * 2 / 100e9 + 512 * CORE.row_start_s)


def test_scratch_beyond_a_cache_comes_from_the_next_one() -> None:
    graph = feed_forward(48, 128, 256)
    hw = load("x86-avx2")
    small, large = (cost(graph, (1, 48, rows, 32), hw) for rows in (4, 64))
    assert small.scratch_bytes < hw.memory[1].capacity_bytes < large.scratch_bytes
    assert small.memory_s["l3"] < large.memory_s["l3"]


def test_what_kernels_turn_before_they_multiply_it_takes_scratch() -> None:
    """Both factors lie along the sum: no axis of the output has vectors of either."""
    graph = parse(
        "in q: f32[96, 4096]\nin k: f32[96, 4096]\nout s\n"
        "s: f32[i=96, j=96] = sum(n=4096) q[i, n] * k[j, n]",
        {},
    )
    hw = load("x86-avx512")
    assert cost(graph, (96, 96), hw).scratch_bytes == 96 * 4096 * 4
    assert cost(graph, (96, 32), hw).scratch_bytes == 0, "short enough to stay near"


def test_what_has_vectors_along_some_axis_is_not_turned() -> None:
    graph = parse(
        "in q: f32[96, 4096]\nin k: f32[4096, 96]\nout s\n"
        "s: f32[i=96, j=96] = sum(n=4096) q[i, n] * k[n, j]",
        {},
    )
    assert not workload(whole(graph), graph).turned


def test_every_piece_of_far_memory_is_begun() -> None:
    """Quarters of rows of 512 planes are four times as many pieces as whole rows."""
    sketch = Sketch(x=(1, 512, 256, 256))
    graph = sketch.graph(sketch.relu("x"))
    hw = load("x86-avx512")
    rows, quarters = (cost(graph, (1, 512, 1, width), hw).memory_s["dram"] for width in (256, 64))
    more = 2 * 3 * 512 * 256 * CORE.piece_s
    assert quarters - rows == pytest.approx(more, rel=0.1)


def test_channels_that_lie_innermost_are_one_piece() -> None:
    sketch = Sketch(x=(1, 512, 256, 256))
    graph = sketch.graph(sketch.relu("x"))
    orders = dict.fromkeys(("x", graph.outputs[0]), (0, 2, 3, 1))
    work = workload(whole(graph), graph, orders)
    assert piece_bytes(work, propagate(work.group, (1, 512, 1, 64)), "x") == 64 * 512 * 4


def test_near_memory_has_no_pieces() -> None:
    sketch = Sketch(x=(1, 16, 32, 32))
    graph = sketch.graph(sketch.relu("x"))
    found = cost(graph, (1, 16, 1, 16), load("x86-avx512"))
    assert found.memory_s["dram"] == 0


def test_recomputed_halos_are_paid_for() -> None:
    graph = feed_forward(48, 128, 64)
    hw = load("x86-avx2")
    assert (
        cost(graph, (1, 48, 2, 64), hw).compute_s > 1.4 * cost(graph, (1, 48, 64, 64), hw).compute_s
    )


def test_what_neighbours_keep_is_not_computed_again() -> None:
    graph = feed_forward(48, 128, 64)
    hw = load("x86-avx2")
    again, kept = (cost(graph, (1, 48, 2, 64), hw, carried) for carried in (None, 2))
    assert kept.compute_s < again.compute_s
    assert kept.operations < again.operations == again.traffic.operations
    assert kept.scratch_bytes >= again.scratch_bytes
    schedule = Schedule((1, 48, 2, 64), carried=2, run=32)
    tile_map = propagate(whole(graph), schedule.tile)
    assert carried_tensors(tile_map, schedule) >= {"padded$0", "convolved$0"}
    assert computed_elements(tile_map, schedule, "padded$0") == 256 * 66 * 66
    in_two_runs = Schedule((1, 48, 2, 64), carried=2, run=16)
    assert computed_elements(tile_map, in_two_runs, "padded$0") == 256 * (66 + 2) * 66


def test_what_moves_by_rows_that_differ_is_computed_for_every_tile() -> None:
    text = """
        in x: f32[1, 4, 8, 8]
        out y
        a: f32[n=1, c=4, i=8, j=8] = x[0, c, i, j] * x[0, c, i, j]
        y: f32[n=1, c=4, i=16, j=8] = a[0, c, (i) // 2, j] * a[0, c, (i) // 2, j]
    """
    graph = parse(text, {})
    for rows, times in ((1, 2), (2, 1)):
        schedule = Schedule((1, 4, rows, 8), carried=2, run=16)
        tile_map = propagate(whole(graph), schedule.tile)
        assert computed_elements(tile_map, schedule, "a") == times * 4 * 8 * 8


def test_tiles_that_wait_for_each_other_share_no_threads() -> None:
    graph = feed_forward(48, 128, 64)
    hw = for_cores(load("x86-avx2"), 4)
    walked = cost(graph, (1, 48, 2, 64), hw, carried=2)
    assert walked.waves == 32
    assert walked.seconds > 4 * walked.compute_s


def test_fewer_tiles_than_units_leave_units_idle() -> None:
    graph = chain_of_layers(4096, 64, 2)
    hw = for_cores(load("x86-avx2"), 4)
    one, many = cost(graph, (4096, 64), hw), cost(graph, (64, 64), hw)
    assert one.waves == 1
    assert one.seconds > 3 * many.seconds


def test_weights_that_stay_in_a_cache_are_fetched_once() -> None:
    graph = chain_of_layers(4096, 64, 1)
    found = cost(graph, (16, 64), load("x86-avx2"))
    tensors = 2 * 4096 * 64 * 4
    assert found.memory_s["l3"] * 52e9 == pytest.approx(tensors + 64 * 64 * 4)


def test_half_of_what_a_core_could_still_hold_is_fetched_again() -> None:
    sketch = Sketch(x=(64, 64))
    hw = load("x86-avx2")
    found = cost(sketch.graph(sketch.relu("x")), (64, 64), hw)
    both_bytes = 2 * 64 * 64 * 4
    assert both_bytes < hw.memory[1].capacity_bytes / 2
    assert found.memory_s["l3"] * 52e9 == pytest.approx(both_bytes / 2)


def test_an_empty_output_costs_a_launch() -> None:
    sketch = Sketch(x=(0, 8))
    found = cost(sketch.graph(sketch.relu("x")), (1, 8), load("x86-avx2"))
    assert found.seconds == found.launch_s == load("x86-avx2").launch_overhead_s


def test_a_device_without_a_rate_for_a_type_uses_that_of_f32() -> None:
    device = machine(load("x86-avx2"))
    assert device.peak_flops_per_s("f16") == device.peak_flops_per_s("f32")


@pytest.mark.parametrize(
    ("name", "lanes"), [("x86-avx2", 8), ("x86-avx512", 16), ("nvidia-h200", 32)]
)
def test_vectors_are_as_long_as_the_device_says(name: str, lanes: int) -> None:
    assert machine(load(name)).lanes("f32") == lanes


def test_vectors_are_those_that_a_description_tells() -> None:
    assert machine(load("x86-avx2")).lanes("f32") == 8
    assert machine(load("x86-avx512")).lanes("f32") == 16
    assert machine(load("x86-avx2"), vector_bytes=64).lanes("f32") == 16
    probed = dataclasses.replace(load("x86-avx512"), unit=None)
    assert machine(probed).lanes("f32") == 8
