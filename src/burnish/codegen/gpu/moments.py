"""Mean and variance of long rows, in one pass over parts of them.

m = sum_k x[k] / K;  v = sum_k (x[k] - m)^2                                            becomes
m_p = sum over the p-th part / n;  v_p = sum over the p-th part of (x[k] - m_p)^2      one kernel
m = sum_p m_p / P;  v = sum_p (v_p + n (m_p - m)^2)                                    for who reads

A norm over a whole image keeps few programs busy, and would read it once for its mean and again
for the differences from it. A part is short enough for one block, which has it at hand for both;
each is about its own mean, so nothing is lost where the mean is large and the variance small.

Nor has a norm over the pixels of each channel programs that could read it, where channels lie
innermost: one with whole rows has too many terms, or too few channels for a sector of memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.codegen.gpu.beside import BESIDE, LEAST_TERMS, MOST_SINGLE, rows_beside
from burnish.codegen.gpu.layout import Order, orders_of
from burnish.codegen.gpu.spelling import HALVES
from burnish.tile.expr import (
    Accumulated,
    Argument,
    Call,
    Constant,
    Expr,
    Guard,
    Inside,
    call,
    cast,
    renumbered,
)
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, axes_of, coefficient, substitute, unflatten
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import free_name, regraph

LONG = 4096
"""Terms above which a row is cut: fewer are one block of a kernel."""
STRIDED = 1024
"""The same where neighbouring rows lie side by side: a program has several of them."""
BUSY = 128
"""Parts that keep a card busy, those of all rows together."""
UNEVEN = 1.5
"""Times more or fewer parts than are wanted for which the last part gets fewer terms instead."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The terms of a row as parts; all have the same size, or the last has fewer terms."""

    part: Axis
    rest: tuple[Axis, ...]
    """What each part runs over, in the order of memory."""
    place: Mapping[Axis, Index]
    """The row's own axes over these."""
    left: int
    """Terms of the last part."""

    @property
    def terms(self) -> int:
        """Return the terms of one part."""
        return math.prod(axis.extent for axis in self.rest)

    @property
    def whole(self) -> bool:
        """Say whether the last part is like all others."""
        return self.left == self.terms

    @property
    def count(self) -> Expr:
        """Return the terms of a part, in f32."""
        size = Constant(self.terms, "f32")
        if self.whole:
            return size
        early = Inside((Guard(at(self.part), 0, self.part.extent - 1),))
        return call("where", early, size, Constant(self.left, "f32"))

    @property
    def guards(self) -> tuple[Guard, ...]:
        """Return the conditions that there is a term."""
        size = (self.part.extent - 1) * self.terms + self.left
        position = at(self.part) * self.terms + at(self.rest[0])
        return () if self.whole else (Guard(position, 0, size),)

    def inside(self, body: Expr) -> Expr:
        """Return what is added up, and nothing where there is no term."""
        if self.whole:
            return body
        return call("where", Inside(self.guards), body, Constant(0, body.dtype))


def moments_in_parts(graph: TileGraph) -> TileGraph:
    """Return the graph in which long rows have their mean and variance from one pass over parts."""
    pairs = dict(_pairs(graph))
    if not pairs:
        return graph
    orders, taken = orders_of(graph), set(graph.tensors)
    pairs = {
        op.output: pairs[op.output] for op in graph.ops if op.output in pairs and _long(op, orders)
    }
    if not pairs:
        return graph
    ops: list[TileOp] = []
    merged: dict[str, TileOp] = {}
    for op in graph.ops:
        if op.output in pairs:
            names = [free_name(f"{each.output}.parts", taken) for each in (op, pairs[op.output])]
            *new, merged[pairs[op.output].output] = _in_parts(op, pairs[op.output], names, orders)
            ops += new
        else:
            ops.append(merged.get(op.output, op))
    return regraph(graph, (tidy(op, graph.tensors) for op in ops))


def _pairs(graph: TileGraph) -> Iterator[tuple[str, TileOp]]:
    """Yield nests that average long rows, each with the one that adds up squared differences."""
    known = {op.output: op for op in graph.ops}
    for op in graph.ops:
        for name in op.inputs:
            mean = known.get(name)
            if mean is None or mean.terms <= STRIDED:
                continue
            if averages(mean) and spreads(op, mean):
                yield name, op


