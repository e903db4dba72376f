from __future__ import annotations

import pytest
from hypothesis import given

from burnish.trace.events import Trace
from burnish.trace.own_time import busy_seconds, own_seconds
from timelines import US, span, traces


def test_a_node_does_not_own_the_time_of_its_body() -> None:
    spans = [span("if", 0, 100), span("then", 10, 30), span("deep", 15, 5), span("after", 100, 7)]
    assert own_seconds(spans) == pytest.approx([70 * US, 25 * US, 5 * US, 7 * US])


def test_tracks_do_not_contain_each_other() -> None:
    spans = [span("a", 0, 100), span("b", 10, 30, track="u")]
    assert own_seconds(spans) == pytest.approx([100 * US, 30 * US])


def test_what_overlaps_is_counted_once() -> None:
    spans = [span("a", 0, 10), span("b", 5, 15)]
    assert own_seconds(spans) == pytest.approx([5 * US, 15 * US])
    assert busy_seconds(spans) == pytest.approx(20 * US)


@given(traces())
def test_own_times_of_a_track_add_up_to_the_time_it_was_busy(trace: Trace) -> None:
    for track in {each.track for each in trace.spans}:
        spans = [each for each in trace.spans if each.track == track]
        assert sum(own_seconds(spans)) == pytest.approx(busy_seconds(spans), abs=1e-9)
