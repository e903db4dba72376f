from __future__ import annotations

from hypothesis import given

from burnish.trace.events import Trace
from burnish.trace.nesting import in_order, parents
from timelines import span, traces


def test_the_innermost_span_on_the_same_track_is_around_another() -> None:
    spans = [
        span("outer", 0, 100), span("inner", 10, 50), span("leaf", 20, 5), span("after", 70, 5),
        span("elsewhere", 75, 5, track="u"),
    ]  # fmt: skip
    assert parents(spans) == [None, 0, 1, 0, None]


def test_a_coarser_span_of_the_same_time_is_around_a_finer_one() -> None:
    spans = [
        span("call", 0, 9, category="launch"),
        span("op", 0, 9),
        span("m", 0, 9, category="module"),
    ]
    assert [spans[at].name for at in in_order(spans)] == ["m", "op", "call"]


@given(traces())
def test_a_parent_comes_first_and_goes_on_when_its_child_begins(trace: Trace) -> None:
    spans = [trace.spans[at] for at in in_order(trace.spans)]
    for at, parent in enumerate(parents(spans)):
        if parent is not None:
            assert parent < at
            assert spans[parent].track == spans[at].track
            assert spans[parent].start_s <= spans[at].start_s <= spans[parent].end_s
