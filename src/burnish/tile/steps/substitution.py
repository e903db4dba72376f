"""Putting a nest's expression where its output is read, and indices in place of axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from burnish.tile.expr import Argument, Call, Constant, Coordinate, Expr, Guard, Inside, transform
from burnish.tile.graph import Read, TileOp
from burnish.tile.index import (
    Axis,
    Div,
    Fetch,
    Index,
    Mod,
    axes_of,
    fetched,
    floor_divide,
    number,
    remainder,
    substitute,
)
from burnish.tile.sent import sent

Values = Mapping[Axis, Index]
OfIndex = Callable[[Index], Index]


def is_elementwise(op: TileOp) -> bool:
    """Return whether the nest reduces nothing."""
    return op.combine is None


def is_move(op: TileOp) -> bool:
    """Return whether the nest only moves elements, some of which a guard may leave out."""
    return op.combine is None and isinstance(op.body, Argument)


def is_contraction(op: TileOp) -> bool:
    """Return whether the nest sums products of two tensors that both vary along the sum."""
    match op:
        case TileOp(combine="sum", body=Call("multiply", (first, second), _)):
            reads = [_plain_read(op, each) for each in (first, second)]
            used = [_axes(read) & set(op.reduced) for read in reads if read is not None]
            return len(used) == 2 and all(used) and reads[0] != reads[1]
    return False


def varies_with_all(read: Read, op: TileOp) -> bool:
    """Return whether the read uses every loop of the nest, so that no element is read again.

    Along axes on which terms are sent to their places there is no loop.
    """
    looping = {axis for axis in (*op.spatial, *op.reduced) if axis.extent > 1}
    if not looping <= _axes(read) and (found := sent(op)) is not None:
        looping = {axis for axis in found.axes if axis.extent > 1}
    return looping <= _axes(read)


def reuse(op: TileOp, position: int) -> int:
    """Return how many outputs each element of a read goes into at the same place of the sum."""
    used = _axes(op.reads[position])
    return math.prod(axis.extent for axis in op.spatial if axis not in used)


def op_fetches(op: TileOp) -> frozenset[str]:
    """Return the tensors that hold indices which the nest fetches."""
    return frozenset(fetch.tensor for fetch in op.fetches)


def index_mapped(index: Index, of_fetch: Callable[[Fetch], Index]) -> Index:
    """Return the index with each fetched index replaced, inner ones first."""
    result = number(index.constant)
    for atom, factor in index.terms:
        match atom:
            case Div(of, by):
                part = floor_divide(index_mapped(of, of_fetch), by)
            case Mod(of, by):
                part = remainder(index_mapped(of, of_fetch), by)
            case Fetch(tensor, inner, extent):
                part = of_fetch(
                    Fetch(tensor, tuple(index_mapped(each, of_fetch) for each in inner), extent)
                )
            case _:
                part = Index(((atom, 1),))
        result = result + part * factor
    return result


def kept_fetch(fetch: Fetch) -> Index:
    """Return the fetched index itself, as an index."""
    return fetched(fetch.tensor, fetch.index, fetch.extent)


def read_mapped(read: Read, of_index: OfIndex) -> Read:
    """Return the read with each index expression replaced."""
    index = tuple(map(of_index, read.index))
    return Read(read.tensor, index, guards_mapped(read.guards, of_index), read.otherwise)


def guards_mapped(guards: tuple[Guard, ...], of_index: OfIndex) -> tuple[Guard, ...]:
    """Return the guards with each index expression replaced."""
    return tuple(Guard(of_index(guard.index), guard.low, guard.high) for guard in guards)


def expr_mapped(expr: Expr, of_index: OfIndex, of_argument: Callable[[Argument], Expr]) -> Expr:
    """Return the expression with index expressions and arguments replaced."""

    def leaf(part: Expr) -> Expr:
        match part:
            case Coordinate(index, dtype):
                return Coordinate(of_index(index), dtype)
            case Inside(guards, dtype):
                return Inside(guards_mapped(guards, of_index), dtype)
            case Argument():
                return of_argument(part)
        return part

    return transform(expr, leaf)


def op_mapped(op: TileOp, of_index: OfIndex) -> TileOp:
    """Return the nest with each index expression replaced; its axes stay."""
    return replace(
        op,
        reads=tuple(read_mapped(read, of_index) for read in op.reads),
        body=expr_mapped(op.body, of_index, _same),
        finish=None if op.finish is None else expr_mapped(op.finish, of_index, _same),
    )


def is_safe(read: Read, producer: TileOp) -> bool:
    """Return whether the producer's expression may stand for the read.

    An index is fetched before a guard is asked: where the guard does not hold it may lie outside.
    """
    return not (read.guards and op_fetches(producer))


def inlined(op: TileOp, position: int, producer: TileOp) -> TileOp:
    """Return the nest with an element-wise producer's expression where it was read."""
    read = op.reads[position]
    values = dict(zip(producer.spatial, read.index, strict=True))
    first = len(op.reads)
    added = [
        _guarded_too(read_mapped(inner, lambda index: substitute(index, values)), read)
        for inner in producer.reads
    ]
    value = expr_mapped(
        producer.body,
        lambda index: substitute(index, values),
        lambda argument: Argument(first + argument.position, argument.dtype),
    )
    if read.guards and isinstance(value, Argument) and _same_outside(producer.reads[0], read):
        added[0] = replace(added[0], otherwise=read.otherwise)
    elif read.guards:
        value = Call(
            "where",
            (Inside(read.guards), value, Constant(read.otherwise, value.dtype)),
            value.dtype,
        )
    return with_argument(replace(op, reads=(*op.reads, *added)), position, value, producer)


def with_argument(op: TileOp, position: int, value: Expr, source: TileOp) -> TileOp:
    """Return the nest with `value` for what a read gives; it does the work of `source` too."""

    def of_argument(argument: Argument) -> Expr:
        return value if argument.position == position else argument

    def changed(expr: Expr) -> Expr:
        return expr_mapped(expr, lambda index: index, of_argument)

    return replace(
        op,
        body=changed(op.body),
        finish=None if op.finish is None else changed(op.finish),
        nodes=tuple(dict.fromkeys((*source.nodes, *op.nodes))),
    )


def _guarded_too(inner: Read, outer: Read) -> Read:
    return replace(inner, guards=(*inner.guards, *outer.guards))


def _same_outside(inner: Read, outer: Read) -> bool:
    """Return whether it does not matter which guard does not hold."""
    return not inner.guards or repr(inner.otherwise) == repr(outer.otherwise)


def _plain_read(op: TileOp, expr: Expr) -> Read | None:
    match expr:
        case Argument(position, _) | Call("cast", (Argument(position, _),), _):
            return op.reads[position]
    return None


def _axes(read: Read) -> set[Axis]:
    return {axis for index in read.index for axis in axes_of(index)}


def _same(argument: Argument) -> Expr:
    return argument
