"""From a recorded timeline to an event graph: who waited for whom, and for how long."""

from __future__ import annotations

import statistics
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.analyze import waits
from burnish.analyze.event_graph import Event, EventGraph
from burnish.core.errors import ModelError
from burnish.trace.events import DEVICE, Span, Trace
from burnish.trace.own_time import own_seconds

_ON_HOST = ("launch", "sync")
END = "end of the inference"


@dataclass(frozen=True, slots=True)
class _Inference:
    """The spans of one inference that become events, in order of time."""

    places: tuple[int, ...]
    """Where in the trace each is."""
    spans: tuple[Span, ...]
    launched_s: tuple[float, ...]
    """When each was launched; of the host's own, long ago."""
    begin_s: float
    end_s: float
    records: Mapping[int, Span]
    """What calls waited for, by the places of the calls."""
    barriers: Mapping[tuple[int | None, int], Sequence[waits.Barrier]]


def as_executed(trace: Trace) -> EventGraph:
    """Return a typical inference as it was executed.

    Its events and their order are those of the inference of median length; how long each takes,
    and the gap before it, is the median over all inferences that have it.
    """
    runs, graph = _by_run(trace), EventGraph(())
    lengths = list[tuple[float, int]]()
    times: dict[tuple[str, ...], _Times] = defaultdict(_Times)
    # one after the other, and of each only its times: a trace may hold thousands
    for number, inside in enumerate(runs):
        one = _inference(trace, inside)
        if not one.spans:
            continue
        lengths.append((one.end_s - one.begin_s, number))
        graph = _graph(one)
        for key, event in _keyed(graph):
            times[key].add(event)
    if not lengths:
        raise ModelError(
            "the trace holds no event inside an inference, so there is nothing to simulate",
            hint="record one with burnish profile MODEL --runs 10",
        )
    if len(lengths) == 1:
        return graph
    _, typical = sorted(lengths)[(len(lengths) - 1) // 2]
    graph = _graph(_inference(trace, runs[typical]))
    return EventGraph(tuple(times[key].typical(event) for key, event in _keyed(graph)))


class _Times:
    """How long one thing took in all inferences, and what passed before it."""

    def __init__(self) -> None:
        self._durations_s, self._gaps_s = array("d"), array("d")

    def add(self, event: Event) -> None:
        self._durations_s.append(event.duration_s)
        self._gaps_s.append(event.gap_s)

    def typical(self, event: Event) -> Event:
        """Return an event with the medians."""
        return replace(
            event,
            duration_s=statistics.median(self._durations_s),
            gap_s=statistics.median(self._gaps_s),
        )


def _by_run(trace: Trace) -> list[list[tuple[int, Span]]]:
    """Return the spans of each inference, with where in the trace they are."""
    found: dict[int, list[tuple[int, Span]]] = defaultdict(list)
    for place, span in enumerate(trace.spans):
        if span.run >= 0:
            found[span.run].append((place, span))
    return [found[run] for run in sorted(found)]


def _keyed(graph: EventGraph) -> list[tuple[tuple[str, ...], Event]]:
    """Return events with what they are called in every inference: name and how-many-eth."""
    seen: dict[tuple[str, str, str], int] = defaultdict(int)
    keyed: list[tuple[tuple[str, ...], Event]] = []
    for event in graph.events:
        key = (event.kind, event.name, "/".join(event.nodes))
        keyed.append(((*key, str(seen[key])), event))
        seen[key] += 1
    return keyed


def _inference(trace: Trace, inside: Sequence[tuple[int, Span]]) -> _Inference:
    """Return what becomes events; where the inference is what a device did, from its first work."""
    whole = [span for _, span in inside if span.category == "run"]
    busy_hosts = _around([span.parent for _, span in inside if span.category in _ON_HOST], trace)
    launched = {span.cause for _, span in inside if span.category in DEVICE}
    chosen = [
        (i, _launching(span) if i in launched else span)
        for i, span in inside
        if (span.category in (*DEVICE, *_ON_HOST) and not waits.is_record(span))
        or (span.category == "node" and i not in busy_hosts)
    ]
    begin_s = min((span.start_s for span in whole or [s for _, s in chosen]), default=0.0)
    end_s = max((span.end_s for span in whole or [s for _, s in chosen]), default=0.0)
    within = [(i, _cut(span, end_s)) for i, span in chosen if begin_s <= span.start_s <= end_s]
    device = waits.device_work([span for _, span in within], trace)
    within.sort(key=lambda pair: (*_turn(pair[1], device), -pair[1].duration_s))
    everything = [span for _, span in inside]
    return _Inference(
        tuple(i for i, _ in within),
        tuple(span for _, span in within),
        tuple(waits.launch_s(span, trace) for _, span in within),
        begin_s,
        end_s,
        waits.records(everything),
        waits.barriers(everything, trace),
    )


def _turn(span: Span, device: waits.DeviceWork) -> tuple[float, bool]:
    """Return when a span's turn is: its start, for waiting after the work that it waits for."""
    if span.category != "sync":
        return span.start_s, False
    begun_s = device.last_waited_for(span)
    return span.start_s if begun_s is None else begun_s, True


def _around(parents: Sequence[int | None], trace: Trace) -> set[int]:
    """Return all spans around some, by place."""
    found: set[int] = set()
    for start in parents:
        parent = start
        while parent is not None and parent not in found:
            found.add(parent)
            parent = trace.spans[parent].parent
    return found


def _launching(span: Span) -> Span:
    return span if span.category == "launch" else replace(span, category="launch")


def _cut(span: Span, end_s: float) -> Span:
    most_s = max(0.0, end_s - span.start_s)
    return span if span.duration_s <= most_s else replace(span, duration_s=most_s)


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
        self._on_device: dict[str, list[int]] = defaultdict(list)
        """The device's events by track, in order."""
        self._barriers = {key: list(held) for key, held in inference.barriers.items()}
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
        if device:
            self._on_device[span.track].append(number)

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
            record = self._inference.records.get(self._inference.places[number])
            tracks = [t for t in self._on_device.values() if waits.waits_for(record, self._at(t))]
            return self._over(tracks, by_s=span.end_s, launched_by_s=span.start_s)
        if span.category in DEVICE:
            return self._behind_barriers(number, span)
        held = self._waiting.pop(span.track, [])
        return [i for i in held if i < number and self._ends[i] <= span.start_s]

    def _at(self, track: Sequence[int]) -> Span:
        return self._inference.spans[track[0]]

    def _over(
        self, tracks: Sequence[Sequence[int]], *, by_s: float, launched_by_s: float
    ) -> list[int]:
        """Return of each track the last event that was launched and over by then."""
        spans, launched_s = self._inference.spans, self._inference.launched_s
        found = []
        for track in tracks:
            fitting = (
                place
                for place in reversed(track)
                if waits.is_over(spans[place], launched_s[place], by_s, launched_by_s)
            )
            found += [place for place in [next(fitting, None)] if place is not None]
        return found

    def _behind_barriers(self, number: int, span: Span) -> list[int]:
        """Return the work of other streams that this stream was told to wait for."""
        if span.stream is None:
            return []
        held = self._barriers.get((span.device, span.stream), [])
        launched_s = self._inference.launched_s[number]
        found: list[int] = []
        while held and held[-1].when_s <= max(launched_s, self._inference.begin_s):
            barrier = held.pop()
            tracks = [
                track
                for track in self._on_device.values()
                if (self._at(track).device, self._at(track).stream)
                == (barrier.device, barrier.source)
            ]
            found += self._over(tracks, by_s=span.start_s, launched_by_s=barrier.when_s)
        return found

    def _length(self, number: int, span: Span, start_s: float) -> float:
        if span.category == "sync":
            return max(0.0, span.end_s - start_s)
        children = self._children.get(number, [])
        if span.category in DEVICE or not children:
            # own time: kernels of one stream may overlap, the later then takes from the earlier
            return self._lengths[number]
        return self._launching(span, start_s, children, self._lengths[number])

    def _launching(
        self, span: Span, start_s: float, children: Sequence[int], own_s: float
    ) -> float:
        """Return the host's part of a call that launches: done when what it launches begins.

        A copy that is over when its call returns was waited for, and so was all before it on its
        stream: then the call's part begins when the stream is free.
        """
        spans = self._inference.spans
        first = min((spans[child] for child in children), key=lambda child: child.start_s)
        free_s = start_s
        if "memcpy" in span.name.lower():
            over = [child for child in children if spans[child].end_s <= span.end_s]
            self._waiting[span.track] += over
            before = self._on_device.get(first.track)
            if over and before:
                free_s = max(start_s, spans[before[-1]].end_s)
        return max(0.0, min(own_s, first.start_s - free_s))
