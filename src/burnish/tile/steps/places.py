"""Places that a constant holds and that lie in equal steps are indices, and are not fetched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.index import Fetch, Index, number
from burnish.tile.steps.substitution import index_mapped, kept_fetch, op_fetches, op_mapped
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import regraph


def known_places(graph: TileGraph) -> TileGraph:
    """Return the graph with what lies in equal steps read there.

    out[i, j] = x[fetch(table[i, j])], table = [[0, 1], [2, 3]]  -->  out[i, j] = x[2*i + j]
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
    array = constants.get(fetch.tensor)
    found = None if array is None else _steps(np.asarray(array), fetch.extent)
    if found is None:
        return kept_fetch(fetch)
    begin, steps = found
    result = number(begin)
    for index, step in zip(fetch.index, steps, strict=True):
        result = result + index * step
    return result


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
