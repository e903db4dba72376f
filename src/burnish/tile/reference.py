"""NumPy execution of a tile-graph: the judge, slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Coordinate, Expr, Guard, Inside
from burnish.tile.functions import FUNCTIONS, identity
from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.index import Axis, Div, Fetch, Index, Mod, at
from burnish.tile.sent import Sent, passes, sent

POINTS_AT_ONCE = 1 << 22
"""Grids are cut into pieces of about this many points, so that memory stays bounded."""

Value = Any
"""An array: NumPy's operators are not typed for one of any element type."""

Ranges = Mapping[Axis, tuple[int, int]]
"""Which part of each axis, as a half-open range."""

_COMBINE: Mapping[str, np.ufunc] = {
    "sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply,
}  # fmt: skip
_REDUCE: Mapping[str, Callable[..., Array]] = {
    "sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod,
}  # fmt: skip


def evaluate(graph: TileGraph, inputs: Arrays) -> dict[str, Array]:
    """Return the outputs of a tile-graph for these inputs."""
    values: dict[str, Array] = {**graph.constants, **inputs}
    for op in graph.ops:
        values[op.output] = evaluate_op(op, values)
    return {name: np.asarray(values[name]) for name in graph.outputs}


def evaluate_op(op: TileOp, values: Arrays, box: Sequence[tuple[int, int]] | None = None) -> Array:
    """Return the output of one nest, or of a box of it (half-open range per dimension)."""
    if box is None and (found := sent(op)) is not None:
        return _sent(op, found, values)
    box = tuple(box or ((0, axis.extent) for axis in op.spatial))
    result = np.empty([high - low for low, high in box], dtype=array_type(op.dtype))
    for piece in _pieces(op, box):
        ranges = dict(zip(op.spatial, piece, strict=True))
        place = tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(piece, box, strict=True))
        with np.errstate(all="ignore"):
            result[place] = _piece(op, ranges, values)
    return result


def finished(op: TileOp, values: Arrays, total: Array) -> Array:
    """Return the output of a nest whose loops have accumulated `total`."""
    with np.errstate(all="ignore"):
        whole = {axis: (0, axis.extent) for axis in op.spatial}
        return np.array(_finished(op, whole, values, total), dtype=array_type(op.dtype))


def _piece(op: TileOp, ranges: Ranges, values: Arrays) -> Array:
    shape = [high - low for low, high in ranges.values()]
    if op.combine is None:
        grid = _Grid(op, ranges, op.spatial, values)
        return np.broadcast_to(grid.value(op.body), shape)
    dtype = array_type(op.body.dtype)
    total = np.full(shape, identity(op.combine, op.body.dtype), dtype=dtype)
    for part in _reduction_pieces(op, math.prod(shape)):
        all_ranges = {**ranges, **dict(zip(op.reduced, part, strict=True))}
        grid = _Grid(op, all_ranges, (*op.spatial, *op.reduced), values)
        extents = [high - low for low, high in part]
        body = np.broadcast_to(grid.value(op.body), (*shape, *extents))
        over = tuple(range(len(shape), len(shape) + len(extents)))
        reduced = _REDUCE[op.combine](body, axis=over).astype(dtype)
        total = _COMBINE[op.combine](total, reduced)
    return _finished(op, ranges, values, total)


def _sent(op: TileOp, found: Sent, values: Arrays) -> Array:
    """Return the output of a nest by walking its terms, each of which goes to one place."""
    assert op.combine is not None
    dtype = array_type(op.body.dtype)
    total = np.full(op.shape, identity(op.combine, op.body.dtype), dtype=dtype)
    update = passes(op, found).update
    for piece in cut(tuple((0, axis.extent) for axis in found.axes), POINTS_AT_ONCE):
        ranges = dict(zip(found.axes, piece, strict=True))
        grid = _Grid(update, ranges, found.axes, values)
        shape = [high - low for low, high in piece]
        places = tuple(
            np.broadcast_to(grid.index(found.places.get(axis, at(axis))), shape)
            for axis in op.spatial
        )
        with np.errstate(all="ignore"):
            value = np.broadcast_to(grid.value(found.value), shape).astype(dtype)
            _COMBINE[op.combine].at(total, places, value)
    return finished(op, values, total)


