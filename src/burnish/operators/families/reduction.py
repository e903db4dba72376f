"""Reductions over any axes, positions of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import always, defined, each_input, first
from burnish.operators.size import total
from burnish.tile.expr import Accumulated, Argument, Constant, Coordinate, Expr, Guard, call, cast
from burnish.tile.graph import Combine, Read
from burnish.tile.index import Axis, at, flatten
from burnish.tile.pointwise import like, pointwise, positive_axis, wide, wide_type
from burnish.tile.reduction import (
    Fold,
    ReductionPlace,
    elements,
    mean_of,
    place,
    positive_axes,
    reduce_over,
)
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError, Reduction, axes_for

FoldOf = Callable[[int], Fold]
"""What is folded, from how many elements become one."""


def _square(x: Expr) -> Expr:
    return call("multiply", x, x)


def _absolute(x: Expr) -> Expr:
    return call("absolute", x)


def _applied(function: str) -> Callable[[Expr], Expr]:
    return lambda x: call(function, x)


_FOLDS: dict[str, FoldOf] = {
    "ReduceSum": lambda _: Fold("sum"),
    "ReduceMean": lambda count: Fold("sum", finish=mean_of(count)),
    "ReduceMax": lambda _: Fold("max"),
    "ReduceMin": lambda _: Fold("min"),
    "ReduceProd": lambda _: Fold("prod"),
    "ReduceL1": lambda _: Fold("sum", body=_absolute),
    "ReduceL2": lambda _: Fold("sum", body=_square, finish=_applied("sqrt")),
    "ReduceSumSquare": lambda _: Fold("sum", body=_square),
    "ReduceLogSum": lambda _: Fold("sum", finish=_applied("log")),
}


def _reduction(fold_of: FoldOf) -> Meaning:
    def meaning(builder: NestBuilder, node: Node) -> None:
        source = builder.type(node.inputs[0])
        gone = _axes(builder, node, len(source.shape))
        where = place(source.shape, gone, keepdims=_keepdims(node))
        fold = fold_of(elements(source.shape, gone))
        if source.dtype[0] in "iu" and fold.combine in ("sum", "prod"):
            fold = _in_doubles(fold, source.dtype)
        reduce_over(builder, node.outputs[0], node.inputs[:1], where, fold, source.dtype)

    return meaning


def _in_doubles(fold: Fold, dtype: str) -> Fold:
    """Return the fold of whole numbers in f64, as ONNX Runtime has it; what is too large is cut."""
    kind: Any = array_type(dtype)
    limits = np.iinfo(kind)
    most, least = int(limits.max), int(limits.min)

    def finish(total: Expr) -> Expr:
        result = fold.finish(total)
        # the greatest i64 is no f64: the next one above it is, and that is beyond the type
        high = call("where", call("less", result, like(result, float(most + 1))),
                    cast(result, dtype), Constant(most, dtype))  # fmt: skip
        low = call("less", result, like(result, float(least)))
        return call("where", low, Constant(least, dtype), high)

    return Fold(fold.combine, lambda x: fold.body(cast(x, "f64")), finish)


def log_sum_exp(builder: NestBuilder, node: Node) -> None:
    """Add the maximum, then the logarithm of the sum of exponentials below it."""
    source = builder.type(node.inputs[0])
    gone = _axes(builder, node, len(source.shape))
    where = place(source.shape, gone, keepdims=_keepdims(node))
    floating = source.dtype if source.dtype[0] in "fb" else "f64"
    highest = builder.fresh(f"{node.outputs[0]}.max")
    reduce_over(builder, highest, node.inputs[:1], where, Fold("max", finish=_finite), source.dtype)
    total = builder.fresh(f"{node.outputs[0]}.sum")
    fold = Fold("sum", body=_below if source.dtype == floating else _equals)
    reduce_over(builder, total, [node.inputs[0], highest], where, fold, wide_type(floating))
    _log_and_back(builder, node.outputs[0], total, highest, source.dtype)


def _log_and_back(builder: NestBuilder, output: str, total: str, highest: str, dtype: str) -> None:
    def scalar(x: Expr, most: Expr) -> Expr:
        return call("add", call("log", x), cast(most, x.dtype))

    pointwise(builder, output, [total, highest], scalar, dtype)


def _finite(highest: Expr) -> Expr:
    """Return the maximum, or zero where it is infinite: nothing must be subtracted then."""
    if highest.dtype[0] not in "fb":
        return highest
    return call("where", call("is_infinite", highest), like(highest, 0.0), highest)


def _below(x: Expr, most: Expr) -> Expr:
    """Return the exponential of how far a number is below the maximum."""
    kind = wide_type(x.dtype)
    return call("exp", call("subtract", cast(x, kind), cast(most, kind)))


def _equals(x: Expr, most: Expr) -> Expr:
    """Return the same for whole numbers, cut as by ONNX Runtime: 1 for the maximum, 0 below."""
    return call("where", call("equal", x, most), Constant(1.0, "f64"), Constant(0.0, "f64"))


def _keepdims(node: Node) -> bool:
    return bool(node.attributes.get("keepdims", 1))


def _axes(builder: NestBuilder, node: Node, rank: int) -> tuple[int, ...]:
    """Return the dimensions that go; all where none is named, unless the node says none."""
    named = node.attributes.get("axes", ())
    if node.input(1) is not None:
        named = builder.constant(node.input(1), "which axes it reduces").reshape(-1).tolist()
    if not len(named):
        return () if node.attributes.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return positive_axes(named, rank)


def _position(combine: Combine) -> Meaning:
    def meaning(builder: NestBuilder, node: Node) -> None:
        shape = builder.type(node.inputs[0]).shape
        axis = positive_axis(node.attributes.get("axis", 0), len(shape))
        where = place(shape, [axis], keepdims=bool(node.attributes.get("keepdims", 1)))
        last = bool(node.attributes.get("select_last_index", 0))
        best = best_of(builder, node.inputs[0], node.outputs[0], where, combine)
        side: Combine = "max" if last else "min"
        position_of(builder, node.outputs[0], node.inputs[0], best, where, side)

    return meaning


def best_of(
    builder: NestBuilder, source: str, output: str, where: ReductionPlace, combine: Combine
) -> str:
    """Add the nest of the greatest or least elements, and return what it writes."""
    best = builder.fresh(f"{output}.{combine}")
    return reduce_over(builder, best, [source], where, Fold(combine), builder.type(source).dtype)


def position_of(
    builder: NestBuilder,
    output: str,
    source: str,
    best: str,
    where: ReductionPlace,
    side: Combine,
) -> str:
    """Add the nest of the first (side `min`) or last position at which `best` is found.

    Positions count row-major over the reduced dimensions. NaN is found before all else.
    """
    shape, gone = builder.type(source).shape, where.gone
    count = elements(shape, gone)
    if not count:
        raise NotCoveredError("it looks for a position among no elements")
    if not where.reduced:
        return builder.add(output, where.spatial, [], Constant(0, "i64"))
    position = flatten([where.index[dim] for dim in gone], [shape[dim] for dim in gone])
    here: Expr = Coordinate(position)
    kind = builder.type(source).dtype
    x, most = wide(Argument(0, kind)), wide(Argument(1, kind))
    hit = call("equal", x, most)
    if kind[0] in "fb" and kind != "bool":
        hit = call("or", hit, call("is_nan", x))
    body = call("where", hit, here, Constant(count - 1 if side == "min" else 0, "i64"))
    reads = [
        Read(source, where.index),
        Read(best, tuple(at(axis) for axis in where.spatial)),
    ]
    return builder.add(output, where.spatial, reads, body, Reduction(where.reduced, side))


LONGEST = 1024
"""Elements; the work grows with the square, and above this a library's running sum is better."""


