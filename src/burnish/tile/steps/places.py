"""Places that a constant holds and that lie in equal steps are indices, and are not fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.index import Fetch, Index, number
from burnish.tile.recurrence import TURN
from burnish.tile.steps.substitution import index_mapped, kept_fetch, op_fetches, op_mapped
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import regraph


def known_places(graph: TileGraph) -> TileGraph:
    """Return the graph with what lies in equal steps read there.

    out[i, j] = x[fetch(table[i, j])], table = [[0, 1], [2, 3]]  -->  out[i, j] = x[2*i + j]
    out[i] = x[fetch(table[i, 1])], table = [[7, 0], [5, 2], [6, 4]]  -->  out[i] = x[2*i]

    Where a step of a sequence reads stays a place: its nests are to be like those of all others.
    """
    of_fetch = partial(_place, constants=graph.constants)
    ops = [
        tidy(op_mapped(op, lambda index: index_mapped(index, of_fetch)), graph.tensors)
        if op_fetches(op) & graph.constants.keys()
        else op
        for op in graph.ops
    ]
    return regraph(graph, ops)


def _place(fetch: Fetch, constants: Mapping[str, Array]) -> Index:
    """Return where a fetched index points to, if a formula of axes tells."""
    array = None if TURN in fetch.tensor else constants.get(fetch.tensor)
    part = None if array is None else _picked(np.asarray(array), fetch.index)
    found = None if part is None else _steps(part, fetch.extent)
    if found is None:
        return kept_fetch(fetch)
    begin, steps = found
    result = number(begin)
    for index, step in zip(filter(_varies, fetch.index), steps, strict=True):
        result = result + index * step
    return result


def _picked(array: Array, at: Sequence[Index]) -> Array | None:
    """Return the part of a table that is looked at: where an index is a number, only that."""
    inside = all(
        _varies(index) or 0 <= index.constant < size
        for index, size in zip(at, array.shape, strict=True)
    )
    place = tuple(slice(None) if _varies(index) else index.constant for index in at)
    return np.asarray(array[place]) if inside else None


def _varies(index: Index) -> bool:
    return bool(index.terms)


def _steps(places: Array, extent: int) -> tuple[int, tuple[int, ...]] | None:
    """Return the first place and the step along each dimension; None: they are no equal steps."""
    whole = places.astype(np.int64)
    if not whole.size or whole.min() < -extent or whole.max() >= extent:
        return None
    forward = np.where(whole < 0, whole + extent, whole)
    origin = (0,) * forward.ndim
    begin = int(forward[origin])
    line = np.full(forward.shape, begin, np.int64)
    steps = []
    for place, size in enumerate(forward.shape):
        next_one = (*origin[:place], 1, *origin[place + 1 :])
        step = int(forward[next_one]) - begin if size > 1 else 0
        along = [1] * forward.ndim
        along[place] = size
        line = line + step * np.arange(size).reshape(along)
        steps.append(step)
    return (begin, tuple(steps)) if np.array_equal(line, forward) else None
