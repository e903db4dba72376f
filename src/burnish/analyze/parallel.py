"""What an inference would be if nothing waited but for the data that it uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from burnish.analyze.event_graph import Event, EventGraph
from burnish.store.graph import GraphNode, GraphRecord

_LAYOUTS = frozenset({"Transpose", "Reshape", "Expand", "Slice", "Squeeze", "Unsqueeze"})
_COPIES = frozenset({"aten::copy_", "aten::clone", "aten::contiguous"})


def if_parallel(graph: EventGraph, record: GraphRecord) -> EventGraph:
    """Return the work alone, waiting for nothing but the data that it uses."""
    places = graph.work
    waits = data_waits(graph, record)
    moved = {place: number for number, place in enumerate(places)}
    return EventGraph(
        tuple(
            replace(
                graph.events[place],
                gap_s=0.0,
                after=tuple(moved[i] for i in waits[place]),
                launch=None,
            )
            for place in places
        )
    )


def overlapped(graph: EventGraph, record: GraphRecord) -> EventGraph:
    """Return the graph with work that waits for its launch and its data, for no stream."""
    waits = data_waits(graph, record)
    events = [
        event
        if place not in waits
        else replace(
            event,
            gap_s=0.0 if event.launch is None else event.gap_s,
            after=tuple(
                dict.fromkeys(
                    (*((event.launch,) if event.launch is not None else ()), *waits[place])
                )
            ),
        )
        for place, event in enumerate(graph.events)
    ]
    return EventGraph(tuple(_with_all_ends(events)))


def _with_all_ends(events: list[Event]) -> list[Event]:
    """Return events whose last one waits for everything that nobody else waits for."""
    if not events or events[-1].kind != "end":
        return events
    waited = {other for event in events[:-1] for other in event.after}
    sinks = tuple(i for i in range(len(events) - 1) if i not in waited)
    return [*events[:-1], replace(events[-1], after=sinks)]


def data_waits(graph: EventGraph, record: GraphRecord) -> dict[int, tuple[int, ...]]:
    """Return for each working event the earlier ones whose results it uses.

    Events of one node keep their order, but for copies of its operands, which wait for theirs
    alone. An event that belongs to no node of the model waits for all before it on its thread or
    stream, and all after it there wait for it.
    """
    makers = _Makers(graph, record)
    fences: dict[str, int] = {}
    recent: dict[str, list[int]] = defaultdict(list)
    waits: dict[int, tuple[int, ...]] = {}
    for place in graph.work:
        event = graph.events[place]
        wanted = makers.before(place)
        if event.resource in fences:
            wanted = wanted | {fences[event.resource]}
        if not any(node in makers.reads for node in event.nodes):
            wanted = wanted | set(recent.pop(event.resource, []))
            fences[event.resource] = place
        waits[place] = tuple(sorted(i for i in wanted if i < place))
        recent[event.resource].append(place)
    return waits


class _Makers:
    """Which events made what each node reads, through nodes that have no events."""

    def __init__(self, graph: EventGraph, record: GraphRecord) -> None:
        self._graph = graph
        self.reads: dict[str, dict[str, frozenset[int]]] = {}
        """By node and operand."""
        self._events: dict[str, list[int]] = defaultdict(list)
        for place in graph.work:
            for name in graph.events[place].nodes:
                self._events[name].append(place)
        self._copied = self._copies(record)
        made: dict[str, frozenset[int]] = {}
        for node in record.nodes:
            self.reads[node.name] = {name: made.get(name, frozenset()) for name in node.inputs}
            own = self._events.get(node.name)
            # of several events the last one hands the result on
            given = frozenset({max(own)}) if own else _all(self.reads[node.name])
            made.update(dict.fromkeys(node.outputs, given))

    def before(self, place: int) -> frozenset[int]:
        """Return what an event must wait for: whatever made its operands, and its node's others."""
        if place in self._copied:
            node, operand = self._copied[place]
            return self.reads[node][operand]
        known = [node for node in self._graph.events[place].nodes if node in self.reads]
        operands = frozenset().union(*(_all(self.reads[node]) for node in known))
        return operands | {other for node in known for other in self._events[node]}

    def _copies(self, record: GraphRecord) -> dict[int, tuple[str, str]]:
        """Return for each copy that precedes a node's own work whose operand it lays out anew.

        A framework that transposes by view has nothing to run for a Transpose; it copies when a
        product needs the operand in order. The copies come in the order of the operands.
        """
        makers = {name: node for node in record.nodes for name in node.outputs}
        found: dict[int, tuple[str, str]] = {}
        for node in record.nodes:
            own = self._events.get(node.name, [])
            copies = [p for p in own[:-1] if self._graph.events[p].op_type in _COPIES]
            views = [name for name in node.inputs if self._is_view(makers.get(name))]
            pairs = zip(copies, views, strict=False)
            found.update({place: (node.name, operand) for place, operand in pairs})
        return found

    def _is_view(self, maker: GraphNode | None) -> bool:
        return maker is not None and maker.op_type in _LAYOUTS and maker.name not in self._events


def _all(reads: Mapping[str, frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*reads.values())
