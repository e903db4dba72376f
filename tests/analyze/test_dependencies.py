from __future__ import annotations

import pytest
from hypothesis import assume, given

from burnish.analyze.dependencies import as_executed
from burnish.analyze.simulate import simulate
from burnish.core.errors import ModelError
from burnish.trace.events import Span, Trace
from timelines import US, run, span, trace, traces


def on_gpu(*spans: Span) -> Trace:
    whole = Span("all", "run", 0.0, max(s.end_s for s in spans), "inference", 0)
    return Trace(spans=(*spans, whole), source="by hand", runs=1)


def at(name: str, category: str, start: float, length: float, track: str, **more: object) -> Span:
    return Span(name, category, start * US, length * US, track, 0, **more)  # type: ignore[arg-type]


def test_one_inference_is_simulated_as_it_was_recorded() -> None:
    graph = as_executed(trace(run(0, 100), span("a", 10, 20), span("b", 40, 30)))
    timeline = simulate(graph)
    assert timeline.starts_s[:2] == pytest.approx((10 * US, 40 * US))
    assert timeline.wall_s == pytest.approx(100 * US)
    assert [one.gap_s for one in graph.events] == pytest.approx([10 * US, 10 * US, 30 * US])


@given(traces())
def test_whatever_was_recorded_busy_is_at_most_wall(recorded: Trace) -> None:
    assume(any(one.category == "node" and one.run >= 0 for one in recorded.spans))
    timeline = simulate(as_executed(recorded))
    assert timeline.busy_s <= timeline.wall_s + 1e-12


def test_times_are_medians_over_inferences() -> None:
    graph = as_executed(
        trace(
            run(0, 50), span("a", 0, 10),
            run(100, 50), span("a", 100, 12),
            run(200, 99), span("a", 200, 40),
        )
    )  # fmt: skip
    assert graph.events[0].duration_s == pytest.approx(12 * US)


def test_nested_nodes_take_their_own_time_each() -> None:
    graph = as_executed(trace(run(0, 60), span("if", 0, 50, op="If"), span("inner", 10, 20)))
    assert [one.duration_s for one in graph.events[:2]] == pytest.approx([30 * US, 20 * US])
    assert simulate(graph).wall_s == pytest.approx(60 * US)


def test_a_kernel_waits_for_its_launch_and_for_its_stream() -> None:
    graph = as_executed(
        on_gpu(
            at("launch", "launch", 0, 5, "cpu"),
            at("launch", "launch", 6, 5, "cpu"),
            at("k1", "kernel", 7, 20, "gpu", cause=0, device=0),
            at("k2", "kernel", 28, 10, "gpu", cause=1, device=0),
        )
    )
    k2 = graph.events[3]
    assert (k2.name, k2.after, k2.launch) == ("k2", (2, 1), 1)
    assert simulate(graph).starts_s[3] == pytest.approx(28 * US)


def test_a_call_that_returns_after_its_kernel_began_has_done_its_part_before() -> None:
    graph = as_executed(
        on_gpu(
            at("launch", "launch", 0, 20, "cpu"),
            at("k", "kernel", 8, 5, "gpu", cause=0, device=0),
            at("launch", "launch", 25, 5, "cpu"),
        )
    )
    assert graph.events[0].duration_s == pytest.approx(8 * US)
    assert simulate(graph).starts_s[2] == pytest.approx(25 * US)


def test_waiting_for_a_device_lasts_until_its_work_is_done() -> None:
    graph = as_executed(
        on_gpu(
            at("launch", "launch", 0, 5, "cpu"),
            at("k", "kernel", 6, 50, "gpu", cause=0, device=0),
            at("sync", "sync", 6, 52, "cpu"),
        )
    )
    sync = next(one for one in graph.events if one.kind == "sync")
    assert sync.duration_s == pytest.approx(2 * US)
    assert simulate(graph).wall_s == pytest.approx(58 * US)


def test_work_that_begins_while_it_is_waited_for_is_waited_for_too() -> None:
    graph = as_executed(
        on_gpu(
            at("launch", "launch", 0, 5, "cpu"),
            at("sync", "sync", 6, 60, "cpu"),
            at("k", "kernel", 30, 30, "gpu", cause=0, device=0),
        )
    )
    assert [one.kind for one in graph.events] == ["launch", "kernel", "sync", "end"]
    assert graph.events[2].duration_s == pytest.approx(6 * US)


def test_a_trace_without_events_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        as_executed(trace(run(0, 10)))
    assert "nothing to simulate" in caught.value.problem
    assert caught.value.hint == "record one with burnish profile MODEL --runs 10"
