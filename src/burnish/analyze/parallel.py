"""What an inference would be if nothing waited but for the data that it uses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from burnish.analyze.event_graph import Event, EventGraph
from burnish.store.graph import GraphRecord


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

    Events of one node keep their order. An event that belongs to no node of the model waits for
    all before it on its thread or stream, and all after it there wait for it.
    """
    by_node: dict[str, list[int]] = defaultdict(list)
    for place in graph.work:
        for node in graph.events[place].nodes:
            by_node[node].append(place)
    producers = _producers(record, by_node)
    fences: dict[str, int] = {}
    recent: dict[str, list[int]] = defaultdict(list)
    waits: dict[int, tuple[int, ...]] = {}
    for place in graph.work:
        event = graph.events[place]
        known = [node for node in event.nodes if node in producers]
        wanted = {i for node in known for i in producers[node]}
        wanted |= {i for node in known for i in by_node[node]}
        if event.resource in fences:
            wanted.add(fences[event.resource])
        if not known:
            wanted |= set(recent.pop(event.resource, []))
            fences[event.resource] = place
        waits[place] = tuple(sorted(i for i in wanted if i < place))
        recent[event.resource].append(place)
    return waits


def _producers(record: GraphRecord, by_node: dict[str, list[int]]) -> dict[str, frozenset[int]]:
    """Return for each node the events that made what it reads, through nodes without events."""
    made: dict[str, frozenset[int]] = {}
    found: dict[str, frozenset[int]] = {}
    for node in record.nodes:
        read = frozenset().union(*(made.get(name, frozenset()) for name in node.inputs))
        found[node.name] = read
        own = by_node.get(node.name)
        # of several events the last one hands the result on
        given = frozenset({max(own)}) if own else read
        for name in node.outputs:
            made[name] = given
    return found
