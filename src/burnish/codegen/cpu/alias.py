"""Padding and concatenation without a copy: nests write straight into the tensor around them.

A tensor that is only read to become the middle of a padded one, or a part of a concatenation, is
laid out inside that container. Of a padding, only the border is filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from burnish.codegen.cpu.form import NestForm, Strided, uncollapsed
from burnish.codegen.cpu.segments import segments
from burnish.tile.expr import Argument, Constant, Guard
from burnish.tile.graph import Read, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, bounds, number
from burnish.tile.region import Box, DimensionSpan, TileMap


@dataclass(frozen=True, slots=True)
class Insertion:
    """A tensor that lies inside another: where its first element is in that one."""

    source: str
    container: TileOp
    shifts: tuple[int, ...]
    extents: tuple[int, ...]
    """The source's shape."""


def insertions(group: Group) -> dict[str, Insertion]:
    """Return, by source, the copies that a group can do without."""
    made = {op.output: op for op in group.ops}
    scratch = set(group.scratch)
    readers: dict[str, list[TileOp]] = {name: [] for name in made}
    for op in group.ops:
        for name in op.inputs:
            if name in readers:
                readers[name].append(op)
    found: dict[str, Insertion] = {}
    for op in group.ops:
        if op.output not in scratch:
            continue
        for insertion in _inserted(op, made):
            alone = readers[insertion.source] == [op]
            once = sum(read.tensor == insertion.source for read in op.reads) == 1
            same = made[insertion.source].dtype == op.dtype
            if alone and once and same and insertion.source in scratch:
                found[insertion.source] = insertion
    return found


def within_containers(tiles: TileMap, group: Group, inserted: Mapping[str, Insertion]) -> TileMap:
    """Return what tiles need, of what lies inside another tensor no more than there is of that one.

    Of a dimension that is not longer than what a tile needs of it, all is said to be needed; a
    tile's part of the container begins in the middle of that.
    """
    boxes = dict(tiles.boxes)
    for op in reversed(group.ops):
        insertion = inserted.get(op.output)
        if insertion is not None:
            around = boxes[insertion.container.output]
            places = zip(boxes[op.output], around, insertion.shifts, strict=True)
            boxes[op.output] = tuple(_within(own, outer, by) for own, outer, by in places)
    return replace(tiles, boxes=boxes)


def _within(own: DimensionSpan, outer: DimensionSpan, by: int) -> DimensionSpan:
    moved = DimensionSpan(outer.origin - number(by), outer.size)
    low, high = bounds(own.origin - moved.origin)
    return own if low >= 0 and high + own.size <= moved.size else moved


def padded_in_place(op: TileOp, inserted: Mapping[str, Insertion]) -> Insertion | None:
    """Return the insertion that leaves only a border of this nest to be filled."""
    if len(op.reads) != 1:
        return None
    insertion = inserted.get(op.reads[0].tensor)
    return insertion if insertion is not None and insertion.container is op else None


def border(
    insertion: Insertion, box: Box, where: Mapping[str, Strided]
) -> list[tuple[NestForm, int]]:
    """Return nests that fill the border, each with the dimension that it lies along.

    A nest's part of that dimension is decided at run time: what the tile has of the border.
    """
    op = insertion.container
    otherwise = Constant(op.reads[0].otherwise, op.dtype)
    fill = TileOp(op.output, op.spatial, (), otherwise, nodes=op.nodes)
    result = []
    for dimension, axis in enumerate(op.spatial):
        if axis.extent == insertion.extents[dimension]:
            continue
        nest = uncollapsed(fill, box, where)
        spatial = tuple(
            replace(each, fixed=False) if each.axis == axis else each for each in nest.spatial
        )
        result.append((replace(nest, spatial=spatial), dimension))
    return result


def _inserted(op: TileOp, made: Mapping[str, TileOp]) -> Iterator[Insertion]:
    if op.reduced:
        return
    if len(op.reads) == 1 and isinstance(op.body, Argument):
        yield from _insertion(op, op.reads[0], made)
    for segment in segments(op):
        part = segment.op
        if len(part.reads) == 1 and isinstance(part.body, Argument):
            for found in _insertion(op, part.reads[0], made):
                place = op.spatial.index(segment.axis)
                exact = found.extents[place] == segment.high - segment.low
                if exact and found.shifts[place] == segment.low:
                    yield found


def _insertion(op: TileOp, read: Read, made: Mapping[str, TileOp]) -> Iterator[Insertion]:
    """Yield the insertion of what is read plainly, at a constant distance in each dimension."""
    source = made.get(read.tensor)
    if source is None or len(source.shape) != len(op.spatial):
        return
    shifts = []
    for axis, index, extent in zip(op.spatial, read.index, source.shape, strict=True):
        shift = _shift(axis, index)
        if shift is None or shift + extent > axis.extent:
            return
        shifts.append(shift)
    if read.guards and not _only_a_border(read, source.shape, op.spatial):
        return
    yield Insertion(read.tensor, op, tuple(shifts), source.shape)


def _shift(axis: Axis, index: Index) -> int | None:
    """Return s where the index is `axis - s`."""
    difference = at(axis) - index
    return None if difference.terms or difference.constant < 0 else difference.constant


def _only_a_border(read: Read, shape: tuple[int, ...], axes: tuple[Axis, ...]) -> bool:
    """Say whether the guards ask that each index is inside the source, and nothing besides.

    A guard that is about no single dimension (row - column of a triangle) hides elements inside.
    """
    places = list(zip(read.index, shape, axes, strict=True))
    known = all(any(_about(guard, index) for index in read.index) for guard in read.guards)
    return known and all(_bounded(read.guards, *place) for place in places)


def _about(guard: Guard, index: Index) -> bool:
    return not (guard.index - index).terms


def _bounded(guards: tuple[Guard, ...], index: Index, extent: int, axis: Axis) -> bool:
    """Say whether the guards ask exactly that the index is inside the source, and no more."""
    about = [guard for guard in guards if _about(guard, index)]
    if axis.extent == extent:
        return not about
    limits = [
        (guard.low - (guard.index - index).constant, guard.high - (guard.index - index).constant)
        for guard in about
    ]
    return limits == [(0, extent)]
