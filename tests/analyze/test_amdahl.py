from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.amdahl import called, ceiling, denominators, longest_unprofiled, unprofiled
from burnish.analyze.event_graph import EventGraph, without
from burnish.analyze.simulate import simulate
from event_graphs import US, chain, ended, event, graphs

ON_GPU = EventGraph(
    (
        event("l", 10, kind="launch", nodes=()),
        event("k", 5, 0, gap=2, kind="kernel", resource="s", launch=0),
        event("l", 10, 0, gap=20, kind="launch", nodes=()),
        event("c", 6, 1, 2, kind="copy", resource="s", launch=2),
        event("w", 3, 2, 3, kind="sync", nodes=()),
        event("end", 0, 4, gap=4, kind="end", nodes=()),
    )
)


def test_every_instant_of_the_wall_is_in_exactly_one_part() -> None:
    found = denominators(ON_GPU, unprofiled_s=40 * US)
    parts = (found.busy_s, found.copy_s, found.launch_s, found.sync_s, found.idle_s)
    assert parts == pytest.approx([5 * US, 6 * US, 20 * US, 3 * US, 19 * US])
    assert found.profiled_s == pytest.approx(53 * US)
    assert found.work_s == pytest.approx(11 * US)
    assert found.profiler_s == pytest.approx(13 * US)
    assert found.wall_s == pytest.approx(40 * US)


@given(graphs())
def test_the_parts_always_add_up_to_the_wall(graph: EventGraph) -> None:
    found = denominators(graph, unprofiled_s=None)
    whole = found.busy_s + found.copy_s + found.launch_s + found.sync_s + found.idle_s
    assert whole == pytest.approx(found.profiled_s, abs=1e-12)
    assert found.profiler_s is None
    assert found.wall_s == found.profiled_s


def test_the_bound_is_against_what_the_user_waits_for() -> None:
    found = ceiling(15 * US, wall_s=3218 * US, busy_s=98 * US)
    assert found.against_wall == pytest.approx(1.005, abs=5e-4)
    assert found.against_busy == pytest.approx(1.181, abs=5e-4)
    assert ceiling(1.0, wall_s=1.0, busy_s=1.0).against_wall == math.inf


@given(st.lists(st.integers(5, 500), min_size=2, max_size=20), st.integers(20, 2000))
def test_without_profiling_it_takes_what_was_measured(lengths: list[int], wall: int) -> None:
    graph, correction = unprofiled(chain(*lengths, gap=3), wall_s=wall * US, dispatch_s=1 * US)
    assert simulate(graph).wall_s == pytest.approx(wall * US)
    assert correction is not None
    least = min(*lengths, 10) * US
    assert least <= correction.floor_s <= 2 * least
    assert 0 <= correction.factor <= 1
    if correction.factor < 1:
        assert correction.floor_s == pytest.approx(2 * least)
    assert correction.gap_s >= 0


def test_what_recording_adds_is_taken_off_every_node_before_long_ones_are_shortened() -> None:
    graph, correction = unprofiled(chain(5, 9, 100), wall_s=(3 + 1 + 92) * US, dispatch_s=1 * US)
    assert correction is not None
    assert (correction.factor, correction.floor_s) == (1.0, pytest.approx(8 * US))
    assert [one.duration_s for one in graph.events] == pytest.approx([0.0, 1 * US, 92 * US])


@pytest.mark.parametrize("lengths", [(1000,), (7,), (900, 1100)])
def test_nodes_that_are_alone_or_long_are_work_and_no_recording(lengths: tuple[int, ...]) -> None:
    recorded = chain(*lengths, gap=3)
    most_s = longest_unprofiled(recorded, dispatch_s=1 * US)
    assert most_s > 0.98 * sum(lengths) * US
    graph, _ = unprofiled(recorded, wall_s=most_s, dispatch_s=1 * US)
    assert simulate(graph).busy_s > 0.97 * sum(lengths) * US


@given(st.lists(st.integers(5, 500), min_size=2, max_size=20), st.integers(100, 2000))
def test_what_a_call_costs_stays_when_every_node_is_taken_out(
    lengths: list[int], wall: int
) -> None:
    graph, correction = unprofiled(
        called(ended(chain(*lengths, gap=3)), 30 * US), wall_s=wall * US, dispatch_s=1 * US
    )
    assert correction is not None
    assert correction.call_s == pytest.approx(30 * US)
    assert simulate(graph).wall_s == pytest.approx(wall * US)
    assert simulate(without(graph, graph.work)).wall_s == pytest.approx(30 * US)


def test_half_of_an_inference_at_least_is_its_nodes() -> None:
    graph, correction = unprofiled(
        called(ended(chain(5, 9)), 30 * US), wall_s=40 * US, dispatch_s=1 * US
    )
    assert correction is not None
    assert correction.call_s == pytest.approx(20 * US)
    assert simulate(graph).wall_s == pytest.approx(40 * US)


def test_kernels_keep_their_times_and_the_host_is_made_to_fit() -> None:
    graph, correction = unprofiled(ON_GPU, wall_s=40 * US, dispatch_s=1 * US)
    assert correction is None
    assert simulate(graph).wall_s == pytest.approx(40 * US)
    assert graph.events[1].duration_s == ON_GPU.events[1].duration_s


def test_a_run_that_is_already_shorter_is_left_as_it_is() -> None:
    assert unprofiled(ON_GPU, wall_s=1.0, dispatch_s=1 * US) == (ON_GPU, None)
    only_end = EventGraph((replace(ON_GPU.events[5], after=()),))
    assert unprofiled(only_end, wall_s=1.0, dispatch_s=0.0) == (only_end, None)


def test_an_inference_cannot_take_longer_than_the_profiled_one_less_what_profiling_adds() -> None:
    assert longest_unprofiled(chain(5, 25, gap=100), dispatch_s=1 * US) == pytest.approx(26 * US)
    assert longest_unprofiled(chain(5, 25, gap=1), dispatch_s=9 * US) == pytest.approx(22 * US)
    assert longest_unprofiled(ON_GPU, dispatch_s=1 * US) == pytest.approx(53 * US)
    around = called(ended(chain(5, 25, gap=100)), 7 * US)
    assert longest_unprofiled(around, dispatch_s=1 * US) == pytest.approx(33 * US)


def test_a_graph_without_an_end_has_no_call_around_it() -> None:
    assert called(chain(1, 2), 7 * US) == chain(1, 2)


def test_what_recording_has_after_the_last_node_is_no_second_call() -> None:
    nodes, last = chain(1, 2), event("end", 0, 1, gap=5, kind="end", nodes=(), op_type=None)
    recorded = EventGraph((*nodes.events, last))
    assert called(recorded, 30 * US).events[-1].gap_s == 30 * US
    assert called(recorded, 0.0) == recorded
