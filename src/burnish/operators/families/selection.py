"""The greatest or least elements in order: TopK of short rows, by counting.

An element's place is the number of those that come before it; the work grows with the square of a
row's length, so it is for routers, heads of a few classes and rows of hundreds that are sorted.
Longer rows are better sorted by a library, and so are those of which a few are wanted, but where a
card compares thousands of pairs at once and whoever sorts is beyond a link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_input, then
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.functions import identity
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched
from burnish.tile.pointwise import positive_axis, wide
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

SHORT = 64
"""Elements of a row whose places look for their elements; in longer ones elements go to places."""
LONGEST = 256
LONGEST_SORTED = 1024
"""Elements of a row, and of one of which at least a quarter is wanted."""
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
    most = LONGEST_SORTED if 4 * count >= length else LONGEST
    if not (2 <= length <= most or few) or not 0 < count <= length:
        raise NotCoveredError(f"it orders the first {count} of {length} elements")
    if not node.attributes.get("sorted", 1):
        raise NotCoveredError("the order in which it gives them is open")
    ranks = _ranks(builder, node, axis)
    axes = axes_for((*kind.shape[:axis], count, *kind.shape[axis + 1 :]))
    places = node.output(1) or builder.fresh(f"{node.outputs[0]}.places")
    if length <= SHORT or builder.counts:
        each = Axis("r", length)
        read = Read(ranks, _at(axes, axis, at(each)))
        here = call("equal", Argument(0, "i32"), cast(Coordinate(at(axes[axis])), "i32"))
        body = call("where", here, Coordinate(at(each)), Constant(0, "i64"))
        builder.add(places, axes, [read], body, Reduction((each,), "max"))
    else:
        ordered = _sent(builder, ranks, axis)
        builder.view(places, ordered, tuple(map(at, axes)), axes)
    if (values := node.output(0)) is not None:
        place = fetched(places, map(at, axes), length)
        builder.view(values, source, _at(axes, axis, place), axes)


def _sent(builder: NestBuilder, ranks: str, axis: int) -> str:
    """Add the places of all elements in their order, each sent to its rank."""
    kind = builder.type(ranks)
    axes, each = axes_for(kind.shape), Axis("r", kind.shape[axis])
    place = fetched(ranks, _at(axes, axis, at(each)), each.extent)
    here = Inside((Guard(place - at(axes[axis]), 0, 1),))
    nothing = Constant(identity("max", "i64"), "i64")
    body = call("where", here, Coordinate(at(each)), nothing)
    name = builder.fresh(f"{ranks}.order")
    return builder.add(name, axes, [], body, Reduction((each,), "max"))


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
