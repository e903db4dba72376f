"""Operands that lie badly in memory: copied into scratch, in a better order.

A product like Q·Kᵀ reads K along its slow dimension; others collide in the cache. Where each
element is used often enough, a nest that copies the tile's part of the operand comes first; the
copy's layout follows from its reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from burnish.codegen.cpu.blocking import vector_cost
from burnish.codegen.cpu.form import Strided, uncollapsed
from burnish.codegen.cpu.target import InstructionSet
from burnish.tile.collisions import OFTEN, colliding, strides_of
from burnish.tile.expr import Argument
from burnish.tile.footprint import element_bytes
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, coefficient
from burnish.tile.region import DimensionSpan, TileMap, propagate
from burnish.tile.semantics import axes_for
from burnish.tile.sent import sent

POOR = 1.5
"""Vector operations per evaluation that are worth avoiding with a copy; one is the least."""


def staged(
    group: Group,
    tile: tuple[int, ...],
    types: Mapping[str, TensorType],
    layouts: Mapping[str, tuple[int, ...]],
    constants: Collection[str],
    target: InstructionSet,
) -> Group:
    """Return the group with copies of the operands that need them, each before its reader."""
    outside = set(group.inputs) - set(constants)
    boxes = propagate(group, tile)
    where = {
        name: Strided(kind.dtype, strides_of(kind, layouts.get(name)), name in constants)
        for name, kind in types.items()
    }
    ops: list[TileOp] = []
    for op in group.ops:
        if sent(op) is not None:
            # its terms read their operands once
            ops.append(op)
            continue
        reads = list(op.reads)
        colliding_here = (
            position
            for position in colliding(op, types, layouts, target.unit)
            if _bytes_of(op.reads[position].tensor, boxes, types) <= target.unit.most_copied_bytes
        )
        for position in dict.fromkeys((*_across(op, where, target), *colliding_here)):
            read = reads[position]
            size = max(types[read.tensor].size, 1)
            if read.tensor in outside and op.points // size >= OFTEN:
                copy = _copy(op, position, types[read.tensor], read)
                ops.append(copy)
                reads[position] = replace(read, tensor=copy.output)
        ops.append(replace(op, reads=tuple(reads)))
    return Group(tuple(ops), group.outputs)


def _bytes_of(tensor: str, boxes: TileMap, types: Mapping[str, TensorType]) -> int:
    return element_bytes(types[tensor].dtype, boxes.elements(tensor))


def _across(op: TileOp, where: Mapping[str, Strided], target: InstructionSet) -> tuple[int, ...]:
    """Return the reads whose vectors would not lie side by side, if nothing else serves."""
    if op.combine is None or not op.spatial:
        return ()
    box = tuple(DimensionSpan(Index(), axis.extent) for axis in op.spatial)
    nest = uncollapsed(op, box, where)
    every = [*nest.spatial, *nest.reduced]
    if (
        min((vector_cost(nest, each, target.lanes, target.unit) for each in every), default=1.0)
        <= POOR
    ):
        return ()
    vector = next((each.axis for each in reversed(nest.spatial)), None)
    return tuple(
        position
        for position in arguments_of(op.body)
        if vector is not None
        and _copyable(op.reads[position], vector)
        and nest.reads[position].offset.stride(vector) > 1
    )


def _copyable(read: Read, vector: Axis) -> bool:
    """Say whether one dimension of the tensor is walked step by step along the vector."""
    steps = [coefficient(index, vector) for index in read.index]
    return not read.guards and None not in steps and [s for s in steps if s] == [1]


def _copy(op: TileOp, position: int, kind: TensorType, read: Read) -> TileOp:
    axes = axes_for(kind.shape)
    source = Read(read.tensor, tuple(at(axis) for axis in axes))
    name = f"{read.tensor}~{op.output}~{position}"
    return TileOp(name, axes, (source,), Argument(0, kind.dtype))
