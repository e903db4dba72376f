"""Evaluate one loop nest on whole arrays; `tile.reference` is its slow and obvious twin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.meaning.contraction import Factors, contracted, factors_of
from burnish.meaning.numbers import Numbers, Value
from burnish.meaning.places import Ranges, box_of, indices, is_even, view_of
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Coordinate, Expr, Guard, Inside
from burnish.tile.functions import identity
from burnish.tile.graph import Read, TileOp
from burnish.tile.index import Axis, Index, at, flatten, unflatten
from burnish.tile.reference import POINTS_AT_ONCE, cut

Values = Mapping[str, Value]

_EXTREMES = ("max", "min")


def evaluate_nest(op: TileOp, values: Values, numbers: Numbers) -> Value:
    """Return the output of a nest, whose inputs are in `values`."""
    with np.errstate(all="ignore"):
        moved = _moved(op, values, numbers)
        if moved is not None:
            return moved
        if 0 in op.shape:
            return numbers.held(np.zeros(op.shape), op.dtype)
        pieces = list(_pieces(op))
        if len(pieces) == 1:
            return _whole(_piece(op, pieces[0], values, numbers), op.shape, numbers)
        parts = [_piece(op, piece, values, numbers) for piece in pieces]
        return _joined(op, pieces, parts, numbers)


def is_move(op: TileOp) -> bool:
    """Return whether a nest only chooses and arranges elements: the greatest of several is one."""
    if op.combine in _EXTREMES:
        finish = op.finish and _inside_of_cast(op.finish)
        is_kept = finish is None or isinstance(finish, Accumulated)
        chosen = _inside_of_cast(op.body)
        return is_kept and isinstance(chosen, Argument) and chosen.dtype == op.dtype
    return op.combine is None and all(
        not isinstance(part, Call) or part.function == "where" for part in _calls(op.body)
    )


def _inside_of_cast(expr: Expr) -> Expr:
    """Return what is cast, or the expression: 16 bits are compared as 32, and stored again."""
    match expr:
        case Call("cast", (inside,)):
            return inside
    return expr


def _calls(expr: Expr) -> Iterator[Expr]:
    yield expr
    if isinstance(expr, Call):
        for argument in expr.arguments:
            yield from _calls(argument)


def _moved(op: TileOp, values: Values, numbers: Numbers) -> Value | None:
    """Return the output where it is the same elements in row-major order; None: it is not."""
    if op.combine is not None or not isinstance(op.body, Argument) or len(op.reads) != 1:
        return None
    read = op.reads[0]
    shape = np.shape(numbers.array(values[read.tensor]))
    if read.guards or math.prod(shape) != math.prod(op.shape):
        return None
    position = flatten([at(axis) for axis in op.spatial], op.shape)
    if read.index != unflatten(position, shape):
        return None
    return numbers.each(lambda array: array.reshape(op.shape), values[read.tensor])


def _whole(value: Value, shape: Sequence[int], numbers: Numbers) -> Value:
    return numbers.each(lambda array: np.broadcast_to(array, shape), value)


def _joined(
    op: TileOp,
    pieces: Sequence[Sequence[tuple[int, int]]],
    parts: Sequence[Value],
    numbers: Numbers,
) -> Value:
    target = numbers.each(lambda array: np.empty(op.shape, array.dtype), parts[0])
    for piece, part in zip(pieces, parts, strict=True):
        where = tuple(slice(low, high) for low, high in piece)
        target = numbers.merged(target, where, part)
    return target


def _piece(op: TileOp, piece: Sequence[tuple[int, int]], values: Values, numbers: Numbers) -> Value:
    ranges = dict(zip(op.spatial, piece, strict=True))
    if op.combine is None:
        return _ArrayGrid(op, ranges, op.spatial, values, numbers).value(op.body)
    total = _combined(op, ranges, values, numbers)
    if op.finish is None:
        return total
    grid = _ArrayGrid(op, ranges, op.spatial, values, numbers, accumulated=total)
    return grid.value(op.finish)


def _combined(op: TileOp, ranges: Ranges, values: Values, numbers: Numbers) -> Value:
    """Return the reduction alone."""
    found = factors_of(op)
    shape = [high - low for low, high in ranges.values()]
    if found is not None:
        return _summed_products(op, found, ranges, values, numbers)
    assert op.combine is not None
    total: Value | None = None
    dtype = op.body.dtype
    for part in cut([(0, axis.extent) for axis in op.reduced], _room(shape)):
        inner = dict(zip(op.reduced, part, strict=True))
        grid = _ArrayGrid(op, {**ranges, **inner}, (*op.spatial, *op.reduced), values, numbers)
        extents = [high - low for low, high in part]
        terms = grid.value(op.body)
        if not is_move(op):
            terms = numbers.rounded(terms, dtype)
        body = _whole(terms, (*shape, *extents), numbers)
        over = tuple(range(len(shape), len(shape) + len(extents)))
        reduced = numbers.reduced(op.combine, body, over, dtype)
        combine = _COMBINE[op.combine]
        total = reduced if total is None else numbers.call(combine, (total, reduced), dtype)
    if total is None:
        return numbers.number(identity(op.combine, dtype), dtype)
    return total


def _summed_products(
    op: TileOp, found: Factors, ranges: Ranges, values: Values, numbers: Numbers
) -> Value:
    inner: Ranges = {axis: (0, axis.extent) for axis in op.reduced}
    grid = _ArrayGrid(op, {**ranges, **inner}, (*op.spatial, *op.reduced), values, numbers)
    left, right = (grid.value(Argument(at_read, found.dtype)) for at_read in found.reads)
    extents = [high - low for low, high in (*ranges.values(), *inner.values())]
    rounded = numbers.rounded(left, found.dtype)
    return contracted(rounded, right, extents, len(op.spatial), found.dtype, numbers)


class _ArrayGrid:
    """Evaluates expressions at all points of some axes' ranges at once.

    A value has one dimension per axis, of extent one where it does not depend on the axis.
    """

    def __init__(
        self,
        op: TileOp,
        ranges: Ranges,
        axes: Sequence[Axis],
        values: Values,
        numbers: Numbers,
        accumulated: Value | None = None,
    ) -> None:
        self._op, self._values, self._numbers = op, values, numbers
        self._ranges, self._axes = ranges, tuple(axes)
        self._accumulated = accumulated

    def value(self, expr: Expr) -> Value:
        """Return the value of an expression."""
        match expr:
            case Constant(number, dtype):
                return self._single(number, dtype)
            case Argument(position, _):
                return self._read(self._op.reads[position])
            case Accumulated():
                return self._accumulated
            case Coordinate(index, dtype):
                return self._numbers.held(self._index(index), dtype)
            case Inside(guards, _):
                return self._inside(guards)
            case Call("cast", (inner,), dtype):
                return self._numbers.cast(self.value(inner), inner.dtype, dtype)
            case Call("where", (Inside(guards), chosen, other), dtype):
                return self._chosen(guards, chosen, other, dtype)
            case Call(function, arguments, dtype):
                inner_values = [self.value(each) for each in arguments]
                return self._numbers.call(function, inner_values, dtype)

    def _single(self, number: float, dtype: str) -> Value:
        """Return one number, with a dimension for each axis."""
        found = self._numbers.number(number, dtype)
        return self._numbers.each(lambda array: array.reshape((1,) * len(self._axes)), found)

    def _chosen(self, guards: Sequence[Guard], chosen: Expr, other: Expr, dtype: str) -> Value:
        """Return one value inside of a box, and another outside of it."""
        box = box_of(guards, self._ranges)
        if box is None or self._accumulated is not None:
            arguments = (self._inside(guards), self.value(chosen), self.value(other))
            return self._numbers.call("where", arguments, dtype)
        rest = self.value(other)
        return self._with_box(rest, box, lambda inner: inner.value(chosen))

    def _with_box(self, rest: Value, box: Ranges, value: Callable[[_ArrayGrid], Value]) -> Value:
        """Return `rest` on the whole grid, but in the box what `value` of the box's grid is."""
        if any(low >= high for low, high in box.values()):
            return rest
        part = value(self._narrowed(box))
        depends = [
            max(np.shape(self._numbers.array(each))[place] for each in (rest, part)) > 1
            or box[axis] != self._ranges[axis]
            for place, axis in enumerate(self._axes)
        ]
        shape = [
            high - low if used else 1
            for used, (low, high) in zip(depends, self._extents(), strict=True)
        ]
        target = self._numbers.each(lambda array: np.broadcast_to(array, shape).copy(), rest)
        where = tuple(
            slice(box[axis][0] - self._ranges[axis][0], box[axis][1] - self._ranges[axis][0])
            if used else slice(None)
            for axis, used in zip(self._axes, depends, strict=True)
        )  # fmt: skip
        return self._numbers.merged(target, where, part)

    def _narrowed(self, box: Ranges) -> _ArrayGrid:
        return _ArrayGrid(self._op, box, self._axes, self._values, self._numbers, self._accumulated)

    def _extents(self) -> list[tuple[int, int]]:
        return [self._ranges[axis] for axis in self._axes]

    def _read(self, read: Read) -> Value:
        if not read.guards:
            return self._element(read)
        box = box_of(read.guards, self._ranges)
        dtype = _dtype_of(self._op, read)
        rest = self._single(read.otherwise, dtype)
        plain = Read(read.tensor, read.index)
        if box is not None:
            return self._with_box(rest, box, lambda inner: inner._element(plain))
        inside = self._inside(read.guards)
        found = self._element(plain, safe=inside)
        return self._numbers.call("where", (inside, found, rest), dtype)

    def _element(self, read: Read, safe: Array | None = None) -> Value:
        return self._numbers.opened(self._stored(read, safe))

    def _stored(self, read: Read, safe: Array | None) -> Value:
        value = self._values[read.tensor]
        shape = np.shape(self._numbers.array(value))
        if 0 in shape:
            return self._single(0, _dtype_of(self._op, read))
        if safe is None and is_even(read.index, shape, self._ranges):
            return self._numbers.each(
                lambda array: view_of(array, read.index, self._axes, self._ranges), value
            )
        places = [self._index(index) for index in read.index]
        if safe is not None:
            places = [np.where(safe, place, 0) for place in places]
        if not places:
            return self._numbers.each(lambda array: array.reshape((1,) * len(self._axes)), value)
        return self._numbers.each(lambda array: array[tuple(places)], value)

    def _inside(self, guards: Sequence[Guard]) -> NDArray[np.bool_]:
        result = np.ones((1,) * len(self._axes), np.bool_)
        for guard in guards:
            index = self._index(guard.index)
            result = result & (index >= guard.low) & (index < guard.high)
        return result

    def _index(self, index: Index) -> NDArray[np.int64]:
        return indices(index, self._axes, self._ranges, self._integers)

    def _integers(self, tensor: str) -> Array:
        return self._numbers.array(self._values[tensor])


