"""One nest in its plainest form: guards that may fail, reads that are used, names by position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from burnish.tile.expr import Argument, Call, Constant, Expr, Guard, Inside, Number, walk
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, bounds, substitute
from burnish.tile.steps.substitution import expr_mapped

Tensors = Mapping[str, TensorType]


def tidy(op: TileOp, tensors: Tensors) -> TileOp:
    """Return the same nest, written plainly.

    Equal nests are written equally: reads are in the order in which the expressions use them, and
    axes are named by their position.
    """
    return _reads_in_order(_guards_settled(_axes_named(op), tensors))


Ranges = Mapping[Index, tuple[int, int]]
"""Half-open ranges in which indices (without their constant) are known to lie."""


def settled(guards: Iterable[Guard], known: Ranges | None = None) -> tuple[Guard, ...] | None:
    """Return the guards that may fail, one per index; None where one never holds."""
    ranges: dict[Index, tuple[int, int]] = {}
    for guard in guards:
        index, low, high = _without_constant(guard)
        least, most = ranges.get(index) or _range(index, known or {})
        ranges[index] = max(low, least), min(high, most)
    if any(low >= high for low, high in ranges.values()):
        return None
    return tuple(
        Guard(index, *ends) for index, ends in ranges.items() if ends != _range(index, known or {})
    )


def _without_constant(guard: Guard) -> tuple[Index, int, int]:
    shift = guard.index.constant
    return guard.index - shift, guard.low - shift, guard.high - shift


def _range(index: Index, known: Ranges) -> tuple[int, int]:
    least, most = bounds(index)
    low, high = known.get(index, (least, most + 1))
    return max(low, least), min(high, most + 1)


def _axes_named(op: TileOp) -> TileOp:
    spatial = tuple(Axis(f"i{n}", axis.extent) for n, axis in enumerate(op.spatial))
    reduced = tuple(Axis(f"k{n}", axis.extent) for n, axis in enumerate(op.reduced))
    if (spatial, reduced) == (op.spatial, op.reduced):
        return op
    names = dict(zip((*op.spatial, *op.reduced), map(at, (*spatial, *reduced)), strict=True))
    return renamed(op, spatial, reduced, names)


def renamed(
    op: TileOp, spatial: tuple[Axis, ...], reduced: tuple[Axis, ...], values: Mapping[Axis, Index]
) -> TileOp:
    """Return the nest over other axes, with `values` in place of its own."""
    # The nest checks its axes when it is made, so that all of it changes at once.
    return replace(
        op,
        spatial=spatial,
        reduced=reduced,
        reads=tuple(_read_over(read, values) for read in op.reads),
        body=_expr_over(op.body, values),
        finish=None if op.finish is None else _expr_over(op.finish, values),
    )


def _read_over(read: Read, values: Mapping[Axis, Index]) -> Read:
    guards = tuple(
        Guard(substitute(guard.index, values), guard.low, guard.high) for guard in read.guards
    )
    return replace(
        read, index=tuple(substitute(index, values) for index in read.index), guards=guards
    )


def _expr_over(expr: Expr, values: Mapping[Axis, Index]) -> Expr:
    return expr_mapped(expr, lambda index: substitute(index, values), lambda argument: argument)


def _asks(op: TileOp) -> bool:
    exprs = [op.body] if op.finish is None else [op.body, op.finish]
    asked = (isinstance(part, Inside) for expr in exprs for part in walk(expr))
    return any(read.guards or read.otherwise for read in op.reads) or any(asked)


def _guards_settled(op: TileOp, tensors: Tensors) -> TileOp:
    if not _asks(op):
        return op
    never: dict[int, Number] = {}
    reads: list[Read] = []
    for position, read in enumerate(op.reads):
        guards = settled(read.guards)
        if guards is None:
            never[position] = read.otherwise
            guards = ()
        outside = _typed(read.otherwise, tensors[read.tensor].dtype) if guards else 0
        reads.append(replace(read, guards=guards, otherwise=outside))

    def plain(expr: Expr) -> Expr:
        return _decided(expr_mapped(expr, lambda index: index, of_argument), {})

    def of_argument(argument: Argument) -> Expr:
        if argument.position in never:
            return Constant(_typed(never[argument.position], argument.dtype), argument.dtype)
        return argument

    finish = None if op.finish is None else plain(op.finish)
    return replace(op, reads=tuple(reads), body=plain(op.body), finish=finish)


def _decided(expr: Expr, known: Ranges) -> Expr:
    """Return the expression without conditions that are known."""
    match expr:
        case Inside(guards, _):
            left = settled(guards, known)
            return Constant(left is not None, "bool") if not left else Inside(left)
        case Call("where", (condition, yes, no), dtype):
            match _decided(condition, known):
                case Constant(holds, _):
                    return _decided(yes if holds else no, known)
                case decided:
                    then = _decided(yes, _if_so(decided, known))
                    return Call(
                        "where", (decided, then, _decided(no, _if_not(decided, known))), dtype
                    )
        case Call(function, arguments, dtype):
            return Call(function, tuple(_decided(each, known) for each in arguments), dtype)
    return expr


def _if_so(condition: Expr, known: Ranges) -> Ranges:
    """Return what is known of indices where the condition holds."""
    if not isinstance(condition, Inside):
        return known
    return {**known, **{guard.index: (guard.low, guard.high) for guard in condition.guards}}


def _if_not(condition: Expr, known: Ranges) -> Ranges:
    """Return what is known where it does not hold: the other side of a range that has only one."""
    match condition:
        case Inside((Guard(index, low, high),), _):
            least, end = _range(index, known)
            if low == least:
                return {**known, index: (high, end)}
            if high == end:
                return {**known, index: (least, low)}
    return known


def _typed(value: Number, dtype: str) -> Number:
    if dtype == "bool":
        return bool(value)
    return float(value) if dtype.startswith(("f", "bf")) else int(value)


def _reads_in_order(op: TileOp) -> TileOp:
    positions = [*arguments_of(op.body), *(arguments_of(op.finish) if op.finish else ())]
    kept = list(dict.fromkeys(op.reads[position] for position in positions))
    if tuple(kept) == op.reads:
        return op
    places = {position: kept.index(op.reads[position]) for position in positions}

    def moved(expr: Expr) -> Expr:
        return expr_mapped(
            expr,
            lambda index: index,
            lambda argument: Argument(places[argument.position], argument.dtype),
        )

    return replace(
        op,
        reads=tuple(kept),
        body=moved(op.body),
        finish=None if op.finish is None else moved(op.finish),
    )
