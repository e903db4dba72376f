"""Rows of known places: an index expression where the row is even, else a table that is fetched."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from burnish.tile.index import Axis, Index, at, fetched, floor_divide, number
from burnish.tile.semantics import NestBuilder


def even(row: Array, axis: Axis) -> Index | None:
    """Return the index that gives row[axis]: evenly spaced, or each place several times."""
    places = np.asarray(row, np.int64)
    if not places.size:
        return Index()
    first = int(places[0])
    steps = places - first
    step = int(steps[1]) if steps.size > 1 else 0
    if np.array_equal(steps, step * np.arange(steps.size)):
        return number(first) + at(axis) * step
    times = int(np.argmax(steps != 0))
    if times and np.array_equal(steps, np.arange(steps.size) // times):
        return number(first) + floor_divide(at(axis), times)
    return None


def place(builder: NestBuilder, row: Array, axis: Axis, extent: int) -> Index:
    """Return the index row[axis] into a dimension of size `extent`."""
    found = even(row, axis)
    if found is not None:
        return found
    table = builder.add_constant(np.asarray(row, np.int64), "places")
    return fetched(table, [at(axis)], extent)
