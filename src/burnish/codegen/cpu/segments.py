"""A nest that asks where it is, cut into parts that need not ask: concatenations above all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from burnish.tile.expr import (
    Argument,
    Call,
    Constant,
    Expr,
    Guard,
    Inside,
    renumbered,
    transform,
)
from burnish.tile.graph import TileOp, arguments_of
from burnish.tile.index import Axis, coefficient

MOST = 16
"""Parts of one nest: each is code of its own."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A nest over `low` … `high` - 1 of one axis."""

    op: TileOp
    axis: Axis
    low: int
    high: int


def segments(op: TileOp) -> tuple[Segment, ...]:
    """Return the parts of an element-wise nest with several operands; none where it has no cuts."""
    if op.combine is not None or len(op.reads) < 2:
        return ()
    guards = op.guards
    best: tuple[Axis, list[int]] | None = None
    for axis in op.spatial:
        cuts = sorted({cut for guard in guards for cut in _cuts(guard, axis)})
        if cuts and (best is None or len(cuts) > len(best[1])):
            best = (axis, cuts)
    if best is None or len(best[1]) + 1 > MOST:
        return ()
    axis, cuts = best
    ends = [0, *cuts, axis.extent]
    return tuple(
        Segment(_within(op, axis, low, high), axis, low, high) for low, high in pairwise(ends)
    )


def _cuts(guard: Guard, axis: Axis) -> Iterator[int]:
    """Yield the places on the axis where a guard begins or ceases to hold."""
    if len(guard.index.terms) == 1 and coefficient(guard.index, axis) == 1:
        for end in (guard.low, guard.high):
            place = end - guard.index.constant
            if 0 < place < axis.extent:
                yield place


def _within(op: TileOp, axis: Axis, low: int, high: int) -> TileOp:
    """Return the nest with what is known between `low` and `high`."""

    def known(guard: Guard) -> bool | None:
        if len(guard.index.terms) != 1 or coefficient(guard.index, axis) != 1:
            return None
        first, last = low + guard.index.constant, high - 1 + guard.index.constant
        if guard.low <= first and last < guard.high:
            return True
        return False if last < guard.low or first >= guard.high else None

    def leaf(part: Expr) -> Expr:
        match part:
            case Argument(position, dtype):
                read = op.reads[position]
                outside = any(known(guard) is False for guard in read.guards)
                return Constant(read.otherwise, dtype) if outside else part
            case Inside(guards):
                if any(known(guard) is False for guard in guards):
                    return Constant(False, "bool")
                left = tuple(guard for guard in guards if known(guard) is None)
                return Inside(left) if left else Constant(True, "bool")
        return part

    body = folded(transform(op.body, leaf))
    used = sorted(arguments_of(body))
    numbers = {old: new for new, old in enumerate(used)}
    reads = tuple(
        replace(op.reads[old], guards=tuple(g for g in op.reads[old].guards if known(g) is None))
        for old in used
    )
    return replace(op, reads=reads, body=renumbered(body, numbers))


def folded(expr: Expr) -> Expr:
    """Return the expression without choices whose condition is known."""
    if not isinstance(expr, Call):
        return expr
    arguments = tuple(folded(each) for each in expr.arguments)
    if expr.function == "where" and isinstance(arguments[0], Constant):
        return arguments[1] if arguments[0].value else arguments[2]
    return Call(expr.function, arguments, expr.dtype)
