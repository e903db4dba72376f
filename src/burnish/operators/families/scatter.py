"""Elements written to places: ScatterND and ScatterElements, read backwards.

A nest computes what it writes, so each place asks which update it gets. That is known beforehand
where the places are constants (`x[:, 1:] = y`). Where they are computed, or several updates go to
one place, each place asks all updates: in the form of `burnish.tile.sent`, or where all pairs are
compared at once (`asked_places`) in one that reads updates where it writes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.operators.loops import asked_places
from burnish.operators.loops.parameters import required
from burnish.operators.record import Operator, register
from burnish.operators.rules import defined, first, nothing
from burnish.tile.expr import (
    Accumulated,
    Argument,
    Constant,
    Coordinate,
    Expr,
    Guard,
    Inside,
    call,
    cast,
)
from burnish.tile.functions import identity
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis, Index, at, axes_of, fetched, flatten, number, unflatten
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

Whole = NDArray[np.int64]

MOST_PLACES = 1 << 20
"""A number is kept for each place that could be written to: above this, that is no small table."""

MOST_UPDATES = 1 << 30
"""Which of several came last is kept as a number of 32 bits."""

_TERMS: dict[str, Combine] = {"add": "sum", "mul": "prod", "max": "max", "min": "min"}


def scatter_nd(builder: NestBuilder, node: Node) -> None:
    """Add the data with slices replaced: indices name places in its first dimensions."""
    data, places, updates = (required(node, position) for position in range(3))
    shape = builder.type(data).shape
    *outer, depth = builder.type(places).shape
    axes = axes_for(shape)
    front = axes[:depth]
    known = builder.constants.get(places)
    source = None if known is None else _sources(known.reshape(-1, depth), shape[:depth])
    if source is None and builder.counts:
        asked_places.slices(builder, node)
        return
    if source is None:
        each = axes_for(outer, "r")
        which = [
            _goes(places, (*map(at, each), number(position)), axis)
            for position, axis in enumerate(front)
        ]
        _sent(builder, node, _Update(axes, front, each, tuple(which)))
        return
    rows = np.unravel_index(np.maximum(source, 0), outer) if outer else ()
    chosen = [_known(builder, row, front, extent) for row, extent in zip(rows, outer, strict=True)]
    index = (*chosen, *map(at, axes[depth:]))
    _written(builder, node, source >= 0, front, Read(updates, index))


def scatter_elements(builder: NestBuilder, node: Node) -> None:
    """Add the data with single elements replaced: indices name places in one dimension."""
    data, indices, updates = (required(node, position) for position in range(3))
    shape, given = builder.type(data).shape, builder.type(indices).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    known = builder.constants.get(indices)
    source = None if known is None else _sources(_targets(known, axis), shape)
    if source is None and builder.counts:
        asked_places.elements(builder, node)
        return
    if source is None:
        _scatter_along(builder, node, axis)
        return
    axes = axes_for(shape)
    along = np.unravel_index(np.maximum(source, 0), given)[axis]
    index = [at(each) for each in axes]
    index[axis] = _known(builder, along, axes, given[axis])
    guards = _within(axes, given, but=axis)
    _written(builder, node, source >= 0, axes, Read(updates, tuple(index), guards))


def _targets(places: Array, axis: int) -> Array:
    """Return where elements along one dimension go, a row for each."""
    targets = np.indices(places.shape).reshape(places.ndim, -1)
    targets[axis] = places.reshape(-1)
    return targets.T


def _within(axes: Sequence[Axis], shape: Sequence[int], but: int) -> tuple[Guard, ...]:
    """Return the conditions of being in a shorter tensor, along all dimensions but one."""
    pairs = enumerate(zip(axes, shape, strict=True))
    return tuple(Guard(at(axis), 0, n) for d, (axis, n) in pairs if d != but and n < axis.extent)


@dataclass(frozen=True, slots=True)
class _Update:
    """Where updates go that are known when it runs."""

    axes: tuple[Axis, ...]
    """Of the data."""
    front: tuple[Axis, ...]
    """Those of them that are needed to say which update a place gets."""
    each: tuple[Axis, ...]
    """One step for each update."""
    goes: tuple[Guard, ...]
    """That an update goes to a place."""
    along: int | None = None
    """The dimension of the updates that is walked, where they have those of the data; None:
    updates are slices."""

    def read(self, tensor: str, chosen: Sequence[Index]) -> Read:
        """Return the read of one update, which is named by an index for each of its own axes."""
        inner = [at(axis) for axis in self.axes]
        if self.along is None:
            return Read(tensor, (*chosen, *inner[len(self.goes) :]))
        (inner[self.along],) = chosen
        return Read(tensor, tuple(inner))


def _scatter_along(builder: NestBuilder, node: Node, axis: int) -> None:
    """Add the data with elements written to computed places of one dimension."""
    data, indices = required(node, 0), required(node, 1)
    kind, given = builder.type(data), builder.type(indices).shape
    box = tuple(n if d == axis else given[d] for d, n in enumerate(kind.shape))
    axes, each = axes_for(box), Axis("r0", given[axis])
    told = {axis, *_varies(builder, indices)}
    place = tuple(
        at(each) if d == axis else at(a) if d in told else number(0) for d, a in enumerate(axes)
    )
    front = tuple(a for d, a in enumerate(axes) if d in told)
    update = _Update(axes, front, (each,), (_goes(indices, place, axes[axis]),), axis)
    output = node.outputs[0]
    if box == kind.shape:
        _sent(builder, node, update)
        return
    part = builder.fresh(f"{output}.part")
    _sent(builder, replace(node, outputs=(part,)), update)
    whole = axes_for(kind.shape)
    inside = _within(whole, box, but=axis)
    index = tuple(map(at, whole))
    body = call("where", Inside(inside), Argument(0, kind.dtype), Argument(1, kind.dtype))
    builder.add(output, whole, [Read(part, index, inside), Read(data, index)], body)


def _varies(builder: NestBuilder, tensor: str) -> frozenset[int]:
    """Return the dimensions along which a tensor may vary: one that is repeated does not."""
    made = next((op for op in builder.ops if op.output == tensor), None)
    if made is None or not isinstance(made.body, Argument) or made.combine or made.fetches:
        return frozenset(range(len(builder.type(tensor).shape)))
    (read,) = made.reads
    inner = (read.index[dimension] for dimension in _varies(builder, read.tensor))
    used = {axis for index in inner for axis in axes_of(index)}
    return frozenset(d for d, axis in enumerate(made.spatial) if axis in used)


def _goes(places: str, index: Sequence[Index], axis: Axis) -> Guard:
    """Return the condition that what is fetched is where an axis is."""
    return Guard(fetched(places, index, axis.extent) - at(axis), 0, 1)


def _sent(builder: NestBuilder, node: Node, update: _Update) -> None:
    """Add the data with updates at computed places; of several `none` takes the last."""
    how = str(node.attributes.get("reduction", "none"))
    data, kind = required(node, 0), builder.type(required(node, 0))
    if not builder.type(required(node, 2)).size or not kind.size:
        raise NotCoveredError("it writes nothing")
    if kind.dtype == "bool" and how != "none":
        raise NotCoveredError("it combines truth values")
    if math.prod(axis.extent for axis in update.each) > MOST_UPDATES:
        raise NotCoveredError("it has more updates than are counted")
    old = Read(data, tuple(at(axis) for axis in update.axes))
    if math.prod(axis.extent for axis in update.each) == 1:
        new = update.read(required(node, 2), tuple(map(at, update.each)))
        both = _combined(node, Argument(1, kind.dtype), Argument(0, kind.dtype))
        body = call("where", Inside(update.goes), both, Argument(1, kind.dtype))
        builder.add(node.outputs[0], update.axes, [new, old], body)
        return
    if how == "none":
        last = _last(builder, node, update)
        extents = tuple(axis.extent for axis in update.each)
        here = tuple(map(at, update.front))
        chosen = unflatten(fetched(last, here, math.prod(extents)), extents)
        new = update.read(required(node, 2), chosen)
        hit = call("less_equal", Constant(0, "i32"), Argument(2, "i32"))
        body = call("where", hit, Argument(0, kind.dtype), Argument(1, kind.dtype))
        builder.add(node.outputs[0], update.axes, [new, old, Read(last, here)], body)
        return
    new = update.read(required(node, 2), tuple(map(at, update.each)))
    total = builder.fresh(f"{node.outputs[0]}.sent")
    over = Reduction(update.each, _TERMS[how])
    _reduced(builder, total, update, Argument(0, kind.dtype), [new], over)
    both = _combined(node, Argument(0, kind.dtype), Argument(1, kind.dtype))
    builder.add(node.outputs[0], update.axes, [old, Read(total, old.index)], both)


def _last(builder: NestBuilder, node: Node, update: _Update) -> str:
    """Add, for every place, which update comes last to it; -1: none does."""
    place = flatten(map(at, update.each), [axis.extent for axis in update.each])
    found = call("maximum", Accumulated("i32"), Constant(-1, "i32"))
    over = Reduction(update.each, "max", found)
    name = builder.fresh(f"{node.outputs[0]}.last")
    which = cast(Coordinate(place), "i32")
    return _reduced(builder, name, replace(update, axes=update.front), which, [], over)


def _reduced(
    builder: NestBuilder,
    name: str,
    update: _Update,
    value: Expr,
    reads: Sequence[Read],
    over: Reduction,
) -> str:
    """Add what comes of the values of all updates that go to a place."""
    assert over.combine is not None
    nothing = Constant(identity(over.combine, value.dtype), value.dtype)
    body = call("where", Inside(update.goes), value, nothing)
    whole = replace(over, axes=over.axes or (Axis("r0", 1),))
    return builder.add(name, update.axes, reads, body, whole)


def _sources(targets: Array, extents: Sequence[int]) -> Whole | None:
    """Return, for every place, which of the targets it is, -1: none; None: it is no small table."""
    count = math.prod(extents)
    if count > MOST_PLACES or not targets.size:
        return None
    limits = np.array(extents)
    given = targets.astype(np.int64)
    plain = np.where(given < 0, given + limits, given)
    if ((plain < 0) | (plain >= limits)).any():
        raise NotCoveredError("it writes to a place that does not exist")
    flat = np.ravel_multi_index(tuple(plain.T), tuple(extents))
    if np.unique(flat).size < flat.size:
        return None
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
    "Scatter": Operator(shape=first, work=nothing, folds=defined, loops=scatter_elements),
})  # fmt: skip
