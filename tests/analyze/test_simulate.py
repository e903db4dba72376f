from __future__ import annotations

import pytest
from hypothesis import given

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.simulate import simulate, trace_of
from event_graphs import US, chain, diamond, event, graphs


def test_an_event_starts_when_all_that_it_waits_for_has_ended() -> None:
    timeline = simulate(diamond(10, 5, 20, 1))
    assert timeline.starts_s == pytest.approx((0, 10 * US, 10 * US, 30 * US))
    assert timeline.wall_s == pytest.approx(31 * US)


def test_gaps_always_pass() -> None:
    assert simulate(chain(10, 10, gap=3)).wall_s == pytest.approx(26 * US)


@given(graphs())
def test_busy_is_never_more_than_wall(graph: EventGraph) -> None:
    timeline = simulate(graph)
    assert timeline.busy_s <= timeline.wall_s + 1e-12


@given(graphs())
def test_no_event_starts_before_what_it_waits_for_has_ended(graph: EventGraph) -> None:
    timeline = simulate(graph)
    for place, one in enumerate(graph.events):
        for other in one.after:
            assert timeline.starts_s[place] >= timeline.ends_s[other] + one.gap_s - 1e-12


def test_a_simulated_inference_can_be_drawn_like_a_recorded_one() -> None:
    graph = EventGraph((event("a", 4), event("end", 0, 0, kind="end", nodes=())))
    trace = trace_of(simulate(graph), source="simulated")
    assert [(span.name, span.category) for span in trace.spans] == [
        ("inference", "run"),
        ("a", "node"),
    ]
    assert trace.spans[1].node == "a"


def test_nothing_takes_no_time() -> None:
    assert simulate(EventGraph(())).wall_s == 0