def _running(combine: Combine, neutral: int) -> Meaning:
    def meaning(builder: NestBuilder, node: Node) -> None:
        source, output = node.inputs[0], node.outputs[0]
        kind = builder.type(source)
        given = builder.constant(node.input(1), "its axis").reshape(-1)
        place = positive_axis(int(given[0]), len(kind.shape))
        extent = kind.shape[place]
        if extent > LONGEST:
            raise NotCoveredError(f"a running {combine} over {extent} elements")
        axes, inner = axes_for(kind.shape), Axis("r", extent)
        index = [at(axis) for axis in axes]
        ahead = index[place] - at(inner)
        if node.attributes.get("reverse", 0):
            ahead = ahead * -1
        first = 1 if node.attributes.get("exclusive", 0) else 0
        index[place] = at(inner)
        read = Read(source, tuple(index), (Guard(ahead, first, max(extent, 1)),), neutral)
        body = wide(Argument(0, kind.dtype))
        if extent == 1:
            builder.add(output, axes, [read], cast(body, kind.dtype))
            return
        finish = cast(Accumulated(body.dtype), kind.dtype)
        over = Reduction((inner,), combine, None if body.dtype == kind.dtype else finish)
        builder.add(output, axes, [read], body, over)

    return meaning


def _reduced(at: Operands) -> Sequence[Partial | None]:
    source, axes = at.shape(0), at.axes()
    if source is None or axes is None:
        return [None]
    if not axes and at.number("noop_with_empty_axes", 0):
        return [source]
    over = {positive_axis(axis, len(source)) for axis in axes} if axes else set(range(len(source)))
    if at.number("keepdims", 1):
        return [tuple(1 if axis in over else item for axis, item in enumerate(source))]
    return [tuple(item for axis, item in enumerate(source) if axis not in over)]


def _one_axis(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    if source is None:
        return [None]
    over = positive_axis(at.number("axis", 0), len(source))
    kept = (1,) if at.number("keepdims", 1) else ()
    return [(*source[:over], *kept, *source[over + 1 :])]


def _product_of_all(at: Operands) -> Partial | None:
    items = at.elements(0)
    does_nothing = at.axes() == () and at.number("noop_with_empty_axes", 0)
    if items is None or None in items or does_nothing:
        return None
    return (total(item for item in items if item is not None),)


_WORK = {"ReduceL2": 2, "ReduceSumSquare": 2, "ReduceLogSum": 2}
"""Operations for each element that is read; one where nothing is said."""
_UNFOLDED = ("ReduceL1", "ReduceLogSum")

register({
    name: Operator(shape=_reduced, work=each_input(_WORK.get(name, 1)),
                   value=_product_of_all if name == "ReduceProd" else None,
                   folds=None if name in _UNFOLDED else defined, loops=_reduction(fold_of))
    for name, fold_of in _FOLDS.items()
})  # fmt: skip
register(
    {
        "ReduceLogSumExp": Operator(shape=_reduced, work=each_input(12), loops=log_sum_exp),
        "ArgMax": Operator(_one_axis, always("i64"), work=each_input(1), loops=_position("max")),
        "ArgMin": Operator(_one_axis, always("i64"), work=each_input(1), loops=_position("min")),
        "CumSum": Operator(first, work=each_input(1), folds=defined, loops=_running("sum", 0)),
        "CumProd": Operator(first, loops=_running("prod", 1)),
    }
)
