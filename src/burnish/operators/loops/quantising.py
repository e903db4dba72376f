"""Numbers as bytes whose scale is found while running: their span, its step, and each rounded."""

from __future__ import annotations

import numpy as np

from burnish.core.array_types import array_type
from burnish.tile.expr import Constant, Expr, call, cast
from burnish.tile.graph import Combine
from burnish.tile.pointwise import like, pointwise
from burnish.tile.reduction import Fold, place, reduce_over
from burnish.tile.semantics import NestBuilder, NotCoveredError

LEAST, MOST = 0.0, 255.0


def rounded(value: Expr, zero: Expr | None, dtype: str) -> Expr:
    """Return numbers in steps as integers: to the nearest, halves to even, cut at the ends."""
    common = value.dtype
    whole = call("round", value)
    if zero is not None:
        whole = call("add", whole, cast(zero, common))
    limits = np.iinfo(np.dtype(str(array_type(dtype))))
    whole = call("maximum", whole, Constant(float(limits.min), common))
    whole = call("minimum", whole, Constant(float(limits.max), common))
    return cast(whole, dtype)


def quantise_dynamically(
    builder: NestBuilder, source: str, outputs: tuple[str | None, str | None, str | None]
) -> tuple[str, str, str]:
    """Add a tensor's bytes, their step and their zero point; outputs that have no name get one.

    The span from the least to the greatest element, and always zero, is 255 steps.
    """
    if builder.type(source).dtype != "f32":
        raise NotCoveredError(f"it quantises {builder.type(source).dtype}")
    data, step, zero = (
        name or builder.fresh(f"{source}.{what}")
        for name, what in zip(outputs, ("bytes", "step", "zero"), strict=True)
    )
    low, high = _end(builder, source, "min"), _end(builder, source, "max")
    pointwise(builder, step, [low, high], _step)
    pointwise(builder, zero, [low, step], _zero, "u8")
    pointwise(builder, data, [source, step, zero], _rounded, "u8")
    return data, step, zero


def _end(builder: NestBuilder, source: str, combine: Combine) -> str:
    """Add one end of a tensor's span: that of each row, which its maker can tell, then of all."""
    shape = builder.type(source).shape
    found, limit = source, "minimum" if combine == "min" else "maximum"
    if len(shape) > 1:
        last = (len(shape) - 1,)
        rows = place(shape, last, keepdims=False)
        name = builder.fresh(f"{source}.{combine}s")
        found = reduce_over(builder, name, [source], rows, Fold(combine), "f32")
    every = tuple(range(len(builder.type(found).shape)))
    whole = place(builder.type(found).shape, every, keepdims=False)
    name = builder.fresh(f"{source}.{combine}")
    fold = Fold(combine, finish=lambda end: call(limit, end, like(end, 0.0)))
    return reduce_over(builder, name, [found], whole, fold, "f32")


def _step(low: Expr, high: Expr) -> Expr:
    """Return the span's 255th part; one where all elements are zero."""
    part = call("divide", call("subtract", high, low), like(low, MOST - LEAST))
    return call("where", call("equal", high, low), like(low, 1.0), part)


def _zero(low: Expr, step: Expr) -> Expr:
    """Return the byte that stands for zero."""
    place = call("subtract", like(low, LEAST), call("divide", low, step))
    return _as_byte(call("round", place))


def _rounded(x: Expr, step: Expr, zero: Expr) -> Expr:
    nearest = call("round", call("divide", x, step))
    return _as_byte(call("add", nearest, cast(zero, "f32")))


def _as_byte(value: Expr) -> Expr:
    """Return a whole number, cut at the ends of a byte."""
    above = call("maximum", value, Constant(LEAST, value.dtype))
    return call("minimum", above, Constant(MOST, value.dtype))
