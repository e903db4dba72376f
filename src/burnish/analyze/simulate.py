"""When each event of a graph happens: as soon as all that it waits for has ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.analyze.event_graph import EventGraph
from burnish.trace.events import Span, Trace


@dataclass(frozen=True, slots=True)
class SimulatedTimeline:
    """When the events of a graph start and end, by their places, from 0."""

    graph: EventGraph
    starts_s: tuple[float, ...]
    ends_s: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        pairs = zip(self.starts_s, self.graph.events, strict=True)
        ends_s = tuple(start + event.duration_s for start, event in pairs)
        object.__setattr__(self, "ends_s", ends_s)

    @property
    def wall_s(self) -> float:
        """Return how long all of it takes."""
        return max(self.ends_s, default=0.0)

    @property
    def busy_s(self) -> float:
        """Return for how long at least one of the working events is going on."""
        ends = self.ends_s
        busy, until = 0.0, 0.0
        for place in sorted(self.graph.work, key=lambda place: self.starts_s[place]):
            busy += max(0.0, ends[place] - max(until, self.starts_s[place]))
            until = max(until, ends[place])
        return busy


def simulate(graph: EventGraph) -> SimulatedTimeline:
    """Return when everything happens: start = latest end of what it waits for + gap."""
    starts: list[float] = []
    ends: list[float] = []
    for event in graph.events:
        ready_s = max((ends[other] for other in event.after), default=0.0)
        starts.append(ready_s + event.gap_s)
        ends.append(starts[-1] + event.duration_s)
    return SimulatedTimeline(graph, tuple(starts))


def trace_of(timeline: SimulatedTimeline, *, source: str) -> Trace:
    """Return a simulated inference as a trace, to be drawn or exported like a recorded one."""
    whole = Span("inference", "run", 0.0, timeline.wall_s, "simulated", 0)
    spans = [
        Span(
            name=event.name,
            category=event.kind,
            start_s=start_s,
            duration_s=event.duration_s,
            track=event.resource,
            run=0,
            node=event.nodes[0] if len(event.nodes) == 1 else None,
            op_type=event.op_type,
            nodes=event.nodes,
        )
        for event, start_s in zip(timeline.graph.events, timeline.starts_s, strict=True)
        if event.kind != "end"
    ]
    ordered = sorted(spans, key=lambda span: (span.start_s, -span.duration_s))
    return Trace(spans=(whole, *ordered), source=source, runs=1)
