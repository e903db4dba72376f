"""From a recorded timeline to an event graph: who waited for whom, and for how long."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.analyze.event_graph import DEVICE, Event, EventGraph
from burnish.core.errors import ModelError
from burnish.trace.events import Span, Trace
from burnish.trace.own_time import own_seconds

_ON_HOST = ("launch", "sync")
END = "end of the inference"


@dataclass(frozen=True, slots=True)
class _Inference:
    """The spans of one inference that become events, in order of time."""

    places: tuple[int, ...]
    """Where in the trace each is."""
    spans: tuple[Span, ...]
    begin_s: float
    end_s: float


def as_executed(trace: Trace) -> EventGraph:
    """Return a typical inference as it was executed.

    Its events and their order are those of the inference of median length; how long each takes,
    and the gap before it, is the median over all inferences that have it.
    """
    inferences = [_inference(trace, run) for run in _runs(trace)]
    inferences = [one for one in inferences if one.spans]
    if not inferences:
        raise ModelError(
            "the trace holds no event inside an inference, so there is nothing to simulate",
            hint="record one with burnish profile MODEL --runs 10",
        )
    lengths = sorted(inferences, key=lambda one: one.end_s - one.begin_s)
    typical = lengths[(len(lengths) - 1) // 2]
    graph = _graph(typical)
    if len(inferences) == 1:
        return graph
    times: dict[tuple[str, ...], list[Event]] = defaultdict(list)
    for one in inferences:
        for key, event in _keyed(_graph(one)):
            times[key].append(event)
    return EventGraph(tuple(_typical(event, times[key]) for key, event in _keyed(graph)))


def _runs(trace: Trace) -> list[int]:
    return sorted({span.run for span in trace.spans if span.run >= 0})


def _keyed(graph: EventGraph) -> list[tuple[tuple[str, ...], Event]]:
    """Return events with what they are called in every inference: name and how-many-eth."""
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    keyed: list[tuple[tuple[str, ...], Event]] = []
    for event in graph.events:
        key = (event.kind, event.name, "/".join(event.nodes))
        keyed.append(((*key, str(seen[key])), event))
        seen[key] += 1
    return keyed


def _typical(event: Event, same: Sequence[Event]) -> Event:
    return replace(
        event,
        duration_s=statistics.median(one.duration_s for one in same),
        gap_s=statistics.median(one.gap_s for one in same),
    )


def _inference(trace: Trace, run: int) -> _Inference:
    """Return what becomes events; where the inference is what a device did, from its first work."""
    inside = [(i, span) for i, span in enumerate(trace.spans) if span.run == run]
    whole = [span for _, span in inside if span.category == "run"]
    busy_hosts = _around([span.parent for _, span in inside if span.category in _ON_HOST], trace)
    launched = {span.cause for _, span in inside if span.category in DEVICE}
    chosen = [
        (i, replace(span, category="launch") if i in launched else span)
        for i, span in inside
        if span.category in (*DEVICE, *_ON_HOST)
        or (span.category == "node" and i not in busy_hosts)
    ]
    begin_s = min((span.start_s for span in whole or [s for _, s in chosen]), default=0.0)
    end_s = max((span.end_s for span in whole or [s for _, s in chosen]), default=0.0)
    within = [(i, _cut(span, end_s)) for i, span in chosen if begin_s <= span.start_s <= end_s]
    on_device = [span for _, span in within if span.category in DEVICE]
    within.sort(key=lambda pair: (_turn(pair[1], on_device, trace), -pair[1].duration_s))
    return _Inference(
        tuple(i for i, _ in within), tuple(span for _, span in within), begin_s, end_s
    )


def _turn(span: Span, on_device: Sequence[Span], trace: Trace) -> tuple[float, bool]:
    """Return when a span's turn is: its start, for waiting after the work that it waits for.

    Work may begin after the host began to wait for it, if it was launched before.
    """
    if span.category != "sync":
        return span.start_s, False
    waited = [
        each.start_s
        for each in on_device
        if each.end_s <= span.end_s
        and (each.cause is None or trace.spans[each.cause].start_s <= span.start_s)
    ]
    return max([span.start_s, *waited]), True


def _around(parents: Sequence[int | None], trace: Trace) -> set[int]:
    """Return all spans around some, by place."""
    found: set[int] = set()
    for start in parents:
        parent = start
        while parent is not None and parent not in found:
            found.add(parent)
            parent = trace.spans[parent].parent
    return found


def _cut(span: Span, end_s: float) -> Span:
    return replace(span, duration_s=min(span.duration_s, max(0.0, end_s - span.start_s)))


def _graph(inference: _Inference) -> EventGraph:
    """Return one inference with what each event waited for.

    A thread and a stream do one thing after the other; a kernel waits for its launch; waiting
    for a device waits for all that was begun on it.
    """
    builder = _Builder(inference)
    for number in range(len(inference.spans)):
        builder.add(number)
    return builder.finished()


class _Builder:
    """Turns the spans of one inference into events, the earliest first."""

    def __init__(self, inference: _Inference) -> None:
        spans = inference.spans
        self._inference = inference
        self._numbers = {place: n for n, place in enumerate(inference.places)}
        self._lengths = [*own_seconds(spans)]
        self._children: dict[int, list[int]] = defaultdict(list)
        for number, span in enumerate(spans):
            if span.category in DEVICE and span.cause in self._numbers:
                self._children[self._numbers[span.cause]].append(number)
        self._events: list[Event] = []
        self._ends: list[float] = []
        self._last: dict[str, int] = {}
        self._until: dict[str, float] = {}
        self._waiting: dict[str, list[int]] = defaultdict(list)
        """Device events that the next event of a thread waits for."""

    def add(self, number: int) -> None:
        """Add the next span as an event."""
        span = self._inference.spans[number]
        device = span.category in DEVICE
        launch = self._numbers.get(span.cause) if device and span.cause is not None else None
        if launch is not None and launch >= number:
            launch = None
        after = [self._last[span.track]] if span.track in self._last else []
        after += [launch] if launch is not None else []
        after += self._blocking(number, span)
        ready_s = max((self._ends[i] for i in after), default=self._inference.begin_s)
        start_s = max(span.start_s, ready_s)
        length_s = self._length(number, span, start_s)
        self._events.append(
            Event(
                name=(span.node or span.name) if span.category == "node" else span.name,
                kind=span.category,
                resource=span.track,
                duration_s=length_s,
                gap_s=start_s - ready_s,
                after=tuple(dict.fromkeys(after)),
                nodes=span.nodes or ((span.node,) if span.node else ()),
                op_type=span.op_type,
                launch=launch,
            )
        )
        self._ends.append(start_s + length_s)
        self._last[span.track] = number

    def finished(self) -> EventGraph:
        """Return the graph, closed by the end of the inference."""
        waited = {other for event in self._events for other in event.after}
        sinks = tuple(i for i in range(len(self._events)) if i not in waited)
        ready_s = max((self._ends[i] for i in sinks), default=self._inference.begin_s)
        gap_s = max(0.0, self._inference.end_s - ready_s)
        return EventGraph((*self._events, Event(END, "end", "host", 0.0, gap_s, sinks)))

    def _blocking(self, number: int, span: Span) -> list[int]:
        """Return the device events that must be over before this one begins to count."""
        if span.category == "sync":
            begun = [i for i in self._last.values() if self._events[i].kind in DEVICE]
            return [i for i in begun if span.stream is None or self._on_stream(i, span.stream)]
        if span.category in DEVICE:
            return []
        held = self._waiting.pop(span.track, [])
        return [i for i in held if i < number and self._ends[i] <= span.start_s]

    def _on_stream(self, number: int, stream: int) -> bool:
        return self._inference.spans[number].stream in (stream, None)

    def _length(self, number: int, span: Span, start_s: float) -> float:
        if span.category == "sync":
            return max(0.0, span.end_s - start_s)
        if span.category in DEVICE:
            return span.duration_s
        children = self._children.get(number, [])
        if not children:
            return self._lengths[number]
        # A call that returns after its kernel began has done its part when the kernel begins.
        first_s = min(self._inference.spans[child].start_s for child in children)
        ends = [c for c in children if self._inference.spans[c].end_s <= span.end_s]
        self._waiting[span.track] += ends
        return max(0.0, min(self._lengths[number], first_s - start_s))
