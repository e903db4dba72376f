"""The greatest or least elements in order: TopK of short rows, by counting.

An element's place is the number of those that come before it; the work grows with the square of a
row's length, so it is for routers, heads of a few classes and rows of hundreds that are sorted.
Longer rows are better sorted by a library, and so are those of which a few are wanted, but where a
card compares thousands of pairs at once and whoever sorts is beyond a link: there long ones are
ordered in parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.operators.loops.ordering import Cut, candidates, cut, earlier, with_index
from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_input, then
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.functions import identity
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at, fetched
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
    rows = math.prod(kind.shape) // max(length, 1)
    parts = cut(length, count, rows) if builder.counts and count > 0 else None
    pairs = rows * (length * length if parts is None else parts.pairs)
    most = LONGEST_SORTED if 4 * count >= length else LONGEST
    few = builder.counts and pairs <= MOST_PAIRS
    if not (2 <= length <= most or few) or not 0 < count <= length:
        raise NotCoveredError(f"it orders the first {count} of {length} elements")
    if not node.attributes.get("sorted", 1):
        raise NotCoveredError("the order in which it gives them is open")
    axes = axes_for((*kind.shape[:axis], count, *kind.shape[axis + 1 :]))
    places = node.output(1) or builder.fresh(f"{node.outputs[0]}.places")
    _add_places(builder, node, (axis, axes, places), parts)
    if (values := node.output(0)) is not None:
        place = fetched(places, map(at, axes), length)
        builder.view(values, source, with_index(axes, axis, place), axes)


def _add_places(
    builder: NestBuilder, node: Node, where: tuple[int, tuple[Axis, ...], str], parts: Cut | None
) -> None:
    """Add where in its row each of the first is."""
    axis, axes, places = where
    source = node.inputs[0]
    if parts is not None:
        largest = bool(node.attributes.get("largest", 1))
        ranks, positions = candidates(builder, source, axis, parts, largest=largest)
        each = Axis("r", parts.candidates)
        reads = [Read(one, with_index(axes, axis, at(each))) for one in (ranks, positions)]
        position: Expr = Argument(1, "i64")
    else:
        ranks = _ranks(builder, node, axis)
        length = builder.type(source).shape[axis]
        if length > SHORT and not builder.counts:
            builder.view(places, _sent(builder, ranks, axis), tuple(map(at, axes)), axes)
            return
        each = Axis("r", length)
        reads = [Read(ranks, with_index(axes, axis, at(each)))]
        position = Coordinate(at(each))
    here = call("equal", Argument(0, "i32"), cast(Coordinate(at(axes[axis])), "i32"))
    body = call("where", here, position, Constant(0, "i64"))
    builder.add(places, axes, reads, body, Reduction((each,), "max"))


def _sent(builder: NestBuilder, ranks: str, axis: int) -> str:
    """Add the places of all elements in their order, each sent to its rank."""
    kind = builder.type(ranks)
    axes, each = axes_for(kind.shape), Axis("r", kind.shape[axis])
    place = fetched(ranks, with_index(axes, axis, at(each)), each.extent)
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
    reads = [Read(source, tuple(map(at, axes))), Read(source, with_index(axes, axis, at(other)))]
    own, rival = (wide(Argument(position, kind.dtype)) for position in (0, 1))
    largest = bool(node.attributes.get("largest", 1))
    behind = Inside((Guard(at(axes[axis]) - at(other), 1, other.extent),))
    before = earlier(own, rival, largest=largest, behind=behind)
    body = call("where", before, Constant(1, "i32"), Constant(0, "i32"))
    name = builder.fresh(f"{node.name}.ranks")
    return builder.add(name, axes, reads, body, Reduction((other,), "sum"))


def _top(at: Operands) -> Sequence[Partial | None]:
    source, count = at.shape(0), at.elements(1) or (at.ints("k") or (None,))
    if source is None:
        return [None, None]
    axis = positive_axis(at.number("axis", -1), len(source))
    return [(*source[:axis], count[0], *source[axis + 1 :])] * 2


register({"TopK": Operator(_top, then("i64"), work=each_input(4), loops=top)})