def averages(op: TileOp) -> bool:
    """Say whether a nest gives the means of rows."""
    if op.combine != "sum" or op.body.dtype != "f32" or op.fetches or op.coordinates:
        return False
    if not op.reads or any(read.guards for read in op.reads):
        return False
    match _narrow(op.finish):
        case Call("divide", (Accumulated(), Constant(count, _)), "f32"):
            return count == op.terms
    return False


def _long(op: TileOp, orders: Mapping[str, Order]) -> bool:
    """Say whether the rows of a nest are few and long, as they lie in memory."""
    rows = math.prod(op.shape)
    if rows_beside(op, orders) >= BESIDE:
        return rows <= BUSY * BESIDE
    return op.terms > LONG and rows <= BUSY


def _narrow(expr: Expr | None) -> Expr | None:
    """Return what is rounded to 16 bits at the end, or an expression itself."""
    match expr:
        case Call("cast", (inner,), dtype) if dtype in HALVES:
            return inner
    return expr


def spreads(op: TileOp, mean: TileOp) -> bool:
    """Say whether a nest adds up the squares of the differences from a mean of the same terms."""
    if op.combine != "sum" or (op.spatial, op.reduced) != (mean.spatial, mean.reduced):
        return False
    match _exact(op.body):
        case Call("multiply", (Call("subtract", (x, middle), _) as one, other), "f32"):
            own = Read(mean.output, tuple(at(axis) for axis in op.spatial))
            inner = middle.arguments[0] if isinstance(middle, Call) else middle
            if one != other or middle != cast(inner, "f32") or not isinstance(inner, Argument):
                return False
            numbers = {each: _position(mean, op.reads[each]) for each in arguments_of(x)}
            found = {old: new for old, new in numbers.items() if new is not None}
            same = len(found) == len(numbers) and renumbered(x, found) == mean.body
            return same and op.reads[inner.position] == own
    return False


def _exact(expr: Expr) -> Expr:
    """Return an expression whose computed parts are not rounded to 16 bits between."""
    match expr:
        case Call("cast", (Call("cast", (Call(_, _, "f32") as inner,), half),), "f32") if (
            half in HALVES
        ):
            return _exact(inner)
        case Call(function, arguments, dtype):
            return Call(function, tuple(map(_exact, arguments)), dtype)
    return expr


def _position(op: TileOp, read: Read) -> int | None:
    return op.reads.index(read) if read in op.reads else None


def _in_parts(
    mean: TileOp, spread: TileOp, names: Sequence[str], orders: Mapping[str, Order]
) -> Iterator[TileOp]:
    """Yield means and spreads of parts, so called, then the mean and the spread of whole rows."""
    how = _cut(mean, orders)
    own = (how.part, *mean.spatial)
    place = tuple(at(axis) for axis in own)
    reads = tuple(
        replace(
            read,
            index=tuple(substitute(each, how.place) for each in read.index),
            guards=how.guards,
        )
        for read in mean.reads
    )
    total = Accumulated("f32")
    means = replace(
        mean, output=names[0], spatial=own, reads=reads, reduced=how.rest,
        body=how.inside(mean.body), finish=call("divide", total, how.count),
    )  # fmt: skip
    here = Argument(len(reads), "f32")
    spread_parts = replace(
        means, output=names[1], reads=(*reads, Read(means.output, place)),
        body=how.inside(_squared(call("subtract", mean.body, here))), finish=None,
    )  # fmt: skip
    yield means
    yield spread_parts
    one = Argument(0, "f32")
    body, count = (one, how.part.extent) if how.whole else (_times(one, how.count), mean.terms)
    yield replace(
        mean, reads=(Read(means.output, place),), body=body, reduced=(how.part,),
        finish=cast(call("divide", total, Constant(count, "f32")), mean.dtype),
    )  # fmt: skip
    yield _merged(spread, mean, means, spread_parts, how)


