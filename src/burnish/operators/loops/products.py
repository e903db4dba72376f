"""Nests that reduce: axes of extent one are dropped, and 16-bit floats are computed in f32."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from burnish.tile.expr import Accumulated, Argument, Expr, call, cast
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis
from burnish.tile.pointwise import wide
from burnish.tile.semantics import NestBuilder, Reduction

Finish = Callable[[Expr], Expr]
"""What follows a reduction, as a function of its value."""


def widened(builder: NestBuilder, read: Read, position: int) -> Expr:
    """Return what a read gives, in the type that sums are formed in."""
    return wide(Argument(position, builder.type(read.tensor).dtype))


def contract(
    builder: NestBuilder,
    output: str,
    spatial: Sequence[Axis],
    reads: Sequence[Read],
    reduced: Sequence[Axis],
    finish: Finish = lambda total: total,
) -> str:
    """Add the nest that sums the products of the first two reads; `finish` may use the others."""
    dtype = builder.type(reads[0].tensor).dtype
    body = call("multiply", widened(builder, reads[0], 0), widened(builder, reads[1], 1))
    over = Over("sum", reduced, lambda total: cast(finish(total), dtype))
    return reduce_nest(builder, output, spatial, reads, body, over)


class Over:
    """How a nest combines its body, over which axes, and what follows."""

    def __init__(
        self, combine: Combine, axes: Sequence[Axis], finish: Finish = lambda total: total
    ) -> None:
        self.combine: Combine = combine
        self.axes = tuple(axis for axis in axes if axis.extent != 1)
        self.finish = finish


def reduce_nest(
    builder: NestBuilder,
    output: str,
    spatial: Sequence[Axis],
    reads: Sequence[Read],
    body: Expr,
    over: Over,
) -> str:
    """Add a nest that reduces; without an axis to reduce, what follows is the body itself."""
    if not over.axes:
        return builder.add(output, spatial, reads, over.finish(body))
    total = Accumulated(body.dtype)
    finish = over.finish(total)
    reduction = Reduction(over.axes, over.combine, None if finish == total else finish)
    return builder.add(output, spatial, reads, body, reduction)
