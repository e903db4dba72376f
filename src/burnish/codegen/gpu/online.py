"""Averages by softmax over long rows: weights are formed block by block, and never as a whole row.

A block's weights are taken relative to the largest score so far. When a larger one turns up, what
is summed already shrinks by the same factor; the last step divides by the sum of all weights.

    sum_k exp(s_k - top) v_k / sum_k exp(s_k - top)

Powers are those of two, of which a card has an instruction: what scores are multiplied with, and
the logarithm of e, are one factor. It comes after the largest is taken away: a row that is masked
with the least number of f32 altogether has equal weights, and would leave f32 before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.ahead_of_turns import run_ahead
from burnish.codegen.gpu.operands import ProductOperands, narrow
from burnish.codegen.gpu.products import (
    ProductLoop,
    axes_in,
    counted,
    dot_text,
    loop_over,
    operand_text,
    started,
    terms_of,
)
from burnish.codegen.gpu.values import Point, Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.tile.expr import Argument, Call, Constant, Expr
from burnish.tile.graph import Read, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, substitute

_LOWEST = 'float("-inf")'


@dataclass(frozen=True, slots=True)
class SoftmaxRow:
    """A softmax whose weights a product reads: scores, and where they are."""

    exponential: TileOp
    scores: Expr
    """What is taken to the power of e, before its largest value is taken away."""
    index: tuple[Index, ...]
    """Where the product reads the exponentials, over its own axes."""


def weighted(writer: KernelWriter, point: Point, sides: ProductOperands) -> SoftmaxRow | None:
    """Return the softmax that is a product's left side, if its rows are longer than a block."""
    op, left = point.op, narrow(sides.left)
    terms = terms_of(writer, point, sides)
    if not isinstance(left, Argument) or terms.outer or terms.block >= terms.count:
        return None
    read = op.reads[left.position]
    weights = writer.ops.get(read.tensor)
    if weights is None or read.guards:
        return None
    row = _softmax(writer, weights)
    if row is None:
        return None
    bind = dict(zip(weights.spatial, read.index, strict=True))
    index = tuple(substitute(part, bind) for part in row.index)
    return replace(row, index=index) if _runs_along(row, index, op.reduced) else None


def _runs_along(row: SoftmaxRow, index: tuple[Index, ...], terms: tuple[Axis, ...]) -> bool:
    """Say whether the terms of a product are just the row of the softmax."""
    axes = _row_axes(row.exponential, _largest(row.exponential))
    along = [
        part for axis, part in zip(row.exponential.spatial, index, strict=True) if axis in axes
    ]
    others = [p for axis, p in zip(row.exponential.spatial, index, strict=True) if axis not in axes]
    return set(along) == {at(axis) for axis in terms} and not axes_in(others) & set(terms)


def _softmax(writer: KernelWriter, weights: TileOp) -> SoftmaxRow | None:
    """Return what a nest makes weights of; its index is over the nest's own axes."""
    match _uncast(weights.body):
        case Call("divide", (Argument(top, _), Argument(bottom, _)), _):
            above, below = weights.reads[top], weights.reads[bottom]
        case _:
            return None
    exponential, total = writer.ops.get(above.tensor), writer.ops.get(below.tensor)
    if exponential is None or total is None or above.guards or below.guards:
        return None
    match exponential.body:
        case Call("exp", (Call("subtract", (scores, Argument(largest, _)), _),), _):
            pass
        case _:
            return None
    highest = exponential.reads[largest]
    top_op = writer.ops.get(highest.tensor)
    if exponential.reduced or top_op is None or highest.guards:
        return None
    whole = Argument(0, exponential.dtype)
    own = tuple(at(axis) for axis in exponential.spatial)
    if not _folds(top_op, "max", exponential, highest, scores, exponential.reads):
        return None
    bind = dict(zip(exponential.spatial, above.index, strict=True))
    again = replace(highest, index=tuple(substitute(part, bind) for part in highest.index))
    if below.index != again.index:
        return None
    reads = (Read(exponential.output, own),)
    if not _folds(total, "sum", exponential, highest, whole, reads):
        return None
    return SoftmaxRow(exponential, scores, above.index)


def _folds(
    op: TileOp,
    combine: str,
    over: TileOp,
    highest: Read,
    body: Expr,
    reads: tuple[Read, ...],
) -> bool:
    """Say whether a nest folds along a row what an expression over another nest's axes is."""
    axes = _row_axes(over, highest)
    if op.combine != combine or op.finish is not None or len(op.reduced) != len(axes):
        return False
    bind = dict(zip(op.spatial, highest.index, strict=True))
    bind |= {own: at(axis) for own, axis in zip(op.reduced, axes, strict=True)}
    same = [axis.extent for axis in op.reduced] == [axis.extent for axis in axes]
    return same and _same(op.body, op.reads, body, reads, bind)


def _same(
    one: Expr,
    ones: tuple[Read, ...],
    other: Expr,
    others: tuple[Read, ...],
    bind: dict[Axis, Index],
) -> bool:
    """Say whether two expressions are alike, the axes of the first put in the other's terms."""
    match one, other:
        case Argument(a, first), Argument(b, second):
            mine = ones[a]
            index = tuple(substitute(part, bind) for part in mine.index)
            plain = not mine.guards and not others[b].guards
            same = (mine.tensor, index, first) == (others[b].tensor, others[b].index, second)
            return plain and same
        case Call(f, left, first), Call(g, right, second):
            alike = (f, first, len(left)) == (g, second, len(right))
            return alike and all(
                _same(a, ones, b, others, bind) for a, b in zip(left, right, strict=True)
            )
    return one == other and not arguments_of(one)


