"""Sums of products as matrix products, which is where nearly all arithmetic of a model is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnish.core.tensors import FLOATS
from burnish.meaning.numbers import Numbers, Value
from burnish.tile.expr import Argument, Call, Expr
from burnish.tile.graph import TileOp
from burnish.tile.index import Axis, axes_of

BYTES = ("i8", "u8")


@dataclass(frozen=True, slots=True)
class Factors:
    """The two reads whose product a nest sums up."""

    reads: tuple[int, int]
    dtype: str
    axes: tuple[frozenset[Axis], frozenset[Axis]]
    """On which axes of the nest each of them depends."""

    @property
    def larger(self) -> frozenset[Axis]:
        """Return the axes of the operand that takes more memory when it is spread out."""
        return max(self.axes, key=lambda axes: math.prod(axis.extent for axis in axes))


def factors_of(op: TileOp) -> Factors | None:
    """Return what a nest multiplies before it sums; None: it does something else."""
    if op.combine != "sum" or not isinstance(op.body, Call) or op.body.function != "multiply":
        return None
    positions = [_position(argument) for argument in op.body.arguments]
    if positions[0] is None or positions[1] is None:
        return None
    axes = [_axes(op, position) for position in positions if position is not None]
    return Factors((positions[0], positions[1]), op.body.dtype, (axes[0], axes[1]))


def contracted(
    left: Value,
    right: Value,
    extents: Sequence[int],
    spatial: int,
    dtype: str,
    numbers: Numbers,
) -> Value:
    """Return the sum of left · right over all axes from the number `spatial` on.

    Both have one dimension per axis, of extent one where they do not depend on it; so has the
    result over the first `spatial` axes.
    """
    shapes = [np.shape(numbers.array(side)) for side in (left, right)]
    used = [[size > 1 for size in shape] for shape in shapes]
    both, only = [], ([], [])  # type: tuple[list[int], tuple[list[int], list[int]]]
    summed: list[int] = []
    repeats = 1
    for axis, extent in enumerate(extents):
        sides = [side for side in (0, 1) if used[side][axis]]
        if axis >= spatial:
            # An axis that one side lacks is summed over the other side alone, in the product.
            summed += [axis] if sides else []
            repeats *= 1 if sides else extent
        elif len(sides) == 2:
            both.append(axis)
        elif sides:
            only[sides[0]].append(axis)
    first = _matrix(left, shapes[0], extents, (both, only[0], summed), numbers)
    second = _matrix(right, shapes[1], extents, (both, summed, only[1]), numbers)
    result = numbers.product(first, second, dtype)
    order = (*both, *only[0], *only[1])
    result = _unfolded(result, extents, order, spatial, numbers)
    return result if repeats == 1 else _times(result, repeats, dtype, numbers)


def _position(expr: Expr) -> int | None:
    """Return which read an operand is, perhaps cast to a type that holds all of its own."""
    while isinstance(expr, Call) and expr.function == "cast":
        inner = expr.arguments[0]
        if not _holds(expr.dtype, inner.dtype):
            return None
        expr = inner
    return expr.position if isinstance(expr, Argument) else None


def _holds(dtype: str, inner: str) -> bool:
    """Return whether a cast changes no number: of floats none does here, of bytes none to words."""
    return (dtype in FLOATS and inner in FLOATS) or (inner in BYTES and dtype in ("i32", "i64"))


def _axes(op: TileOp, position: int) -> frozenset[Axis]:
    indices = op.reads[position].indices
    return frozenset(axis for index in indices for axis in axes_of(index))


def _matrix(
    value: Value,
    shape: Sequence[int],
    extents: Sequence[int],
    groups: tuple[list[int], list[int], list[int]],
    numbers: Numbers,
) -> Value:
    """Return the operand as a stack of matrices: one dimension per group of axes."""
    order = [axis for group in groups for axis in group]
    rest = [axis for axis in range(len(shape)) if axis not in order]
    full = [extents[axis] if axis in order else shape[axis] for axis in range(len(shape))]
    sizes = [math.prod(extents[axis] for axis in group) for group in groups]
    return numbers.each(
        lambda array: np.broadcast_to(array, full).transpose(*order, *rest).reshape(sizes), value
    )


def _unfolded(
    value: Value, extents: Sequence[int], order: Sequence[int], spatial: int, numbers: Numbers
) -> Value:
    """Return the products with their axes apart, in the order of the nest."""
    apart = [extents[axis] for axis in order]
    back = [order.index(axis) for axis in sorted(order)]
    shape = [extents[axis] if axis in order else 1 for axis in range(spatial)]
    return numbers.each(lambda array: array.reshape(apart).transpose(back).reshape(shape), value)


def _times(value: Value, repeats: int, dtype: str, numbers: Numbers) -> Value:
    return numbers.call("multiply", (value, numbers.number(repeats, dtype)), dtype)