def _finished(op: TileOp, ranges: Ranges, values: Arrays, total: Array) -> Array:
    if op.finish is None:
        return total
    grid = _Grid(op, ranges, op.spatial, values, accumulated=total)
    return np.broadcast_to(grid.value(op.finish), total.shape)


class _Grid:
    """Evaluates expressions at all points of some axes' ranges at once."""

    def __init__(
        self,
        op: TileOp,
        ranges: Ranges,
        axes: Sequence[Axis],
        values: Arrays,
        accumulated: Value | None = None,
    ) -> None:
        self._op = op
        self._values = values
        self._accumulated = accumulated
        self._axes = {
            axis: np.arange(*ranges[axis]).reshape([-1 if a == axis else 1 for a in axes])
            for axis in axes
        }

    def value(self, expr: Expr) -> Value:
        match expr:
            case Constant(number, dtype):
                return np.asarray(number, dtype=array_type(dtype))
            case Argument(position, _):
                return self._read(self._op.reads[position])
            case Accumulated():
                assert self._accumulated is not None
                return self._accumulated
            case Coordinate(index, _):
                return self.index(index)
            case Inside(guards, _):
                return self._inside(guards)
            case Call("cast", (inner,), dtype):
                return self.value(inner).astype(array_type(dtype))
            case Call(function, arguments, dtype):
                called = FUNCTIONS[function].numpy(*(self.value(each) for each in arguments))
                return np.asarray(called).astype(array_type(dtype), copy=False)

    def _read(self, read: Read) -> Value:
        tensor = np.asarray(self._values[read.tensor])
        if not read.guards:
            return tensor[tuple(self.index(index) for index in read.index)]
        inside = self._inside(read.guards)
        places = (self.index(index) for index in read.index)
        safe = tuple(np.where(inside, place, 0) for place in places)
        if 0 in tensor.shape:
            return np.broadcast_to(np.asarray(read.otherwise, dtype=tensor.dtype), inside.shape)
        return np.where(inside, tensor[safe], np.asarray(read.otherwise, dtype=tensor.dtype))

    def _inside(self, guards: Sequence[Guard]) -> Value:
        result = np.asarray(True)
        for guard in guards:
            index = self.index(guard.index)
            result = result & (index >= guard.low) & (index < guard.high)
        return result

    def index(self, index: Index) -> Value:
        """Return the value of an index at all points."""
        result = np.asarray(index.constant)
        for atom, factor in index.terms:
            result = result + self._atom(atom) * factor
        return result

    def _atom(self, atom: Axis | Div | Mod | Fetch) -> Value:
        match atom:
            case Axis():
                return self._axes[atom]
            case Div(of, by):
                return self.index(of) // by
            case Mod(of, by):
                return self.index(of) % by
            case Fetch(tensor, inner, extent):
                found = np.asarray(self._values[tensor])[tuple(map(self.index, inner))]
                found = found.astype(np.int64)
                return np.where(found < 0, found + extent, found)


def _pieces(op: TileOp, box: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
    per_element = min(op.terms, POINTS_AT_ONCE)
    return cut(box, max(POINTS_AT_ONCE // max(per_element, 1), 1))


def _reduction_pieces(op: TileOp, outputs: int) -> Iterator[tuple[tuple[int, int], ...]]:
    box = tuple((0, axis.extent) for axis in op.reduced)
    return cut(box, max(POINTS_AT_ONCE // max(outputs, 1), 1))


def cut(box: Sequence[tuple[int, int]], most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield boxes of about `most` points that together are `box`; none where it is empty."""
    steps: list[int] = []
    room = most
    for low, high in reversed(box):
        steps.append(max(min(high - low, room), 1))
        room = max(room // max(high - low, 1), 1)
    ranges = (
        [(start, min(start + step, high)) for start in range(low, high, step)]
        for (low, high), step in zip(box, reversed(steps), strict=True)
    )
    return product(*ranges)