def _dtype_of(op: TileOp, read: Read) -> str:
    """Return the type of what a read gives, from the expressions that use it."""
    position = op.reads.index(read) if read in op.reads else -1
    for expr in (op.body, op.finish):
        for part in _calls(expr) if expr is not None else ():
            if isinstance(part, Argument) and part.position == position:
                return part.dtype
    return "f32" if op.dtype in FLOATS else op.dtype


def _pieces(op: TileOp) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield parts of the output; for products so that the larger operand is spread out once."""
    box = tuple((0, axis.extent) for axis in op.spatial)
    per_element = min(op.terms, POINTS_AT_ONCE)
    found = factors_of(op)
    if found is None:
        yield from cut(box, max(POINTS_AT_ONCE // max(per_element, 1), 1))
        return
    large = [axis in found.larger for axis in op.spatial]
    inner = math.prod(axis.extent for axis in op.reduced if axis in found.larger)
    outer = [side for side, used in zip(box, large, strict=True) if used]
    for piece in cut(outer, max(POINTS_AT_ONCE // max(inner, 1), 1)):
        parts = iter(piece)
        yield tuple(next(parts) if used else side for side, used in zip(box, large, strict=True))


def _room(shape: Sequence[int]) -> int:
    return max(POINTS_AT_ONCE // max(math.prod(shape), 1), 1)


_COMBINE = {"sum": "add", "max": "maximum", "min": "minimum", "prod": "multiply"}
