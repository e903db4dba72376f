from __future__ import annotations

from burnish.trace.events import Span, Trace
from burnish.trace.runs import joined, last_runs, warm
from timelines import US, run, span, trace


def test_a_span_belongs_to_the_inference_it_started_in() -> None:
    whole = trace(span("load", 0, 5), *(run(10, 9), span("a", 11, 2), run(20, 9), span("b", 21, 2)))
    assert {s.name: s.run for s in whole.spans} == {"load": -1, "model_run": 1, "a": 0, "b": 1}


def test_a_span_that_could_be_of_two_inferences_belongs_to_none() -> None:
    whole = trace(run(0, 10), run(5, 10), span("a", 6, 1, track="elsewhere"))
    assert {s.name: s.run for s in whole.spans}["a"] == -1


def test_a_long_inference_is_found_behind_short_ones() -> None:
    whole = trace(
        span("outer", 0, 100, op=None, category="run", track="u"),
        *(run(10, 2), run(20, 2), run(30, 2)),
        span("a", 50, 1, track="u"),
    )
    assert {s.name: s.run for s in whole.spans}["a"] == 0


def test_only_the_last_runs_of_a_trace_are_kept_with_their_links() -> None:
    spans = [Span(f"r{run}", "run", run, 1, "t", run) for run in (-1, 0, 1, 2)]
    spans.append(Span("kernel", "kernel", 2, 1, "s", 2, parent=0, cause=3))
    found = last_runs(Trace(tuple(spans), "test", runs=3), 2)
    assert [(span.name, span.run) for span in found.spans] == [
        ("r1", 0),
        ("r2", 1),
        ("kernel", 1),
    ]
    assert (found.runs, found.spans[2].parent, found.spans[2].cause) == (2, None, 1)


def test_a_first_inference_that_only_warmed_up_is_left_out() -> None:
    cold = trace(run(0, 900), span("a", 0, 800), run(1000, 100), span("a", 1000, 90))
    assert [each.duration_s for each in warm(cold).spans if each.name == "a"] == [90 * US]
    assert warm(cold).notes[0].startswith("the first inference is left out")
    even = trace(run(0, 110), span("a", 0, 100), run(1000, 100), span("a", 1000, 90))
    assert warm(even) is even


def test_recordings_are_joined_one_after_the_other_with_their_links() -> None:
    one = Trace(
        (
            Span("load", "other", 0.0, 1.0, "t", -1),
            Span("run", "run", 1.0, 4.0, "t", 0),
            Span("a", "node", 2.0, 2.0, "t", 0, parent=1),
        ),
        "test",
        runs=1,
    )
    both = joined([one, one], [1.0, 0.5])
    assert both.runs == 2
    assert [span.run for span in both.spans] == [-1, 0, 0, -1, 1, 1]
    assert [span.parent for span in both.spans] == [None, None, 1, None, None, 4]
    assert [span.duration_s for span in both.spans[3:]] == [0.5, 2.0, 1.0]
    assert both.spans[3].start_s >= both.spans[1].end_s
