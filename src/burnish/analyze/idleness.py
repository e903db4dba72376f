"""Why a device did nothing: the host was busy, work was on its way, or everybody waited."""

from __future__ import annotations

import bisect
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.analyze.simulate import SimulatedTimeline
from burnish.trace.events import DEVICE


@dataclass(frozen=True, slots=True)
class Idle:
    """Time of one inference in which no device did anything, by reason."""

    host_s: float
    """The host was doing something else than launching what came next."""
    launch_s: float
    """What came next was launched and had not begun."""
    sync_s: float
    """The host was waiting for a device that was done."""

    @property
    def total_s(self) -> float:
        """Return all of it."""
        return self.host_s + self.launch_s + self.sync_s


@dataclass(frozen=True, slots=True)
class Launches:
    """How work gets to a device."""

    number: int
    median_call_s: float
    """Of the host's calls."""
    median_delay_s: float
    """From the end of a call to the start of its work, where the stream was free."""
    median_queue_s: float
    """The same where the stream was busy: how far the host is ahead."""
    median_work_s: float
    """Of kernels and copies."""


def idle(timeline: SimulatedTimeline) -> Idle:
    """Return why no device was at work, every instant of it in exactly one part."""
    events, starts, ends = timeline.graph.events, timeline.starts_s, timeline.ends_s
    waits = sorted((starts[i], ends[i]) for i, event in enumerate(events) if event.kind == "sync")
    host_s = launch_s = sync_s = 0.0
    for begin, end, place in _pauses(timeline):
        launch = events[place].launch if place is not None else None
        given = max(begin, min(end, ends[launch])) if launch is not None else end
        launch_s += end - given
        waited = _overlap(waits, begin, given)
        sync_s += waited
        host_s += given - begin - waited
    return Idle(host_s, launch_s, sync_s)


def _pauses(timeline: SimulatedTimeline) -> Iterator[tuple[float, float, int | None]]:
    """Yield when devices did nothing, and the event that ended it; None: the inference was over."""
    events = timeline.graph.events
    work = [place for place, event in enumerate(events) if event.kind in DEVICE]
    until = 0.0
    for place in sorted(work, key=lambda place: timeline.starts_s[place]):
        if timeline.starts_s[place] > until:
            yield until, timeline.starts_s[place], place
        until = max(until, timeline.ends_s[place])
    if timeline.wall_s > until:
        yield until, timeline.wall_s, None


def _overlap(spans: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """Return how much of a time some spans cover, which are in order and apart."""
    first = max(0, bisect.bisect_right(spans, (begin, float("inf"))) - 1)
    covered, until = 0.0, begin
    for start, stop in spans[first:]:
        if start >= end:
            break
        covered += max(0.0, min(stop, end) - max(start, until))
        until = max(until, min(stop, end))
    return min(covered, end - begin)


def launches(timeline: SimulatedTimeline) -> Launches:
    """Return how long calls take, and how long what they launch waits."""
    events, starts, ends = timeline.graph.events, timeline.starts_s, timeline.ends_s
    delays, queued = list[float](), list[float]()
    for place, event in enumerate(events):
        if event.kind not in DEVICE or event.launch is None:
            continue
        given = ends[event.launch]
        before = [ends[i] for i in event.after if events[i].kind in DEVICE]
        waited_s = max(0.0, starts[place] - given)
        (queued if before and max(before) > given else delays).append(waited_s)
    calls = [event.duration_s for event in events if event.kind == "launch"]
    work = [event.duration_s for event in events if event.kind in DEVICE]
    return Launches(len(work), _median(calls), _median(delays), _median(queued), _median(work))


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
