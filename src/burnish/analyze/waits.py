"""What the waits in one inference were for: a stream, all of a device, or a stream's event.

CUPTI writes a wait twice: as the call that the host made, and as a record beside the device's work.
The record says what is waited for; it takes no time of its own, and nothing on the device waits for
it. So the call becomes an event, and the record only tells what it is after.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.trace.events import DEVICE, Span, Trace

_SKEW_S = 5e-6
"""By how much the clocks of host and device may differ after the profiler has set them equal."""
_STREAM_WAITS = "Stream Wait Event"


@dataclass(frozen=True, slots=True)
class Barrier:
    """From some moment on, a stream goes on only when another one is as far as it was then."""

    when_s: float
    device: int | None
    stream: int
    """The one that waits."""
    source: int
    """The one that is waited for."""


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """The work of devices in one inference, in order of its start."""

    spans: tuple[Span, ...]
    launched_s: tuple[float, ...]
    """When the host launched each; what was launched before the trace began, long ago."""

    def last_waited_for(self, wait: Span) -> float | None:
        """Return when the last work began that a wait waited for after it had begun itself.

        Work may begin after the host began to wait for it, if it was launched before.
        """
        last = bisect.bisect_right(self.spans, wait.end_s, key=lambda span: span.start_s)
        for place in range(last - 1, -1, -1):
            if self.spans[place].start_s <= wait.start_s:
                return None
            if is_over(self.spans[place], self.launched_s[place], wait.end_s, wait.start_s):
                return self.spans[place].start_s
        return None


def is_over(work: Span, launched_s: float, by_s: float, launched_by_s: float) -> bool:
    """Return whether work was launched by one moment and over by another."""
    return work.end_s <= by_s + _SKEW_S and launched_s <= launched_by_s


def is_record(span: Span) -> bool:
    """Return whether a span only tells what a call of the host, or a stream, waited for."""
    return span.category == "sync" and span.device is not None


def device_work(spans: Iterable[Span], trace: Trace) -> DeviceWork:
    """Return the device's part of some spans."""
    work = sorted((s for s in spans if s.category in DEVICE), key=lambda span: span.start_s)
    return DeviceWork(tuple(work), tuple(launch_s(span, trace) for span in work))


def launch_s(span: Span, trace: Trace) -> float:
    """Return when a span was launched; of what has no launch in the trace, long ago."""
    return trace.spans[span.cause].start_s if span.cause is not None else float("-inf")


def records(spans: Iterable[Span]) -> dict[int, Span]:
    """Return the records of waits by the places of the calls that waited."""
    return {s.cause: s for s in spans if is_record(s) and s.cause is not None}


def waits_for(record: Span | None, work: Span) -> bool:
    """Return whether a wait is for the stream of some work; one without a record is for all."""
    if record is None:
        return True
    stream = record.attributes.get("wait_on_stream", record.stream)
    same_device = work.device in (record.device, None)
    return same_device and (stream is None or work.stream in (stream, None))


def barriers(spans: Sequence[Span], trace: Trace) -> dict[tuple[int | None, int], list[Barrier]]:
    """Return what streams wait for, by device and stream, the last first."""
    found: dict[tuple[int | None, int], list[Barrier]] = defaultdict(list)
    for span in spans:
        source = span.attributes.get("wait_on_stream")
        if is_record(span) and span.name == _STREAM_WAITS and isinstance(source, int):
            when_s = max(launch_s(span, trace), 0.0) if span.cause is not None else span.start_s
            if span.stream is not None and source != span.stream:
                barrier = Barrier(when_s, span.device, span.stream, source)
                found[span.device, span.stream].append(barrier)
    for waiting in found.values():
        waiting.sort(key=lambda barrier: -barrier.when_s)
    return found
