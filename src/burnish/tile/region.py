"""Which part of every tensor one tile needs: tile shapes and origins, pushed from output to inputs.

A tile of the anchor is numbered by one counter per axis. The part of a dimension that it needs is
a `DimensionSpan`: its origin is an index over the counters (which carries alignment: `8·u` is a
multiple of eight), its size a constant. Origins may lie before zero and ends behind the extent,
where a read is guarded: whoever walks a span clamps it (`low ≤ i < high` of the tensor) at run
time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.index import (
    Axis,
    Div,
    Fetch,
    Index,
    Mod,
    at,
    axes_of,
    bounds,
    fetches_of,
    floor_divide,
    number,
    remainder,
)


@dataclass(frozen=True, slots=True)
class DimensionSpan:
    """A part of one dimension."""

    origin: Index
    size: int

    def clamped(self, extent: int) -> DimensionSpan:
        """Return the whole dimension where the span is at least as long."""
        return DimensionSpan(Index(), extent) if self.size >= extent else self


Box = tuple[DimensionSpan, ...]


@dataclass(frozen=True, slots=True)
class TileMap:
    """What one tile of a group needs of each tensor that the group reads or writes."""

    counters: tuple[Axis, ...]
    """One per axis of the anchor; its extent is the number of tiles along that axis."""
    boxes: Mapping[str, Box]

    @property
    def tiles(self) -> int:
        """Return how many tiles there are."""
        return math.prod(counter.extent for counter in self.counters)

    def elements(self, tensor: str) -> int:
        """Return how many elements of a tensor one tile needs, at most."""
        return math.prod(span.size for span in self.boxes[tensor])

    def redundancy(self, op: TileOp) -> float:
        """Return how often each element of a nest's output is computed on average; at least 1."""
        total = math.prod(op.shape)
        return max(self.tiles * self.elements(op.output) / total, 1.0) if total else 1.0


@dataclass(frozen=True, slots=True)
class Shift:
    """How a part moves along one dimension, by the same number of rows from tile to tile."""

    dimension: int
    step: int

    def overlap(self, box: Box) -> int:
        """Return how many rows two neighbouring tiles share."""
        return max(box[self.dimension].size - self.step, 0)


def shift(box: Box, counter: Axis) -> Shift | None:
    """Return how a part moves along a counter, step 0 where it stays; None: in another way.

    Other ways are two dimensions at once, backwards, or by rows that differ from tile to tile, as
    what is half as high as what is made of it does: of that, nothing can be kept.
    """
    steps = [_step(span.origin, counter) for span in box]
    moving = [place for place, step in enumerate(steps) if step != 0]
    if not moving:
        return Shift(0, 0)
    step = steps[moving[0]]
    return Shift(moving[0], step) if len(moving) == 1 and step is not None and step > 0 else None


def _step(origin: Index, counter: Axis) -> int | None:
    """Return how far an origin moves from tile to tile; None: by no fixed number."""
    total = 0
    for atom, factor in origin.terms:
        if isinstance(atom, Axis):
            total += factor if atom == counter else 0
        elif counter in axes_of(part := Index(((atom, 1),))) or fetches_of(part):
            return None
    return total


Accesses = Mapping[str, tuple[tuple[str, tuple[Index, ...]], ...]]
"""By output of a nest, every tensor that it reads and where."""


def accesses(group: Group) -> Accesses:
    """Return what the nests of a group read; whoever propagates many tiles asks once."""
    return {op.output: tuple(_accesses(op)) for op in group.ops}


