"""Reductions over any axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burnish.store.element_types import numpy_type
from burnish.tile.expr import Constant, Expr, call, cast
from burnish.tile.pointwise import like, pointwise, wide_type
from burnish.tile.reduction import (
    Fold,
    elements,
    mean_of,
    place,
    positive_axes,
    reduce_over,
)
from burnish.tile.semantics import SEMANTICS, Builder, Meaning, Node

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
    def meaning(builder: Builder, node: Node) -> None:
        source = builder.type(node.inputs[0])
        gone = _axes(builder, node, len(source.shape))
        where = place(source.shape, gone, keepdims=_keepdims(node))
        fold = fold_of(elements(source.shape, gone))
        if source.dtype[0] in "iu" and fold.combine in ("sum", "prod"):
            fold = _in_doubles(fold, source.dtype)
        reduce_over(builder, node.outputs[0], node.inputs[:1], where, fold, source.dtype)

    return meaning


for _operator, _fold_of in _FOLDS.items():
    SEMANTICS.register(_operator)(_reduction(_fold_of))


def _in_doubles(fold: Fold, dtype: str) -> Fold:
    """Return the fold of whole numbers in f64, as ONNX Runtime has it; what is too large is cut."""
    kind: Any = numpy_type(dtype)
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


@SEMANTICS.register("ReduceLogSumExp")
def log_sum_exp(builder: Builder, node: Node) -> None:
    """Add the maximum, then the logarithm of the sum of exponentials below it."""
    source = builder.type(node.inputs[0])
    gone = _axes(builder, node, len(source.shape))
    where = place(source.shape, gone, keepdims=_keepdims(node))
    floating = source.dtype if source.dtype[0] in "fb" else "f64"
    highest = builder.fresh(f"{node.outputs[0]}.max")
    reduce_over(builder, highest, node.inputs[:1], where, Fold("max", finish=_finite), source.dtype)
    total = builder.fresh(f"{node.outputs[0]}.sum")
    fold = Fold("sum", body=lambda x, most: call("exp", _difference(x, most, floating)))
    reduce_over(builder, total, [node.inputs[0], highest], where, fold, wide_type(floating))
    _log_and_back(builder, node.outputs[0], total, highest, source.dtype)


def _log_and_back(builder: Builder, output: str, total: str, highest: str, dtype: str) -> None:
    def scalar(x: Expr, most: Expr) -> Expr:
        return call("add", call("log", x), cast(most, x.dtype))

    pointwise(builder, output, [total, highest], scalar, dtype)


def _finite(highest: Expr) -> Expr:
    """Return the maximum, or zero where it is infinite: nothing must be subtracted then."""
    if highest.dtype[0] not in "fb":
        return highest
    return call("where", call("is_infinite", highest), like(highest, 0.0), highest)


def _difference(x: Expr, most: Expr, floating: str) -> Expr:
    kind = wide_type(floating)
    return call("subtract", cast(x, kind), cast(most, kind))


def _keepdims(node: Node) -> bool:
    return bool(node.attributes.get("keepdims", 1))


def _axes(builder: Builder, node: Node, rank: int) -> tuple[int, ...]:
    """Return the dimensions that go; all where none is named, unless the node says none."""
    named = node.attributes.get("axes", ())
    if node.input(1) is not None:
        named = builder.constant(node.input(1), "which axes it reduces").reshape(-1).tolist()
    if not len(named):
        return () if node.attributes.get("noop_with_empty_axes", 0) else tuple(range(rank))
    return positive_axes(named, rank)
