"""The parts that every form of attention has: heads, scores, softmax, weighted values."""

from __future__ import annotations

import math

from burnish.operators.loops.products import Over, reduce_nest
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at, floor_divide, remainder
from burnish.tile.pointwise import like, pointwise, wide
from burnish.tile.reduction import Fold, place, reduce_over
from burnish.tile.semantics import NestBuilder, NotCoveredError, axes_for


def split_heads(builder: NestBuilder, source: str, heads: int | None, hint: str) -> str:
    """Return a tensor as (batch, heads, length, size); what has four dimensions is so already."""
    shape = builder.type(source).shape
    if len(shape) == 4:
        return source
    if len(shape) != 3 or not heads or shape[2] % heads:
        raise NotCoveredError(f"{heads} heads of a tensor of the shape {shape}")
    size = shape[2] // heads
    axes = axes_for((shape[0], heads, shape[1], size))
    index = (at(axes[0]), at(axes[2]), at(axes[1]) * size + at(axes[3]))
    return builder.view(builder.fresh(hint), source, index, axes)


def joined_heads(builder: NestBuilder, output: str, source: str) -> str:
    """Add (batch, length, heads · size), from (batch, heads, length, size)."""
    batch, heads, length, size = builder.type(source).shape
    axes = axes_for((batch, length, heads * size))
    parts = floor_divide(at(axes[2]), max(size, 1)), remainder(at(axes[2]), max(size, 1))
    return builder.view(output, source, (at(axes[0]), parts[0], at(axes[1]), parts[1]), axes)


def scores(builder: NestBuilder, query: str, key: str, factor: float, hint: str) -> str:
    """Add factor · query · keyᵀ, in the type that is computed with."""
    batch, heads, rows, size = builder.type(query).shape
    _, groups, columns, _ = builder.type(key).shape
    axes, inner = axes_for((batch, heads, rows, columns)), Axis("r3", size)
    group = floor_divide(at(axes[1]), _share(heads, groups))
    reads = [
        Read(query, (at(axes[0]), at(axes[1]), at(axes[2]), at(inner))),
        Read(key, (at(axes[0]), group, at(axes[3]), at(inner))),
    ]
    over = Over("sum", [inner], lambda total: _scaled(total, factor))
    name = builder.fresh(f"{hint}.scores")
    return reduce_nest(builder, name, axes, reads, _product(builder, reads), over)


def products(builder: NestBuilder, weights: str, value: str, output: str) -> str:
    """Add weights · value, in the type of the values."""
    batch, heads, rows, columns = builder.type(weights).shape
    _, groups, _, size = builder.type(value).shape
    axes, inner = axes_for((batch, heads, rows, size)), Axis("r3", columns)
    group = floor_divide(at(axes[1]), _share(heads, groups))
    reads = [
        Read(weights, (at(axes[0]), at(axes[1]), at(axes[2]), at(inner))),
        Read(value, (at(axes[0]), group, at(inner), at(axes[3]))),
    ]
    dtype = builder.type(value).dtype
    over = Over("sum", [inner], lambda total: cast(total, dtype))
    return reduce_nest(builder, output, axes, reads, _product(builder, reads), over)


def guarded_softmax(builder: NestBuilder, output: str, source: str, dims: tuple[int, ...]) -> str:
    """Add softmax in which a row of nothing but -inf becomes zero instead of NaN."""
    kind = builder.type(source)
    where = place(kind.shape, dims, keepdims=True)
    highest = builder.fresh(f"{output}.max")
    reduce_over(builder, highest, [source], where, Fold("max", finish=_finite), kind.dtype)
    powers = pointwise(
        builder, builder.fresh(f"{output}.exp"), [source, highest],
        lambda x, most: call("exp", call("subtract", x, most)),
    )  # fmt: skip
    total = builder.fresh(f"{output}.sum")
    reduce_over(builder, total, [powers], where, Fold("sum", finish=_not_zero), kind.dtype)
    return pointwise(builder, output, [powers, total], lambda x, whole: call("divide", x, whole))


def _finite(highest: Expr) -> Expr:
    least = like(highest, -math.inf)
    return call("where", call("equal", highest, least), like(highest, 0.0), highest)


def _not_zero(total: Expr) -> Expr:
    """Return a sum to divide by: each part of a sum that is zero is zero, whatever divides it."""
    return call("where", call("equal", total, like(total, 0.0)), like(total, 1.0), total)


def _product(builder: NestBuilder, reads: list[Read]) -> Expr:
    """Return the product of two reads, in the wider of their types."""
    left, right = (
        wide(Argument(position, builder.type(read.tensor).dtype))
        for position, read in enumerate(reads)
    )
    kind = "f64" if "f64" in (left.dtype, right.dtype) else "f32"
    return call("multiply", cast(left, kind), cast(right, kind))


def _share(heads: int, groups: int) -> int:
    """Return how many heads of the query use one of the key."""
    if not groups or heads % groups:
        raise NotCoveredError(f"{heads} heads of the query for {groups} of the key")
    return heads // groups


def _scaled(x: Expr, factor: float) -> Expr:
    return x if factor == 1.0 else call("multiply", x, like(x, factor))
