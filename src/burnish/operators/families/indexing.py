"""Elements at places that another tensor holds: Gather, and ReverseSequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burnish.operators.loops.parameters import required
from burnish.operators.loops.places import even
from burnish.operators.record import Elements, Movement, Operands, Operator, Partial, register
from burnish.operators.rules import always, defined, first, nothing
from burnish.tile.index import Axis, Index, at, fetched, number
from burnish.tile.pointwise import positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


def gather(builder: NestBuilder, node: Node) -> None:
    """Add the slices of one dimension that the indices name."""
    source, places = required(node, 0), required(node, 1)
    shape = builder.type(source).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    inner = builder.type(places).shape
    axes = axes_for((*shape[:axis], *inner, *shape[axis + 1 :]))
    chosen = _place(builder, places, axes[axis : axis + len(inner)], shape[axis])
    index = (*map(at, axes[:axis]), chosen, *map(at, axes[axis + len(inner) :]))
    builder.view(node.outputs[0], source, index, axes)


def gather_elements(builder: NestBuilder, node: Node) -> None:
    """Add, for each element of the indices, the element at this place of one dimension."""
    source, places = required(node, 0), required(node, 1)
    shape = builder.type(source).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    axes = axes_for(builder.type(places).shape)
    index = [at(each) for each in axes]
    index[axis] = _place(builder, places, axes, shape[axis])
    builder.view(node.outputs[0], source, index, axes)


def gather_nd(builder: NestBuilder, node: Node) -> None:
    """Add the slices that the indices name: their last dimension is a place in the data's first."""
    source, places = required(node, 0), required(node, 1)
    shape, (*outer, depth) = builder.type(source).shape, builder.type(places).shape
    batch = int(node.attributes.get("batch_dims", 0))
    axes = axes_for((*outer, *shape[batch + depth :]))
    front = [at(axis) for axis in axes[: len(outer)]]
    for position in range(depth):
        _require_inside(builder, places, shape[batch + position], (..., position))
    chosen = [
        fetched(places, (*front, number(position)), shape[batch + position])
        for position in range(depth)
    ]
    index = (*front[:batch], *chosen, *map(at, axes[len(outer) :]))
    builder.view(node.outputs[0], source, index, axes)


def reverse_sequence(builder: NestBuilder, node: Node) -> None:
    """Add the data with the first steps of each sample in reverse: as many as it has.

    How many these are must be known: a library says when there are more than steps.
    """
    source = required(node, 0)
    shape = builder.type(source).shape
    time, batch = (int(node.attributes.get(name, default))
                   for name, default in (("time_axis", 0), ("batch_axis", 1)))  # fmt: skip
    lengths = builder.constant(required(node, 1), "how many steps it turns").astype(np.int64)
    steps = np.arange(shape[time])[:, None]
    if lengths.shape != (shape[batch],):
        raise NotCoveredError(f"it has {shape[batch]} samples, and the lengths of {lengths.size}")
    if ((lengths < 0) | (lengths > shape[time])).any():
        raise NotCoveredError(f"it turns {lengths.max()} of {shape[time]} steps")
    axes = axes_for(shape)
    index = [at(axis) for axis in axes]
    if (lengths == shape[time]).all():
        index[time] = index[time] * -1 + (shape[time] - 1)
    else:
        places = builder.add_constant(np.where(steps < lengths, lengths - 1 - steps, steps), "turn")
        index[time] = fetched(places, (index[time], index[batch]), shape[time])
    builder.view(node.outputs[0], source, index, axes)


def _place(builder: NestBuilder, places: str, axes: tuple[Axis, ...], extent: int) -> Index:
    """Return the index that a tensor holds; an even row of constants is an index by itself."""
    _require_inside(builder, places, extent)
    known = builder.constants.get(places)
    if known is not None and known.size and len(axes) <= 1:
        row = np.asarray(known).reshape(-1).astype(np.int64)
        found = even(np.where(row < 0, row + extent, row), axes[0] if axes else Axis("one", 1))
        if found is not None:
            return found
    return fetched(places, map(at, axes), extent)


def _require_inside(
    builder: NestBuilder, places: str, extent: int, part: tuple[Any, ...] = (...,)
) -> None:
    """Raise if constants name a place that does not exist: a branch may have them that never runs.

    A library says so where it does; a kernel would read what lies behind the tensor.
    """
    known = builder.constants.get(places)
    chosen = None if known is None else np.asarray(known)[part]
    if chosen is not None and ((chosen < -extent) | (chosen >= extent)).any():
        raise NotCoveredError(f"it reads a place that does not exist, of {extent:,}")


def _gathered_shape(at: Operands) -> Sequence[Partial | None]:
    data, indices = at.shape(0), at.shape(1)
    if data is None or indices is None:
        return [None]
    axis = positive_axis(at.number("axis", 0), len(data))
    return [(*data[:axis], *indices, *data[axis + 1 :])]


def _gathered(at: Operands) -> Elements | None:
    items, places = at.elements(0), at.integers(1)
    if items is None or places is None or not at.shape(0):
        return None
    if not all(-len(items) <= place < len(items) for place in places):
        return None
    return tuple(items[place] for place in places)


def _as_indices(at: Operands) -> Sequence[Partial | None]:
    return [at.shape(1)]


def _gathered_slices(at: Operands) -> Sequence[Partial | None]:
    data, indices, batch = at.shape(0), at.shape(1), at.number("batch_dims", 0)
    if not data or not indices or not isinstance(indices[-1], int):
        return [None]
    if not 0 <= batch < min(len(data), len(indices)):
        raise ValueError(f"batch_dims = {batch} is outside of its operands")
    return [(*indices[:-1], *data[batch + indices[-1] :])]


def _found(at: Operands) -> Sequence[Partial | None]:
    data = at.shape(0)
    return [None if data is None else (len(data), None)]


register({
    "Gather": Operator(_gathered_shape, value=_gathered, work=nothing, traffic=Movement.AS_GIVEN,
                       folds=defined, loops=gather),
    "GatherElements": Operator(_as_indices, work=nothing, traffic=Movement.AS_GIVEN,
                               folds=defined, loops=gather_elements),
    "GatherND": Operator(_gathered_slices, work=nothing, traffic=Movement.AS_GIVEN,
                         folds=defined, loops=gather_nd),
    "ReverseSequence": Operator(shape=first, work=nothing, loops=reverse_sequence),
    "NonZero": Operator(_found, always("i64"), work=nothing, folds=defined),
    "Compress": Operator(work=nothing),
})  # fmt: skip
