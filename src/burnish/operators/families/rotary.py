"""Rotary positions: pairs of elements turned by an angle that depends on the position."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.operators.families.conversion import copy_as
from burnish.operators.loops.heads import joined_heads, split_heads
from burnish.operators.record import Operator, register
from burnish.operators.rules import each_output, first
from burnish.tile.expr import Argument, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched, floor_divide, number, remainder
from burnish.tile.pointwise import wide, wide_type
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


@dataclass(frozen=True, slots=True)
class _AngleTables:
    """The cosines and sines, and the positions at which they are read, if they are tables."""

    cosines: str
    sines: str
    positions: str | None


def rotary_embedding(builder: NestBuilder, node: Node) -> None:
    """Add the turned pairs; without positions there is a row of angles for each token."""
    tables = _AngleTables(node.inputs[1], node.inputs[2], node.input(3))
    _add(builder, node, tables)


def contrib_rotary_embedding(builder: NestBuilder, node: Node) -> None:
    """Add the turned pairs, at given positions, or at those that follow one."""
    if node.attributes.get("is_packed_batching", 0):
        raise NotCoveredError("samples that are packed one after the other")
    if float(node.attributes.get("scale", 1.0)) != 1.0:
        raise NotCoveredError("a scale of the result")
    _add(builder, node, _AngleTables(node.inputs[2], node.inputs[3], node.inputs[1]))


def _add(builder: NestBuilder, node: Node, tables: _AngleTables) -> None:
    joined = len(builder.type(node.inputs[0]).shape) == 3
    heads = node.attributes.get("num_heads", 0) or _heads(builder, node, tables)
    source = split_heads(builder, node.inputs[0], heads, f"{node.outputs[0]}.heads")
    turned = _turned(builder, node, source, tables)
    if joined:
        joined_heads(builder, node.outputs[0], turned)
    else:
        copy_as(builder, node.outputs[0], turned, builder.type(turned).dtype)


def _heads(builder: NestBuilder, node: Node, tables: _AngleTables) -> int:
    """Return how many heads there are if the angles turn whole heads."""
    return builder.type(node.inputs[0]).shape[-1] // (2 * builder.type(tables.cosines).shape[-1])


def _turned(builder: NestBuilder, node: Node, source: str, tables: _AngleTables) -> str:
    kind = builder.type(source)
    axes = axes_for(kind.shape)
    size = axes[3].extent
    turning = node.attributes.get("rotary_embedding_dim", 0) or size
    half = turning // 2
    if turning % 2 or turning > size or builder.type(tables.cosines).shape[-1] != half:
        raise NotCoveredError(f"angles for {turning} of {size} elements")
    place = at(axes[3])
    if node.attributes.get("interleaved", 0):
        first, angle = Guard(remainder(place, 2), 0, 1), remainder(floor_divide(place, 2), half)
        partner = remainder(place - remainder(place, 2) * 2 + 1, turning)
    else:
        first, angle = Guard(remainder(place, turning), 0, half), remainder(place, half)
        partner = remainder(place + half, turning)
    outer = tuple(at(axis) for axis in axes[:3])
    reads = [
        Read(source, (*outer, place)),
        Read(source, (*outer, partner)),
        _angle_read(builder, tables.cosines, tables.positions, axes, angle),
        _angle_read(builder, tables.sines, tables.positions, axes, angle),
    ]
    body = _rotation(builder, reads, first)
    if turning < size:
        body = call(
            "where", Inside((Guard(place, 0, turning),)), body, wide(_argument(builder, reads, 0))
        )
    return builder.add(
        builder.fresh(f"{node.outputs[0]}.turned"), axes, reads, cast(body, kind.dtype)
    )


def _rotation(builder: NestBuilder, reads: list[Read], first: Guard) -> Expr:
    """Return x · cos ∓ partner · sin: minus in the first element of a pair."""
    kind = wide_type(builder.type(reads[0].tensor).dtype)
    x, other, cosine, sine = (
        cast(wide(_argument(builder, reads, place)), kind) for place in range(4)
    )
    straight, across = call("multiply", x, cosine), call("multiply", other, sine)
    return call(
        "where",
        Inside((first,)),
        call("subtract", straight, across),
        call("add", straight, across),
    )


def _argument(builder: NestBuilder, reads: list[Read], place: int) -> Argument:
    return Argument(place, builder.type(reads[place].tensor).dtype)


def _angle_read(
    builder: NestBuilder, table: str, positions: str | None, axes: tuple[Axis, ...], angle: Index
) -> Read:
    shape, batch, token = builder.type(table).shape, at(axes[0]), at(axes[2])
    if positions is None:
        if len(shape) != 3:
            raise NotCoveredError(f"angles of the shape {shape} without positions")
        return Read(table, (batch if shape[0] != 1 else Index(), token, angle))
    if len(shape) != 2:
        raise NotCoveredError(f"angles of the shape {shape} with positions")
    given = builder.type(positions).shape
    if given == (1,):
        first = shape[0] - axes[2].extent + 1
        if first < 1:
            raise NotCoveredError(f"angles of {shape[0]} places for {axes[2].extent} tokens")
        begin = fetched(positions, (number(0),), first, forward=True)
        return Read(table, (begin + token, angle))
    if len(given) != 2:
        raise NotCoveredError(f"positions of the shape {given}")
    row = batch if given[0] != 1 else Index()
    return Read(table, (fetched(positions, (row, token), shape[0], forward=True), angle))


register(
    {
        "RotaryEmbedding": Operator(shape=first, work=each_output(3), loops=rotary_embedding),
        "com.microsoft.RotaryEmbedding": Operator(
            shape=first, work=each_output(3), loops=contrib_rotary_embedding
        ),
    }
)
