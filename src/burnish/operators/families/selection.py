"""The greatest or least elements in order: TopK of short rows, by counting.

An element's place is the number of those that come before it; the work grows with the square of a
row's length, so it is for routers and heads of a few classes. Long rows are better sorted, but
where a card compares thousands of pairs at once and whoever sorts is beyond a link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_input, then
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched
from burnish.tile.pointwise import positive_axis, wide
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

LONGEST = 64
"""Elements of a row."""
MOST_PAIRS = 1 << 32
"""Of elements that are compared where that is cheap: about a millisecond of a large card."""


def top(builder: NestBuilder, node: Node) -> None:
    """Add the first elements of each row in order, and where they were: equals as they were."""
    source = required(node, 0)
    kind = builder.type(source)
    axis = positive_axis(int(node.attributes.get("axis", -1)), len(kind.shape))
    length = kind.shape[axis]
    (count,) = integers(builder, node, 1, "k") or (0,)
    few = builder.counts and math.prod(kind.shape) * length <= MOST_PAIRS
    if not (2 <= length <= LONGEST or few) or not 0 < count <= length:
        raise NotCoveredError(f"it orders the first {count} of {length} elements")
    if not node.attributes.get("sorted", 1):
        raise NotCoveredError("the order in which it gives them is open")
    ranks = _ranks(builder, node, axis)
    axes = axes_for((*kind.shape[:axis], count, *kind.shape[axis + 1 :]))
    each = Axis("r", length)
    read = Read(ranks, _at(axes, axis, at(each)))
    here = call("equal", Argument(0, "i32"), cast(Coordinate(at(axes[axis])), "i32"))
    body = call("where", here, Coordinate(at(each)), Constant(0, "i64"))
    places = node.output(1) or builder.fresh(f"{node.outputs[0]}.places")
    builder.add(places, axes, [read], body, Reduction((each,), "max"))
    if (values := node.output(0)) is not None:
        place = fetched(places, map(at, axes), length)
        builder.view(values, source, _at(axes, axis, place), axes)


def _ranks(builder: NestBuilder, node: Node, axis: int) -> str:
    """Add, for each element, how many of its row come before it."""
    source = node.inputs[0]
    kind = builder.type(source)
    axes, other = axes_for(kind.shape), Axis("r", kind.shape[axis])
    reads = [Read(source, tuple(map(at, axes))), Read(source, _at(axes, axis, at(other)))]
    own, rival = (wide(Argument(position, kind.dtype)) for position in (0, 1))
    earlier = Inside((Guard(at(axes[axis]) - at(other), 1, other.extent),))
    before, alike = _order(own, rival, largest=bool(node.attributes.get("largest", 1)))
    before = call("or", before, call("and", alike, earlier))
    body = call("where", before, Constant(1, "i32"), Constant(0, "i32"))
    name = builder.fresh(f"{node.name}.ranks")
    return builder.add(name, axes, reads, body, Reduction((other,), "sum"))


def _order(own: Expr, rival: Expr, *, largest: bool) -> tuple[Expr, Expr]:
    """Return whether the rival comes first, and whether neither does.

    What is no number counts as the largest of all, as PyTorch has it: each place is taken once.
    """
    alike = call("equal", own, rival)
    pair = (own, rival) if largest else (rival, own)
    if own.dtype[0] != "f":
        return call("less", *pair), alike
    low, high = pair
    none = [call("not", call("equal", each, each)) for each in pair]
    first = call("and", call("not", none[0]), call("not", call("less_equal", high, low)))
    return first, call("or", alike, call("and", *none))


def _at(axes: Sequence[Axis], place: int, index: Index) -> tuple[Index, ...]:
    return tuple(index if k == place else at(axis) for k, axis in enumerate(axes))


def _top(at: Operands) -> Sequence[Partial | None]:
    source, count = at.shape(0), at.elements(1) or (at.ints("k") or (None,))
    if source is None:
        return [None, None]
    axis = positive_axis(at.number("axis", -1), len(source))
    return [(*source[:axis], count[0], *source[axis + 1 :])] * 2


register({"TopK": Operator(_top, then("i64"), work=each_input(4), loops=top)})
