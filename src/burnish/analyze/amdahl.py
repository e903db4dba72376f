"""What any improvement can give at most, against what the user waits for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.simulate import SimulatedTimeline, simulate
from burnish.trace.events import DEVICE

_MANY_DISPATCHES = 3
"""A dispatch between nodes that differ costs up to so many times one between equal nodes."""
_DEAREST_RECORDING = 2.0
"""Recording a node costs up to so many times what it costs for the shortest: it makes texts of the
node's shapes, and is slower where the node has driven it out of the caches."""
_LONGEST_RECORDING = 10
"""Recording a short node costs up to so many dispatches: what takes longer than that is work."""
_HALVINGS = 40
_KINDS = ("work", "copy", "launch", "sync")
"""Whose time it is where several go on at once, the first first; else nobody's: idle."""


@dataclass(frozen=True, slots=True)
class Denominators:
    """The three lengths that a share can be taken of, and what lies between them."""

    unprofiled_s: float | None
    """A run without profiling; None: only the trace is there."""
    profiled_s: float
    """The recorded inference, from its begin to its end."""
    work_s: float
    """The sum of all nodes or kernels, end to end."""
    busy_s: float
    """During which at least one of them was going on, copies not counted."""
    copy_s: float
    """During which nothing but copies was going on."""
    launch_s: float
    """During which the host was starting work, and the device had none."""
    sync_s: float
    """During which the host was waiting for a device that was done."""
    idle_s: float
    """The rest: Python, framework, scheduling."""

    @property
    def profiler_s(self) -> float | None:
        """Return what recording cost; None: it is not known."""
        return None if self.unprofiled_s is None else self.profiled_s - self.unprofiled_s

    @property
    def wall_s(self) -> float:
        """Return what the user waits for: the run without profiling where it is known."""
        return self.profiled_s if self.unprofiled_s is None else self.unprofiled_s


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How many times faster the whole gets if a part of it costs nothing."""

    against_wall: float
    """The bound: what the user can notice."""
    against_busy: float
    """The same against the busy time alone; larger wherever anything waits."""


def denominators(graph: EventGraph, *, unprofiled_s: float | None) -> Denominators:
    """Return the three lengths, and every instant of the recorded one in exactly one part."""
    timeline = simulate(graph)
    parts = dict.fromkeys((*_KINDS, "idle"), 0.0)
    for kind, seconds in _instants(timeline):
        parts[kind] += seconds
    return Denominators(
        unprofiled_s=unprofiled_s,
        profiled_s=timeline.wall_s,
        work_s=graph.work_s,
        busy_s=parts["work"],
        copy_s=parts["copy"],
        launch_s=parts["launch"],
        sync_s=parts["sync"],
        idle_s=parts["idle"],
    )


def ceiling(seconds_s: float, *, wall_s: float, busy_s: float) -> Ceiling:
    """Return how much faster it gets at most without something that takes `seconds_s`."""
    return Ceiling(_without(seconds_s, wall_s), _without(seconds_s, busy_s))


def _without(seconds_s: float, whole_s: float) -> float:
    rest_s = whole_s - seconds_s
    # 1e-9 of the whole: what is left then is rounding, not work
    return whole_s / rest_s if rest_s > 1e-9 * whole_s else math.inf


def _instants(timeline: SimulatedTimeline) -> Iterable[tuple[str, float]]:
    """Yield how long which kind went on, over all instants in order."""
    device = any(event.kind in DEVICE for event in timeline.graph.events)
    changes: list[tuple[float, int, str]] = []
    for event, start, end in zip(
        timeline.graph.events, timeline.starts_s, timeline.ends_s, strict=True
    ):
        kind = _kind(event.kind, device=device)
        if kind and end > start:
            changes += [(start, 1, kind), (end, -1, kind)]
    going = dict.fromkeys(_KINDS, 0)
    now = 0.0
    for when, step, kind in sorted(changes):
        yield next((each for each in _KINDS if going[each]), "idle"), when - now
        going[kind] += step
        now = when
    yield "idle", timeline.wall_s - now


def _kind(kind: str, *, device: bool) -> str:
    """Return whose time an event's is; the host's nodes beside a device are launching."""
    if kind == "node":
        return "launch" if device else "work"
    return {"kernel": "work", "copy": "copy", "launch": "launch", "sync": "sync"}.get(kind, "")


@dataclass(frozen=True, slots=True)
class Correction:
    """How recorded times were turned into those of a run without profiling."""

    floor_s: float
    """What recording adds to every node that took as long: what the shortest took if that is a
    few dispatches, and where that leaves too long a whole, up to twice as much."""
    factor: float
    """What was left of each node was multiplied by this."""
    gap_s: float
    """What passes before each node: choosing it, allocating for it."""
    call_s: float = 0.0
    """What the call costs, whatever it computes."""


def unprofiled(
    graph: EventGraph, *, wall_s: float, dispatch_s: float
) -> tuple[EventGraph, Correction | None]:
    """Return the graph as it is without profiling, when it takes `wall_s`.

    Each node's time contains what recording it costs, and the shortest node is hardly more than
    that, unless it is long or the only one; after one whose weights have filled the caches,
    recording costs more, so up to twice as much is taken off where the whole would be too long.
    What is left over of the wall time goes to the gaps between nodes, at least `dispatch_s` each;
    where too little is left, nodes shrink together. What passes before the end belongs to the call,
    however much is computed. Kernels are timed by the device itself: for them only the host's part
    is made to fit.
    """
    nodes = [place for place, event in enumerate(graph.events) if event.kind == "node"]
    if any(event.kind in DEVICE for event in graph.events):
        return _fitted_host(graph, wall_s), None
    if not nodes:
        return graph, None
    times_s = [graph.events[place].duration_s for place in nodes]
    around_s = min(_around_s(graph), 0.5 * wall_s)
    wall_s -= around_s
    least_s = min(dispatch_s, 0.5 * wall_s / len(nodes))
    room_s = wall_s - least_s * len(nodes)
    floor_s = _floor(times_s, room_s, _recording(times_s, dispatch_s))
    net_s = _net(times_s, floor_s)
    factor = min(1.0, room_s / net_s) if net_s else 1.0
    gap_s = (wall_s - factor * net_s) / len(nodes)
    events = [
        replace(event, duration_s=factor * max(0.0, event.duration_s - floor_s), gap_s=gap_s)
        if event.kind == "node"
        else replace(event, gap_s=around_s if event.kind == "end" else 0.0)
        for event in graph.events
    ]
    return EventGraph(tuple(events)), Correction(floor_s, factor, gap_s, around_s)


def _recording(times_s: Sequence[float], dispatch_s: float) -> float:
    """Return what recording added to each node, as the shortest tells: none does of itself."""
    return min(*times_s, _LONGEST_RECORDING * dispatch_s) if len(times_s) > 1 else 0.0


def _floor(times_s: Sequence[float], room_s: float, low: float) -> float:
    """Return what recording added to each node, `low` or as much as lets all the rest have room."""
    high = _DEAREST_RECORDING * low
    if _net(times_s, low) <= room_s:
        return low
    if _net(times_s, high) >= room_s:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _net(times_s, middle) > room_s else (low, middle)
    return high


def _net(times_s: Sequence[float], floor_s: float) -> float:
    return sum(max(0.0, seconds - floor_s) for seconds in times_s)


def called(graph: EventGraph, call_s: float) -> EventGraph:
    """Return the graph as who calls the engine sees it: the call itself costs `call_s`.

    That was measured around a call that computes nothing, and so holds what a recording has after
    its last node as well; there most of that is recording.
    """
    *nodes, last = graph.events
    if last.kind != "end" or not call_s:
        return graph
    return EventGraph((*nodes, replace(last, gap_s=call_s)))


def _around_s(graph: EventGraph) -> float:
    return graph.events[-1].gap_s if graph.events[-1].kind == "end" else 0.0


def longest_unprofiled(graph: EventGraph, *, dispatch_s: float) -> float:
    """Return how long an inference can take without profiling, as the profiled one tells.

    Whoever measures more was disturbed. That is what the profiled one took less the floor of each
    node; where a measurement exceeds it, only the nodes, their dispatch and the call are left to
    believe.
    """
    nodes = [event for event in graph.events if event.kind == "node"]
    profiled_s = simulate(graph).wall_s
    if not nodes or any(event.kind in DEVICE for event in graph.events):
        return profiled_s
    floor_s = _recording([event.duration_s for event in nodes], dispatch_s)
    net_s = sum(event.duration_s - floor_s for event in nodes)
    dispatches_s = _MANY_DISPATCHES * dispatch_s * len(nodes)
    return min(profiled_s - floor_s * len(nodes), net_s + dispatches_s + _around_s(graph))


def _fitted_host(graph: EventGraph, wall_s: float) -> EventGraph:
    """Return the graph with the host's calls and gaps shrunk alike until it takes `wall_s`."""
    low, high = 0.0, 1.0
    if simulate(graph).wall_s <= wall_s:
        return graph
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if simulate(_host(graph, middle)).wall_s > wall_s else (middle, high)
        )
    return _host(graph, low)


def _host(graph: EventGraph, factor: float) -> EventGraph:
    return EventGraph(
        tuple(
            event
            if event.kind in DEVICE
            else replace(event, duration_s=event.duration_s * factor, gap_s=event.gap_s * factor)
            for event in graph.events
        )
    )
