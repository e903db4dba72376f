"""What ran, and what each waited for: the thing that what-ifs change and simulate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.trace.events import DEVICE, WORK


@dataclass(frozen=True, slots=True)
class Event:
    """Something that takes time once all it waits for has ended."""

    name: str
    """The node as the engine names it, or the kernel, or the call."""
    kind: str
    """`node` (an operator on the host), `kernel`, `copy`, `launch`, `sync`, `end`."""
    resource: str
    """The thread or stream that does one thing at a time."""
    duration_s: float
    gap_s: float = 0.0
    """Always passes between the last end that it waits for and its own start."""
    after: tuple[int, ...] = ()
    """What it waits for, by place; all of them come before it."""
    nodes: tuple[str, ...] = ()
    """The model's nodes whose work it does; none: not attributed."""
    op_type: str | None = None
    launch: int | None = None
    """Which event launched it, by place."""


@dataclass(frozen=True, slots=True)
class EventGraph:
    """One typical inference, its events in an order in which they can happen."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        for place, event in enumerate(self.events):
            if any(not 0 <= other < place for other in event.after):
                raise ValueError(f"event {place} ({event.name}) waits for one that is not before")

    @property
    def work(self) -> tuple[int, ...]:
        """Return the places of the events that count as the model's work.

        Where a device does any, that is the device's: the host's part is launching it.
        """
        kinds = DEVICE if any(event.kind in DEVICE for event in self.events) else WORK
        return tuple(i for i, event in enumerate(self.events) if event.kind in kinds)

    @property
    def work_s(self) -> float:
        """Return the time of all work, end to end."""
        return sum(self.events[place].duration_s for place in self.work)


def changed(graph: EventGraph, changes: Mapping[int, Event]) -> EventGraph:
    """Return the graph with other events at some places."""
    return EventGraph(tuple(changes.get(i, event) for i, event in enumerate(graph.events)))


def without(graph: EventGraph, places: Iterable[int]) -> EventGraph:
    """Return the graph without some events; whoever waited for one waits for what it waited for."""
    gone = frozenset(places)
    waits: list[tuple[int, ...]] = []
    moved: dict[int, int] = {}
    kept: list[Event] = []
    for place, event in enumerate(graph.events):
        through = _unique(w for other in event.after for w in _resolved(other, gone, waits))
        waits.append(through)
        if place not in gone:
            moved[place] = len(kept)
            launch = moved.get(event.launch) if event.launch is not None else None
            kept.append(replace(event, after=tuple(moved[w] for w in through), launch=launch))
    return EventGraph(tuple(kept))


def _resolved(place: int, gone: frozenset[int], waits: Sequence[tuple[int, ...]]) -> Iterable[int]:
    return waits[place] if place in gone else (place,)


def _unique(places: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(places))
