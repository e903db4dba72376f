"""Padding without a copy: a nest writes straight into the middle of its padded neighbour.

A padded tensor whose source is made in the same group needs no pass over all its elements: the
source is laid out inside the padded buffer, and only the border is filled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnish.codegen.cpu.form import NestForm, Place, uncollapsed
from burnish.tile.expr import Argument, Constant, Guard
from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at
from burnish.tile.region import Box


@dataclass(frozen=True, slots=True)
class Padding:
    """A nest that only copies, with a border: where its source's first element lies in it."""

    op: TileOp
    source: str
    shifts: tuple[int, ...]
    extents: tuple[int, ...]
    """The source's shape."""


def paddings(group: Group) -> dict[str, Padding]:
    """Return, by padded tensor, the copies that a group can do without."""
    shapes = {op.output: op.shape for op in group.ops}
    dtypes = {op.output: op.dtype for op in group.ops}
    scratch = set(group.scratch)
    found: dict[str, Padding] = {}
    for op in group.ops:
        padding = _padding(op, shapes)
        if padding is None or not {op.output, padding.source} <= scratch:
            continue
        readers = [other for other in group.ops if padding.source in other.inputs]
        if readers == [op] and dtypes[padding.source] == op.dtype:
            found[op.output] = padding
    return found


def border(padding: Padding, box: Box, where: dict[str, Place]) -> list[tuple[NestForm, int]]:
    """Return nests that fill the border, each with the dimension that it lies along.

    A nest's part of that dimension is decided at run time: what the tile has of the border.
    """
    op = padding.op
    otherwise = op.reads[0].otherwise
    dtype = op.dtype
    fill = TileOp(op.output, op.spatial, (), Constant(otherwise, dtype), nodes=op.nodes)
    result = []
    for dimension, axis in enumerate(op.spatial):
        if axis.extent == padding.extents[dimension]:
            continue
        nest = uncollapsed(fill, box, where)
        spatial = tuple(
            replace(each, fixed=False) if each.axis == axis else each for each in nest.spatial
        )
        result.append((replace(nest, spatial=spatial), dimension))
    return result


def _padding(op: TileOp, shapes: dict[str, tuple[int, ...]]) -> Padding | None:
    if op.reduced or len(op.reads) != 1 or not isinstance(op.body, Argument):
        return None
    read = op.reads[0]
    shape = shapes.get(read.tensor)
    if shape is None or len(shape) != len(op.spatial):
        return None
    shifts = []
    for axis, index, extent in zip(op.spatial, read.index, shape, strict=True):
        shift = _shift(axis, index)
        if shift is None or not _bounded(read.guards, index, extent, axis, shift):
            return None
        shifts.append(shift)
    return Padding(op, read.tensor, tuple(shifts), shape)


def _shift(axis: Axis, index: Index) -> int | None:
    """Return s where the index is `axis - s`."""
    difference = at(axis) - index
    return None if difference.terms or difference.constant < 0 else difference.constant


def _bounded(guards: tuple[Guard, ...], index: Index, extent: int, axis: Axis, shift: int) -> bool:
    if shift == 0 and axis.extent == extent:
        return all(guard.index != index for guard in guards)
    inside = [guard for guard in guards if guard.index == index]
    return [(guard.low, guard.high) for guard in inside] == [(0, extent)]
