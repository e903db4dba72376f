"""Which inference a span belongs to, in timelines where a device works later than it is told to."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace

from burnish.trace.events import Span

_ON_DEVICE = ("kernel", "copy")
_WORK = ("kernel", "copy", "node")


def with_inferences(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the spans, each with the number of the inference that it was launched in.

    The `run` spans say when the host was at an inference; each is made longer to hold the
    device's work for it. Without any, all is one inference, which lasts from the first to the
    last work of the device, or of the host where no device took part. Order is kept, so that
    `parent` and `cause` stay valid; a span for the one inference is added at the end.
    """
    runs = sorted((s for s in spans if s.category == "run"), key=lambda span: span.start_s)
    if not runs:
        return _as_one(spans)
    starts = [run.start_s for run in runs]
    numbers = {id(run): number for number, run in enumerate(runs)}

    def number_of(span: Span) -> int:
        if id(span) in numbers:
            return numbers[id(span)]
        when = spans[span.cause].start_s if span.cause is not None else span.start_s
        number = bisect.bisect_right(starts, when) - 1
        # what a device still does after its inference was left belongs to that inference
        inside = number >= 0 and (when < runs[number].end_s or span.category in _ON_DEVICE)
        return number if inside else -1

    numbered = [replace(span, run=number_of(span)) for span in spans]
    ends = [run.end_s for run in runs]
    for span in numbered:
        if span.run >= 0 and span.category in _ON_DEVICE:
            ends[span.run] = max(ends[span.run], span.end_s)
    return tuple(
        replace(s, duration_s=ends[s.run] - s.start_s) if s.category == "run" else s
        for s in numbered
    )


def _as_one(spans: Sequence[Span]) -> tuple[Span, ...]:
    on_device = [span for span in spans if span.category in _ON_DEVICE]
    work = on_device or [span for span in spans if span.category in _WORK]
    if not work:
        return tuple(spans)
    begin = min(span.start_s for span in work)
    end = max(span.end_s for span in work)
    whole = Span("all that was recorded", "run", begin, end - begin, "inference", 0)
    return (*(replace(span, run=0) for span in spans), whole)
