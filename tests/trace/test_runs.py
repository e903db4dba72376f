from __future__ import annotations

from burnish.trace.runs import without_first
from timelines import run, span, trace


def test_the_first_inferences_can_be_dropped() -> None:
    whole = trace(span("load", 0, 5), *(run(10, 9), span("a", 11, 2), run(20, 9), span("b", 21, 2)))
    warm = without_first(whole, 1)
    assert warm.runs == 1
    assert [(s.name, s.run) for s in warm.spans] == [("load", -1), ("model_run", 0), ("b", 0)]


def test_dropping_more_than_there_is_leaves_no_inference() -> None:
    assert without_first(trace(run(0, 9)), 3).runs == 0


def test_a_span_of_nobody_belongs_to_no_inference() -> None:
    whole = trace(run(0, 10), run(5, 10), span("a", 6, 1, track="elsewhere"))
    assert {s.name: s.run for s in whole.spans}["a"] == -1
