"""Nodes that do the same work must take about as long: where they do not, the machine did it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from burnish.analyze.breakdown import Breakdown, BreakdownRow, RowKind
from burnish.analyze.event_graph import Event, EventGraph, changed
from burnish.core import units
from burnish.store.graph import GraphNode, GraphRecord

Kind = tuple[object, ...]

_APART = 1.5
"""Equal work that differs by more than this was disturbed, or lay elsewhere in memory."""
_MATTERS = 0.02
"""Differences below this part of an inference are not worth a sentence."""
_OUTLIER, _FEWEST_TWINS = 3.0, 3
_ENOUGH_RUNS = 3
"""From so many inferences on, medians leave out what happened once."""
_FEW = 3


def kinds(graph: GraphRecord) -> dict[str, Kind]:
    """Return what each node does, equal for nodes that do the same; none where shapes are open."""
    found = {node.name: _kind(node, graph) for node in graph.nodes}
    return {name: kind for name, kind in found.items() if kind is not None}


def _kind(node: GraphNode, graph: GraphRecord) -> Kind | None:
    specs = [graph.static(name) for name in (*node.inputs, *node.outputs) if name]
    if None in specs:
        return None
    tensors = tuple((spec.dtype, spec.shape) for spec in specs if spec is not None)
    attributes = tuple(sorted((key, str(value)) for key, value in node.attributes.items()))
    return (node.domain, node.op_type, attributes, *tensors)


def uneven(breakdown: Breakdown, graph: GraphRecord) -> tuple[str, ...]:
    """Return a sentence for each kind of work whose times differ from node to node."""
    by_kind = _rows_by_kind(breakdown, kinds(graph))
    told: list[tuple[float, str]] = []
    for rows in by_kind.values():
        times = [row.seconds_s for row in rows]
        apart_s = max(times) - min(times)
        if len(rows) > 1 and max(times) > _APART * statistics.median(times) and (
            apart_s > _MATTERS * breakdown.wall_s
        ):  # fmt: skip
            told.append((apart_s, _sentence(rows, times)))
    told.sort(key=lambda pair: -pair[0])
    return tuple(sentence for _, sentence in told[:_FEW])


def _rows_by_kind(
    breakdown: Breakdown, kind_of: Mapping[str, Kind]
) -> dict[Kind, list[BreakdownRow]]:
    found: dict[Kind, list[BreakdownRow]] = defaultdict(list)
    for row in breakdown.rows:
        if row.kind is RowKind.NODE and row.nodes and all(name in kind_of for name in row.nodes):
            found[tuple(kind_of[name] for name in row.nodes)].append(row)
    return found


def _sentence(rows: Sequence[BreakdownRow], times: Sequence[float]) -> str:
    low, high = units.seconds(min(times)), units.seconds(max(times))
    most = max(rows, key=lambda row: row.seconds_s)
    return (
        f"{len(rows):,} nodes with equal work ({rows[0].op_type}) took {low} to {high}, the longest"
        f" {most.label}: they differ in how they were run, not in what they do; compare with their"
        f" median, {units.seconds(statistics.median(times))}"
    )


def steadied(
    events: EventGraph, graph: GraphRecord, *, runs: int
) -> tuple[EventGraph, tuple[str, ...]]:
    """Return the events of one or two inferences without what happened to single ones of them.

    One that took many times as long as all others with its work was interrupted; it gets their
    median, and a note. Medians over more inferences have left that out already.
    """
    if runs >= _ENOUGH_RUNS:
        return events, ()
    kind_of = kinds(graph)
    alike: dict[Kind, list[int]] = defaultdict(list)
    for place in events.work:
        event = events.events[place]
        if event.nodes and all(name in kind_of for name in event.nodes):
            key = (event.op_type, event.kind, *(kind_of[name] for name in event.nodes))
            alike[key].append(place)
    changes: dict[int, Event] = {}
    for places in alike.values():
        changes |= _without_outliers([(place, events.events[place]) for place in places])
    notes = tuple(
        f"{event.name} took {units.seconds(events.events[place].duration_s)} in the only"
        f" {'inference' if runs < 2 else 'inferences'}, and others with its work"
        f" {units.seconds(event.duration_s)}: taken as interrupted, and drawn with their median"
        for place, event in changes.items()
    )
    return changed(events, changes), notes


def _without_outliers(alike: Sequence[tuple[int, Event]]) -> dict[int, Event]:
    median_s = statistics.median(event.duration_s for _, event in alike)
    outliers = {
        place: replace(event, duration_s=median_s)
        for place, event in alike
        if event.duration_s > _OUTLIER * median_s > 0
    }
    enough = len(alike) - len(outliers) >= max(_FEWEST_TWINS, 3 * len(outliers))
    return outliers if enough else {}