def _merged(spread: TileOp, mean: TileOp, means: TileOp, spreads: TileOp, how: _Cut) -> TileOp:
    """Return what adds up the spreads of parts and those of their means."""
    place = tuple(at(axis) for axis in means.spatial)
    of_row = Read(mean.output, tuple(at(axis) for axis in mean.spatial))
    inside, middle = (Argument(number, "f32") for number in range(2))
    # of any number m, not of the mean alone: the squares of x - m add up to just this
    whole = cast(Argument(2, mean.dtype), "f32")
    between = _squared(call("subtract", middle, whole))
    body = call("add", inside, _times(between, how.count))
    after = sorted(arguments_of(spread.finish)) if spread.finish else []
    numbers = {old: new for new, old in enumerate(after, start=3)}
    reads = (Read(spreads.output, place), Read(means.output, place), of_row)
    return replace(
        spread, reads=(*reads, *(spread.reads[old] for old in after)), body=body,
        reduced=(how.part,), finish=renumbered(spread.finish, numbers) if spread.finish else None,
    )  # fmt: skip


def _times(one: Expr, other: Expr) -> Expr:
    return call("multiply", one, other)


def _squared(expr: Expr) -> Expr:
    return _times(expr, expr)


def _cut(op: TileOp, orders: Mapping[str, Order]) -> _Cut:
    """Return how a row is cut: runs of memory, short enough for a block, as many as are wanted."""
    axes = _as_in_memory(op, orders)
    rows, terms = math.prod(op.shape), math.prod(axis.extent for axis in axes)
    wanted, most = _wanted(rows, terms, rows_beside(op, orders))
    counts = {
        math.prod(axis.extent for axis in axes[:whole]) * count: (whole, count)
        for whole, axis in enumerate(axes)
        for count in range(1, axis.extent + 1)
        if axis.extent % count == 0
    }
    short = [count for count in counts if terms // count <= most] or [max(counts)]
    parts = min(short, key=lambda count: abs(math.log(count / wanted)))
    if rows_beside(op, orders) >= BESIDE and abs(math.log(parts / wanted)) > math.log(UNEVEN):
        return _uneven(axes, terms, round(terms / wanted))
    whole, count = counts[parts]
    part = Axis("part", parts)
    *outer, last = unflatten(at(part), (*(axis.extent for axis in axes[:whole]), count))
    cut = axes[whole]
    inner = Axis(f"{cut.name}.", cut.extent // count)
    place = dict(zip(axes[:whole], outer, strict=True)) | {cut: last * inner.extent + at(inner)}
    return _Cut(part, (inner, *axes[whole + 1 :]), place, terms // parts)


def _uneven(axes: Sequence[Axis], terms: int, size: int) -> _Cut:
    """Return how a row is cut into parts of some size, whatever is left being the last one."""
    part, inner = Axis("part", -(-terms // size)), Axis("term", size)
    position = at(part) * size + at(inner)
    places = unflatten(position, tuple(axis.extent for axis in axes))
    left = terms - (part.extent - 1) * size
    return _Cut(part, (inner,), dict(zip(axes, places, strict=True)), left)


def _wanted(rows: int, terms: int, beside: int) -> tuple[float, int]:
    """Return how many parts rows should have, and how many terms a block can have of each.

    Of rows side by side a block has as many as leave programs enough, and a sector at least.
    """
    if beside < BESIDE:
        most = LONG if beside == 1 else MOST_SINGLE // beside
        return max(BUSY / rows, terms / most), most
    while rows * terms < BUSY * MOST_SINGLE and beside > BESIDE:
        beside //= 2
    most = MOST_SINGLE // beside
    while rows * terms < BUSY * most * beside and most > LEAST_TERMS:
        most //= 2
    return terms / most, most


def _as_in_memory(op: TileOp, orders: Mapping[str, Order]) -> tuple[Axis, ...]:
    """Return the axes of a row in the order in which the first tensor that is read has them."""
    read = op.reads[0]
    order = orders.get(read.tensor) or range(len(read.index))
    found: dict[Axis, None] = {}
    for dim in order:
        found |= dict.fromkeys(_inwards(read.index[dim], axes_of(read.index[dim])))
    found = {axis: None for axis in found if axis in op.reduced}
    distinct = tuple(found)
    return distinct if set(distinct) == set(op.reduced) else op.reduced


def _inwards(index: Index, axes: Iterable[Axis]) -> list[Axis]:
    """Return the axes of an index, the outermost first.

    Of two that count together, as rows of an image and their phase do, that is the longer one.
    """

    def rank(axis: Axis) -> tuple[int, int, str]:
        return -(coefficient(index, axis) or 0), -axis.extent, axis.name

    return sorted(axes, key=rank)
