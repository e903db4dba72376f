"""Operands whose vectors would not lie side by side: copied into scratch, in a better order.

A product like Q·Kᵀ reads K along its slow dimension. Where each element is used often enough, a
nest that copies the tile's part of K comes first; the copy's layout follows from its reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from burnish.tile.expr import Argument
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, at, axes_of, coefficient
from burnish.tile.semantics import axes_for

OFTEN = 8
"""Uses of an element that pay for its copy, which costs about as much as ten uses of it."""


def staged(
    group: Group,
    types: Mapping[str, TensorType],
    innermost: Mapping[str, int],
    constants: Collection[str],
) -> Group:
    """Return the group with copies of the operands that need them, each before its reader.

    `innermost` is the dimension that lies innermost in memory, by tensor (default: the last).
    """
    outside = set(group.inputs) - set(constants)
    ops: list[TileOp] = []
    for op in group.ops:
        reads = list(op.reads)
        for position in arguments_of(op.body):
            read = reads[position]
            if read.tensor in outside and _across(op, read, types, innermost):
                copy = _copy(op, position, types[read.tensor], read)
                ops.append(copy)
                reads[position] = replace(read, tensor=copy.output)
        ops.append(replace(op, reads=tuple(reads)))
    return Group(tuple(ops), group.outputs)


def _across(
    op: TileOp, read: Read, types: Mapping[str, TensorType], innermost: Mapping[str, int]
) -> bool:
    """Say whether the nest's vectors run along a slow dimension of what it reads often."""
    if op.combine is None or read.guards:
        return False
    vector = _vector(op, innermost.get(op.output))
    if vector is None:
        return False
    steps = [coefficient(index, vector) for index in read.index]
    if None in steps or sum(step != 0 for step in steps if step is not None) != 1:
        return False
    dimension = next(place for place, step in enumerate(steps) if step)
    fast = innermost.get(read.tensor, len(read.index) - 1)
    if dimension == fast or steps[dimension] != 1:
        return False
    size = max(types[read.tensor].size, 1)
    reduced = {axis for axis in axes_of(read.index[fast]) if axis in op.reduced}
    return bool(reduced) and op.points // size >= OFTEN


def _vector(op: TileOp, inner: int | None) -> Axis | None:
    if inner is not None:
        return op.spatial[inner]
    return next((axis for axis in reversed(op.spatial) if axis.extent > 1), None)


def _copy(op: TileOp, position: int, kind: TensorType, read: Read) -> TileOp:
    axes = axes_for(kind.shape)
    source = Read(read.tensor, tuple(at(axis) for axis in axes))
    name = f"{read.tensor}~{op.output}~{position}"
    return TileOp(name, axes, (source,), Argument(0, kind.dtype))
