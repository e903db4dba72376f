"""Elements written to places that are computed: every place asks each update whether it is meant.

The work is that of comparing all places with all updates, which is for devices that do so at once.
Of several updates for one place the last is written, as ONNX Runtime does; sums have the order of
the updates, so that they are the same every time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.core.tensors import BITS
from burnish.operators.loops.parameters import required
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, call, cast
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis, Index, at, fetched, number
from burnish.tile.pointwise import positive_axis, wide
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction, axes_for

MOST_ASKED = 1 << 33
"""Pairs of a place and an update: a few milliseconds of a large card."""

_HOW: dict[str, tuple[str, Combine]] = {
    "add": ("add", "sum"), "mul": ("multiply", "prod"), "max": ("maximum", "max"),
    "min": ("minimum", "min"),
}  # fmt: skip
"""What combines two, and all of a row, by ONNX's name for it."""


def combined(how: str, old: Expr, new: Expr) -> Expr:
    """Return two elements combined as an attribute `reduction` says, in the type of the first."""
    function, _ = _HOW[how]
    return cast(call(function, wide(old), wide(new)), old.dtype)


def elements(builder: NestBuilder, node: Node) -> None:
    """Add the data with single elements replaced, or combined: ScatterElements."""
    data, places, updates = (required(node, position) for position in range(3))
    shape, sizes = builder.type(data).shape, builder.type(places).shape
    axis = positive_axis(int(node.attributes.get("axis", 0)), len(shape))
    if any(size != shape[d] for d, size in enumerate(sizes) if d != axis):
        raise NotCoveredError("it writes to a part of its rows, to places that are not constants")
    axes, each = axes_for(shape), Axis("r", sizes[axis])
    _require_few(math.prod(shape), each.extent)

    def along(index: Index) -> tuple[Index, ...]:
        return tuple(index if d == axis else at(other) for d, other in enumerate(axes))

    meant = fetched(places, along(at(each)), shape[axis])
    hit = call("equal", Coordinate(meant), Coordinate(at(axes[axis])))
    if (how := _how(node)) != "none":
        total = _total(builder, node, axes, Read(updates, along(at(each))), (each, hit))
        _finish(builder, node, axes, Read(total, tuple(map(at, axes))), how)
        return
    last = _last(builder, node, axes, (each, hit))
    source = fetched(last, map(at, axes), each.extent)
    _replaced(builder, node, (axes, axes), last, Read(updates, along(source)))


def slices(builder: NestBuilder, node: Node) -> None:
    """Add the data with slices replaced, or combined: ScatterND."""
    data, given, updates = (required(node, position) for position in range(3))
    shape, (*outer, depth) = builder.type(data).shape, builder.type(given).shape
    count = math.prod(outer)
    axes, each = axes_for(shape), Axis("r", count)
    front, rest = axes[:depth], tuple(map(at, axes[depth:]))
    _require_few(math.prod(shape), count)
    if len(outer) != 1:
        given = builder.reshape(builder.fresh("places"), given, (count, depth))
        flat = (count, *shape[depth:])
        updates = builder.reshape(builder.fresh("updates"), updates, flat)
    hit: Expr = Constant(True, "bool")
    for d, axis in enumerate(front):
        meant = fetched(given, (at(each), number(d)), axis.extent)
        here = call("equal", Coordinate(meant), Coordinate(at(axis)))
        hit = here if d == 0 else call("and", hit, here)
    if (how := _how(node)) != "none":
        total = _total(builder, node, axes, Read(updates, (at(each), *rest)), (each, hit))
        _finish(builder, node, axes, Read(total, tuple(map(at, axes))), how)
        return
    last = _last(builder, node, front, (each, hit))
    source = fetched(last, map(at, front), count)
    _replaced(builder, node, (axes, front), last, Read(updates, (source, *rest)))


def _how(node: Node) -> str:
    return str(node.attributes.get("reduction", "none"))


def _require_few(places: int, updates: int) -> None:
    if not places or not updates or places * updates > MOST_ASKED:
        raise NotCoveredError(f"{updates:,} updates could be for each of {places:,} places")


def _total(
    builder: NestBuilder, node: Node, axes: Sequence[Axis], update: Read, asked: tuple[Axis, Expr]
) -> str:
    """Add what all updates for each place come to."""
    each, hit = asked
    dtype = builder.type(update.tensor).dtype
    if dtype == "bool":
        raise NotCoveredError("it combines truth values")
    function, combine = _HOW[_how(node)]
    new = wide(Argument(0, dtype))
    body = call("where", hit, new, Constant(_nothing(function, new.dtype), new.dtype))
    name = builder.fresh(f"{node.outputs[0]}.total")
    return builder.add(name, axes, [update], body, Reduction((each,), combine))


def _nothing(function: str, dtype: str) -> float:
    """Return the number that changes nothing."""
    if function in {"add", "multiply"}:
        return int(function == "multiply") if dtype[0] in "iu" else float(function == "multiply")
    if dtype[0] not in "iu":
        return -math.inf if function == "maximum" else math.inf
    bits = BITS[dtype] - (dtype[0] == "i")
    lowest = 0 if dtype[0] == "u" else -(2**bits)
    return lowest if function == "maximum" else 2**bits - 1


def _last(builder: NestBuilder, node: Node, axes: Sequence[Axis], asked: tuple[Axis, Expr]) -> str:
    """Add which update is the last for each place; -1: none is."""
    each, hit = asked
    body = call("where", hit, Coordinate(at(each)), Constant(-1, "i64"))
    name = builder.fresh(f"{node.outputs[0]}.last")
    return builder.add(name, axes, [], body, Reduction((each,), "max"))


def _finish(builder: NestBuilder, node: Node, axes: Sequence[Axis], total: Read, how: str) -> None:
    """Add the data combined with what is for each place."""
    data = required(node, 0)
    old = Argument(0, builder.type(data).dtype)
    new = Argument(1, builder.type(total.tensor).dtype)
    reads = [Read(data, tuple(map(at, axes))), total]
    builder.add(node.outputs[0], axes, reads, combined(how, old, new))


def _replaced(
    builder: NestBuilder,
    node: Node,
    axes: tuple[Sequence[Axis], Sequence[Axis]],
    last: str,
    update: Read,
) -> None:
    """Add the data, or the update for a place; `axes`: of the data, and of what has places."""
    whole, front = axes
    data = required(node, 0)
    dtype = builder.type(data).dtype
    reads = [Read(data, tuple(map(at, whole))), update, Read(last, tuple(map(at, front)))]
    written = call("less", Constant(-1, "i64"), Argument(2, "i64"))
    body = call("where", written, Argument(1, dtype), Argument(0, dtype))
    builder.add(node.outputs[0], whole, reads, body)
