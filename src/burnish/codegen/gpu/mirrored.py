"""Places along a mirrored or repeated edge, counted instead of loaded.

A frame of an image's own elements (Pad by reflection, or of the edge) is read at places that stand
in a table. Loaded in the loop of a convolution, what lies there waits for them. They go up by one
but at a few edges, and [x >= s] is (x + p - s) // p for all x below a p that is no less than s:
place(x) = place(0) + x + sum over edges s of (step(s) - 1) [x >= s]
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from burnish.codegen.gpu.blocks import power_of_two
from burnish.core.arrays import Array
from burnish.tile.graph import Read, TileGraph
from burnish.tile.index import Fetch, Index, bounds, fetches_of, floor_divide
from burnish.tile.recurrence import TURN
from burnish.tile.steps.unused import regraph

MOST = 2
"""Edges of a table that are counted, each an addition and a shift: those of a frame of one."""


def counted_places(graph: TileGraph) -> TileGraph:
    """Return the graph with places of mirrored and repeated edges counted, where they are few."""
    if not any(op.fetches for op in graph.ops):
        return graph
    ops = []
    for op in graph.ops:
        reads = tuple(_counted(read, graph) for read in op.reads)
        ops.append(op if reads == op.reads else replace(op, reads=reads))
    return regraph(graph, ops)


def _counted(read: Read, graph: TileGraph) -> Read:
    index = []
    for part in read.index:
        for atom, factor in part.terms:
            found = _place(atom, graph) if isinstance(atom, Fetch) else None
            if found is not None:
                part = part - Index(((atom, factor),)) + found * factor
        index.append(part)
    return replace(read, index=tuple(index))


def _place(fetch: Fetch, graph: TileGraph) -> Index | None:
    """Return a place that stands in a table as a sum of steps; None: there are too many."""
    # which step of a recurrence this is stays loaded, so that all steps share a kernel
    table = None if TURN in fetch.tensor else graph.constants.get(fetch.tensor)
    if table is None or len(fetch.index) != 1 or fetches_of(fetch.index[0]):
        return None
    (at,) = fetch.index
    places: Array = np.asarray(table)
    low, high = bounds(at)
    if not places.size or low < 0 or high >= places.size:
        return None
    steps = np.diff(places)
    edges = np.flatnonzero(steps != 1)
    inside = places.min() >= 0 and places.max() < fetch.extent
    if len(edges) > MOST or not inside or np.abs(steps).max(initial=0) > 1:
        return None
    period = power_of_two(places.size)
    found = at + int(places[0])
    for edge in edges.tolist():
        found = found + floor_divide(at + (period - edge - 1), period) * int(steps[edge] - 1)
    return found