def _largest(exponential: TileOp) -> Read:
    match exponential.body:
        case Call("exp", (Call("subtract", (_, Argument(largest, _)), _),), _):
            return exponential.reads[largest]
    raise AssertionError(exponential.output)


def _row_axes(exponential: TileOp, highest: Read) -> tuple[Axis, ...]:
    """Return the axes of the exponentials along which their largest does not differ."""
    kept = axes_in(highest.index)
    return tuple(axis for axis in exponential.spatial if axis not in kept and axis.extent > 1)


def _uncast(expr: Expr) -> Expr:
    match expr:
        case Call("cast", (inner,), _):
            return _uncast(inner)
    return expr


def averaged(writer: KernelWriter, point: Point, sides: ProductOperands, row: SoftmaxRow) -> Value:
    """Write the loop over a row's blocks; the average comes back."""
    depends = axes_in(point.bind.values())
    with writer.at(depends):
        terms = terms_of(writer, point, sides)
        total = started(writer, sides)
        loop = loop_over(writer, point, terms, (0, terms.count))
        rows = writer.shape((sides.rows,), (sides.rows, loop.k))
        top, below = writer.fresh("top"), writer.fresh("below")
        writer.line(f"{top} = tl.full({rows}, {_LOWEST}, tl.float32)")
        writer.line(f"{below} = tl.zeros({rows}, dtype=tl.float32)")
        writer.tally.multiplied_sums += writer.multiplying or writer.beside
        with counted(writer, loop) as step:
            _step(writer, loop, sides, row, (total, top, below))
            run_ahead(writer, loop, step)
        writer.line(f"{total} = {total} / {below}")
    return Value(total, point.op.body.dtype, frozenset(point.frame), depends)


def _step(
    writer: KernelWriter,
    loop: ProductLoop,
    sides: ProductOperands,
    row: SoftmaxRow,
    names: tuple[str, str, str],
) -> None:
    """Write one block of a row: its largest score, its weights, and what they are worth."""
    total, top, below = names
    before = writer.tally.loads
    scores, factor = _factor(row.scores)
    score = _scores(writer, loop, sides, replace(row, scores=scores))
    most, base, part, fade = (writer.fresh(stem) for stem in ("most", "base", "part", "fade"))
    writer.line(f"{most} = tl.maximum({top}, tl.max({score}, axis=1, keep_dims=True))")
    # a row may begin with blocks that are masked altogether
    writer.line(f"{base} = tl.where({most} == {_LOWEST}, 0.0, {most})")
    writer.line(f"{part} = tl.exp2(({score} - {base}) * {factor!r})")
    writer.line(f"{fade} = tl.exp2(({top} - {base}) * {factor!r})")
    writer.line(f"{below} = {below} * {fade} + tl.sum({part}, axis=1, keep_dims=True)")
    values = operand_text(writer, loop, sides.right, (loop.k, sides.columns), sides.dtype)
    left = spelling.casted(part, "f32", sides.dtype)
    text = dot_text(writer, sides, left, values, f"{total} * {fade}")
    writer.line(f"{total} = {text}")
    writer.line(f"{top} = {most}")
    _tell(writer, loop, sides, writer.tally.loads - before)


def _factor(scores: Expr) -> tuple[Expr, float]:
    """Return scores without what they are multiplied with, and that times the logarithm of e.

    A factor below 0 stays with them: of what it is multiplied with, another one is the largest.
    """
    match scores:
        case Call("multiply", (inner, Constant(factor, _)), "f32") if (
            inner.dtype == "f32" and 0 < float(factor) < math.inf
        ):
            return inner, float(factor) * math.log2(math.e)
    return scores, math.log2(math.e)


def _scores(
    writer: KernelWriter, loop: ProductLoop, sides: ProductOperands, row: SoftmaxRow
) -> str:
    """Write a block of scores in f32, the least there is behind the end of the row."""
    frame = (sides.rows, loop.k)
    places = (substitute(part, loop.point.bind) for part in row.index)
    bind = dict(zip(row.exponential.spatial, places, strict=True))
    with writer.multiplied(beside=False):
        value = writer.expression(row.scores, Point(row.exponential, bind, frame))
    text = spelling.casted(value.text, value.dtype, "f32")
    if not value.dims >= set(frame):
        text = f"tl.broadcast_to({text}, {writer.shape(frame, frame)})"
    if writer.blocks[loop.k].padded:
        text = f"tl.where({writer.arithmetic(frame).inside(loop.k)}, {text}, {_LOWEST})"
    name = writer.fresh("score")
    writer.line(f"{name} = {text}")
    return name


def _tell(writer: KernelWriter, loop: ProductLoop, sides: ProductOperands, loads: int) -> None:
    """Count what a step does."""
    rows, columns, depth = (
        writer.blocks[axis].size for axis in (sides.rows, sides.columns, loop.k)
    )
    trips = writer.scopes[-1].trips
    tally = writer.tally
    for function, times in (("exp2", 1), ("maximum", 1), ("add", 2), ("multiply", 1)):
        tally.work(function, rows * depth, trips * times)
    tally.work("multiply", rows * columns, trips)
    tally.averaged.append((rows, depth, trips))
    tally.held = max(tally.held, rows * columns + rows * depth)
    tally.product(sides.dtype, (rows, columns, depth), trips, ahead=False, loads=min(loads, 2))
