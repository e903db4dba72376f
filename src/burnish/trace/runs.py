"""Which inference a span belongs to."""

from __future__ import annotations

import bisect
import statistics
from collections.abc import Sequence
from dataclasses import replace

from burnish.trace.events import Span, Trace


def with_runs(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans in order of time, each with the number of the inference it started in.

    The `run` spans say when an inference took place. Where two of them overlap (several threads
    call one session), a span goes to the one on its own track, and to none (-1) if that does not
    settle it.
    """
    ordered = sorted(spans, key=lambda span: (span.start_s, -span.duration_s))
    runs = [span for span in ordered if span.category == "run"]
    starts = [run.start_s for run in runs]
    longest = max((run.duration_s for run in runs), default=0.0)
    numbers = {id(run): number for number, run in enumerate(runs)}

    def number_of(span: Span) -> int:
        if id(span) in numbers:
            return numbers[id(span)]
        first = bisect.bisect_left(starts, span.start_s - longest)
        last = bisect.bisect_right(starts, span.start_s)
        around = [n for n in range(first, last) if span.start_s <= runs[n].end_s]
        if len(around) > 1:
            around = [n for n in around if runs[n].track == span.track]
        return around[-1] if around else -1

    return tuple(replace(span, run=number_of(span)) for span in ordered)


_COLD = 1.5
"""A first inference that takes as many times as long as the others only warmed up."""


def warm(trace: Trace) -> Trace:
    """Return a trace without its first inference, if that took clearly longer than the others."""
    lengths = {span.run: span.duration_s for span in trace.spans if span.category == "run"}
    others = [length for run, length in lengths.items() if run > 0]
    if trace.is_warm or not others or lengths.get(0, 0.0) <= _COLD * statistics.median(others):
        return trace
    note = "the first inference is left out: it took longer than the others, and warmed up"
    return replace(last_runs(trace, trace.runs - 1), notes=(*trace.notes, note))


def joined(traces: Sequence[Trace], factors: Sequence[float]) -> Trace:
    """Return recordings of the same as one, each after the others and its times multiplied."""
    spans, runs, begin_s = list[Span](), 0, 0.0
    for trace, factor in zip(traces, factors, strict=True):
        before = len(spans)

        def moved(place: int | None, by: int = before) -> int | None:
            return None if place is None else place + by

        spans += [
            replace(
                span,
                start_s=begin_s + factor * span.start_s,
                duration_s=factor * span.duration_s,
                run=span.run + runs if span.run >= 0 else span.run,
                parent=moved(span.parent),
                cause=moved(span.cause),
            )
            for span in trace.spans
        ]
        runs += trace.runs
        begin_s = max((span.end_s for span in spans), default=0.0)
    return replace(traces[0], spans=tuple(spans), runs=runs)


def last_runs(trace: Trace, runs: int) -> Trace:
    """Return the last `runs` runs of a trace, from 0; what lies outside of runs is dropped."""
    first = max(0, trace.runs - runs)
    kept = [at for at, span in enumerate(trace.spans) if span.run >= first]
    now_at: dict[int | None, int] = {at: new for new, at in enumerate(kept)}
    spans = tuple(
        replace(
            span, run=span.run - first, parent=now_at.get(span.parent), cause=now_at.get(span.cause)
        )
        for span in (trace.spans[at] for at in kept)
    )
    return replace(trace, spans=spans, runs=trace.runs - first)
