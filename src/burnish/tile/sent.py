"""Nests whose terms each go to one place of the output: sums over updates, sent where they belong.

    out[i, j] = sum(k) where(0 <= place[k] - i < 1, x[k, j], 0)

asks every place for every update, and says what is meant: whoever computes it may as well walk
the updates once, and add each where it goes. `sent` tells where that is, `passes` are the nests of
doing so; `burnish.tile.reference` and the CPU's kernels do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.tile.expr import (
    Accumulated,
    Argument,
    Call,
    Constant,
    Coordinate,
    Expr,
    Guard,
    Inside,
    Number,
    renumbered,
    transform,
)
from burnish.tile.functions import identity
from burnish.tile.graph import Read, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, axes_of, bounds, substitute

_FUNCTIONS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


@dataclass(frozen=True, slots=True)
class Sent:
    """A reduction, seen from its terms."""

    places: Mapping[Axis, Index]
    """Where along these axes of the output a term goes."""
    axes: tuple[Axis, ...]
    """Those that the terms are walked by: the reduced ones, and what of the output is left."""
    reads: tuple[Read, ...]
    value: Expr
    """What a term is, over these axes."""

    @property
    def terms(self) -> int:
        """Return how many terms there are."""
        count = 1
        for axis in self.axes:
            count *= axis.extent
        return count


def sent(op: TileOp) -> Sent | None:
    """Return where the terms of a reduction go; None: they go to all places, or it is none.

    What a condition leaves out must change nothing, and each term has a place in the output.
    """
    if op.combine is None or not any(guard.high - guard.low == 1 for guard in op.guards):
        return None
    chosen = _chosen(op)
    places = {} if chosen is None else _places(op, chosen.guards)
    if chosen is None or not places:
        return None
    left = [guard for guard in chosen.guards if _place(op, guard) is None]
    value = chosen.with_guards(tuple(left))
    reads = tuple(_read_over(read, places) for read in value.reads)
    return Sent(places, _axes(op, places), reads, _expr_over(value.body, places))


@dataclass(frozen=True, slots=True)
class Passes:
    """Three nests over one tensor, one after the other."""

    start: TileOp
    """Everywhere what changes nothing."""
    update: TileOp
    """Each term to its place; its axes are those of the terms, and it reads the place as well."""
    place: tuple[Index, ...]
    """Where it writes."""
    end: TileOp | None
    """What follows the reduction; None: nothing does."""


def passes(op: TileOp, found: Sent) -> Passes:
    """Return the nests of sending the terms of a reduction; they write what they read."""
    dtype = op.body.dtype
    assert op.combine is not None
    start = replace(
        op, reads=(), body=Constant(identity(op.combine, dtype), dtype), reduced=(),
        combine=None, finish=None,
    )  # fmt: skip
    place = tuple(found.places.get(axis, at(axis)) for axis in op.spatial)
    own = Argument(len(found.reads), dtype)
    update = TileOp(
        op.output, found.axes, (*found.reads, Read(op.output, place)),
        Call(_FUNCTIONS[op.combine], (own, found.value), dtype), nodes=op.nodes,
    )  # fmt: skip
    return Passes(start, update, place, _end(op))


def _end(op: TileOp) -> TileOp | None:
    if op.finish is None:
        return None
    positions = sorted(arguments_of(op.finish))
    total = Argument(len(positions), op.body.dtype)
    finish = renumbered(op.finish, {old: new for new, old in enumerate(positions)})
    body = transform(finish, lambda part: total if isinstance(part, Accumulated) else part)
    own = Read(op.output, tuple(at(axis) for axis in op.spatial))
    reads = (*(op.reads[old] for old in positions), own)
    return replace(op, reads=reads, body=body, reduced=(), combine=None, finish=None)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A term, and the conditions under which it counts."""

    reads: tuple[Read, ...]
    body: Expr
    guards: tuple[Guard, ...]
    nothing: Constant
    read: int | None
    """The read that has the conditions; None: the body has."""

    def with_guards(self, guards: tuple[Guard, ...]) -> _Chosen:
        """Return the term under other conditions."""
        if self.read is not None:
            reads = list(self.reads)
            reads[self.read] = replace(reads[self.read], guards=guards)
            return replace(self, reads=tuple(reads))
        if not guards:
            return self
        body = Call("where", (Inside(guards), self.body, self.nothing), self.body.dtype)
        return replace(self, body=body)


def _chosen(op: TileOp) -> _Chosen | None:
    """Return the terms of a reduction that counts some of them; None: it counts all."""
    assert op.combine is not None
    unit = identity(op.combine, op.body.dtype)
    match op.body:
        case Argument(position, dtype) if _is(unit, op.reads[position].otherwise):
            guards = op.reads[position].guards
            return _Chosen(op.reads, op.body, guards, Constant(unit, dtype), position)
        case Call("where", (Inside(guards), value, Constant(other, dtype)), _) if _is(unit, other):
            return _Chosen(op.reads, value, guards, Constant(unit, dtype), None)
    return None


def _is(unit: Number, other: Number) -> bool:
    return unit == other


def _places(op: TileOp, guards: Sequence[Guard]) -> dict[Axis, Index]:
    """Return where terms go along the axes that conditions tell; empty: they do not tell."""
    found: dict[Axis, Index] = {}
    for guard in guards:
        told = _place(op, guard)
        if told is not None:
            if told[0] in found:
                return {}
            found[told[0]] = told[1]
    if any(axes_of(index) & found.keys() for index in found.values()):
        return {}
    return found


def _place(op: TileOp, guard: Guard) -> tuple[Axis, Index] | None:
    """Return which axis of the output a condition fixes, and where.

    `low <= place - axis < low + 1` does. Every term must have a place that is there.
    """
    if guard.high - guard.low != 1:
        return None
    for atom, factor in guard.index.terms:
        if not isinstance(atom, Axis) or atom not in op.spatial or abs(factor) != 1:
            continue
        rest = guard.index - at(atom) * factor
        place = (rest - guard.low) * -factor
        low, high = bounds(place)
        inside = low >= 0 and high < atom.extent
        if inside and atom not in axes_of(place) and axes_of(place) & {*op.reduced}:
            return atom, place
    return None


def _axes(op: TileOp, places: Mapping[Axis, Index]) -> tuple[Axis, ...]:
    """Return the axes of the terms: reduced ones stand where the first of the others was."""
    first = min(op.spatial.index(axis) for axis in places)
    before, behind = op.spatial[:first], op.spatial[first:]
    return (*before, *op.reduced, *(axis for axis in behind if axis not in places))


def _read_over(read: Read, places: Mapping[Axis, Index]) -> Read:
    index = tuple(substitute(each, places) for each in read.index)
    return replace(read, index=index, guards=_guards_over(read.guards, places))


def _expr_over(expr: Expr, places: Mapping[Axis, Index]) -> Expr:
    def leaf(part: Expr) -> Expr:
        match part:
            case Coordinate(index, dtype):
                return Coordinate(substitute(index, places), dtype)
            case Inside(guards, dtype):
                return Inside(_guards_over(guards, places), dtype)
        return part

    return transform(expr, leaf)


def _guards_over(guards: Sequence[Guard], places: Mapping[Axis, Index]) -> tuple[Guard, ...]:
    return tuple(Guard(substitute(each.index, places), each.low, each.high) for each in guards)
