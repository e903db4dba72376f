"""Elements written to places: ScatterND and ScatterElements, read backwards.

A nest computes what it writes, so each place asks which update it gets. That is known beforehand
where the places are constants (`x[:, 1:] = y`). Places that are computed are compared with each
that could be meant (`asked_places`), or left to a library where that takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.operators.loops import asked_places
from burnish.operators.loops.parameters import required
from burnish.operators.record import Operator, register
from burnish.operators.rules import defined, first, nothing
from burnish.tile.expr import Argument, Expr, Guard, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for

Whole = NDArray[np.int64]

MOST_PLACES = 1 << 20
"""A number is kept for each place that could be written to: above this, that is no small table."""


def scatter_nd(builder: NestBuilder, node: Node) -> None:
    """Add the data with slices replaced: indices name places in its first dimensions."""
    data, updates = required(node, 0), required(node, 2)
    shape = builder.type(data).shape
    if builder.counts and required(node, 1) not in builder.constants:
        asked_places.slices(builder, node)
        return
    places = builder.constant(required(node, 1), "where it writes")
    *outer, depth = places.shape
    source = _sources(places.reshape(-1, depth), shape[:depth])
    axes = axes_for(shape)
    front = axes[:depth]
    rows = np.unravel_index(np.maximum(source, 0), outer) if outer else ()
    chosen = [_known(builder, row, front, extent) for row, extent in zip(rows, outer, strict=True)]
    index = (*chosen, *map(at, axes[depth:]))
    _written(builder, node, source >= 0, front, Read(updates, index))


def scatter_elements(builder: NestBuilder, node: Node) -> None:
    """Add the data with single elements replaced: indices name places in one dimension."""
    data, updates = required(node, 0), required(node, 2)
    shape = builder.type(data).shape
    if builder.counts and required(node, 1) not in builder.constants:
        asked_places.elements(builder, node)
        return
    places = builder.constant(required(node, 1), "where it writes")
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    targets = np.indices(places.shape).reshape(len(shape), -1)
    targets[axis] = places.reshape(-1)
    source = _sources(targets.T, shape)
    axes = axes_for(shape)
    along = np.unravel_index(np.maximum(source, 0), places.shape)[axis]
    index = [at(each) for each in axes]
    index[axis] = _known(builder, along, axes, places.shape[axis])
    shorter = (d for d, size in enumerate(places.shape) if d != axis and size < shape[d])
    guards = tuple(Guard(index[d], 0, places.shape[d]) for d in shorter)
    _written(builder, node, source >= 0, axes, Read(updates, tuple(index), guards))


def _sources(targets: Array, extents: Sequence[int]) -> Whole:
    """Return, for every place, which of the targets it is; -1: none."""
    count = math.prod(extents)
    if count > MOST_PLACES or not targets.size:
        raise NotCoveredError(f"it chooses among {count:,} places")
    limits = np.array(extents)
    given = targets.astype(np.int64)
    plain = np.where(given < 0, given + limits, given)
    if ((plain < 0) | (plain >= limits)).any():
        raise NotCoveredError("it writes to a place that does not exist")
    flat = np.ravel_multi_index(tuple(plain.T), tuple(extents))
    if np.unique(flat).size < flat.size:
        raise NotCoveredError("it writes to a place twice")
    source = np.full(count, -1, np.int64)
    source[flat] = np.arange(flat.size)
    return source.reshape(tuple(extents))


def _known(builder: NestBuilder, places: Array, axes: Sequence[Axis], extent: int) -> Index:
    name = builder.add_constant(places.astype(np.int64), "places")
    return fetched(name, map(at, axes), extent)


def _written(
    builder: NestBuilder, node: Node, hit: Array, front: Sequence[Axis], update: Read
) -> None:
    """Add what is there, or what is written there."""
    data = required(node, 0)
    kind = builder.type(data)
    axes = axes_for(kind.shape)
    chosen = builder.add_constant(hit, "written")
    reads = [Read(data, tuple(map(at, axes))), update, Read(chosen, tuple(map(at, front)))]
    old, new = Argument(0, kind.dtype), Argument(1, kind.dtype)
    body = call("where", Argument(2, "bool"), _combined(node, old, new), old)
    builder.add(node.outputs[0], axes, reads, body)


def _combined(node: Node, old: Expr, new: Expr) -> Expr:
    how = str(node.attributes.get("reduction", "none"))
    return new if how == "none" else asked_places.combined(how, old, new)


register({
    "ScatterND": Operator(shape=first, work=nothing, folds=defined, loops=scatter_nd),
    "ScatterElements": Operator(shape=first, work=nothing, folds=defined, loops=scatter_elements),
})  # fmt: skip