def propagate(group: Group, tile: tuple[int, ...], reads: Accesses | None = None) -> TileMap:
    """Return what each tile of the anchor needs, for tiles of this shape."""
    anchor = group.anchor
    extents = {op.output: op.shape for op in group.ops}
    found = reads if reads is not None else accesses(group)
    counters = tuple(
        Axis(f"u{position}", max(-(-axis.extent // size), 0))
        for position, (axis, size) in enumerate(zip(anchor.spatial, tile, strict=True))
    )
    boxes: dict[str, Box] = {
        anchor.output: tuple(
            DimensionSpan(at(counter) * size, size).clamped(axis.extent)
            for counter, size, axis in zip(counters, tile, anchor.spatial, strict=True)
        )
    }
    for op in reversed(group.ops):
        _push(op, boxes, extents, found[op.output])
    return TileMap(counters, boxes)


def partitioned(box: Box, shape: tuple[int, ...], counters: tuple[Axis, ...]) -> bool:
    """Say whether the tiles' boxes cover a tensor of this shape with every element in one box."""
    used: list[Axis] = []
    for span, extent in zip(box, shape, strict=True):
        match span.origin:
            case Index((), 0) if span.size >= extent:
                continue
            case Index(((Axis() as counter, factor),), 0) if factor == span.size:
                used.append(counter)
                if counter.extent != -(-extent // span.size):
                    return False
            case _:
                return False
    needed = {counter for counter in counters if counter.extent > 1}
    return len(set(used)) == len(used) and needed <= set(used)


def span_of(index: Index, spans: Mapping[Axis, DimensionSpan]) -> DimensionSpan:
    """Return the values that an index takes while its axes run over their spans."""
    match index:
        case Index(((Axis() as axis, 1),), 0):
            return spans[axis]
    origin, size = number(index.constant), 1
    for atom, factor in index.terms:
        part = _atom_span(atom, spans)
        last = part.size - 1
        origin = origin + (part.origin if factor > 0 else part.origin + last) * factor
        size += abs(factor) * last
    return DimensionSpan(origin, size)


def axis_spans(op: TileOp, box: Box) -> dict[Axis, DimensionSpan]:
    """Return the span of every axis of a nest when it computes this box of its output."""
    spans = dict(zip(op.spatial, box, strict=True))
    return spans | {axis: DimensionSpan(Index(), axis.extent) for axis in op.reduced}


def _push(
    op: TileOp,
    boxes: dict[str, Box],
    extents: Mapping[str, tuple[int, ...]],
    reads: Iterable[tuple[str, tuple[Index, ...]]],
) -> None:
    if op.output not in boxes:
        # an output that no nest of the group reads: its tile follows from nobody, so it is whole
        boxes[op.output] = tuple(DimensionSpan(Index(), extent) for extent in op.shape)
    spans = axis_spans(op, boxes[op.output])
    for tensor, index in reads:
        box = tuple(span_of(part, spans) for part in index)
        merged = box
        if tensor in boxes:
            pairs = zip(boxes[tensor], box, strict=True)
            merged = tuple(_merged(old, new) for old, new in pairs)
        if tensor in extents:
            shape = extents[tensor]
            merged = tuple(s.clamped(e) for s, e in zip(merged, shape, strict=True))
        boxes[tensor] = merged


def _accesses(op: TileOp) -> Iterable[tuple[str, tuple[Index, ...]]]:
    yield from ((read.tensor, read.index) for read in op.reads)
    yield from ((fetch.tensor, fetch.index) for fetch in op.fetches)


def _merged(a: DimensionSpan, b: DimensionSpan) -> DimensionSpan:
    if a == b:
        return a
    difference = b.origin - a.origin
    if difference.terms:
        return _around(a, b)
    shift = difference.constant
    low = min(0, shift)
    high = max(a.size, shift + b.size)
    return DimensionSpan(a.origin + low, high - low)


def _around(a: DimensionSpan, b: DimensionSpan) -> DimensionSpan:
    """Return a span that holds both for every tile: it starts at a constant."""
    ends = [bounds(span.origin) for span in (a, b)]
    low = min(end[0] for end in ends)
    high = max(end[1] + span.size for end, span in zip(ends, (a, b), strict=True))
    return DimensionSpan(number(low), high - low)


def _atom_span(
    atom: Axis | Div | Mod | Fetch, spans: Mapping[Axis, DimensionSpan]
) -> DimensionSpan:
    match atom:
        case Axis():
            return spans[atom]
        case Div(of, by):
            inner = span_of(of, spans)
            start = remainder(inner.origin, by)
            offset = start.constant if not start.terms else bounds(start)[1]
            return DimensionSpan(
                floor_divide(inner.origin, by), (offset + inner.size - 1) // by + 1
            )
        case Mod(of, by):
            inner = span_of(of, spans)
            start = remainder(inner.origin, by)
            if bounds(start)[1] + inner.size <= by:
                return DimensionSpan(start, inner.size)
            return DimensionSpan(Index(), by)
        case Fetch(_, _, extent):
            return DimensionSpan(Index(), extent)
