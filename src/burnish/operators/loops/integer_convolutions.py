"""Convolutions of 8-bit integers with zero points, as sums of products of plain bytes.

    Σ_c,t (x - p)·w  =  Σ x·w  -  p · Σ w

What lies outside of the data counts as zero, which is `p` in bytes: that is padded with, so the
sums of the weights are the same for every window. Sums are those of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burnish.operators.loops.integer_products import ByteOperand, one_or_each, signed, unsigned
from burnish.operators.loops.products import Over, reduce_nest
from burnish.operators.loops.windows import padded_for, seen, sides, window_axes
from burnish.tile.expr import Argument, Constant, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide
from burnish.tile.semantics import NestBuilder, NotCoveredError

Finish = Callable[[Expr, Callable[[str], Expr]], Expr]
"""What follows the sum, given how what each map has (a scale, a bias) is read beside it."""


def integer_convolution(
    builder: NestBuilder,
    output: str,
    operands: tuple[ByteOperand, ByteOperand],
    attributes: Mapping[str, Any],
    finish: Finish,
) -> str:
    """Add the convolution of bytes, and what follows it."""
    data, weight = unsigned(builder, operands[0]), signed(builder, operands[1])
    zero = _zero(builder, data)
    if _zeros(builder, weight).any():
        raise NotCoveredError("its weights have zero points")
    spatial, reduced, reads = _places(builder, (data.tensor, weight.tensor), zero, attributes)
    body = call("multiply", cast(Argument(0, "u8"), "i32"), cast(Argument(1, "i8"), "i32"))

    def beside(tensor: str) -> Expr:
        reads.append(Read(tensor, one_or_each(builder.type(tensor).shape, spatial[1])))
        return Argument(len(reads) - 1, builder.type(tensor).dtype)

    def total_of(total: Expr) -> Expr:
        if zero:
            sums = beside(_sums(builder, weight.tensor))
            total = call("subtract", total, call("multiply", Constant(zero, "i32"), sums))
        return finish(total, beside)

    return reduce_nest(builder, output, spatial, reads, body, Over("sum", reduced, total_of))


def _places(
    builder: NestBuilder, tensors: tuple[str, str], zero: int, attributes: Mapping[str, Any]
) -> tuple[tuple[Axis, ...], tuple[Axis, ...], list[Read]]:
    """Return the axes of the result and of the sum, and where data and weights are read."""
    batch, channels, *sizes = builder.type(tensors[0]).shape
    maps, in_group, *kernel = builder.type(tensors[1]).shape
    groups = int(attributes.get("group", 1))
    if in_group * groups != channels or maps % groups:
        raise NotCoveredError(f"{channels} channels and {maps} maps are not cut into {groups}")
    windows = sides(attributes, sizes, kernel)
    outputs, taps = window_axes(windows)
    padded = padded_for(builder, tensors[0], windows, zero)
    n, m, c = Axis("n", batch), Axis("m", maps), Axis("c", in_group)
    first = Index() if groups == 1 else floor_divide(at(m), maps // groups) * in_group
    reads = [
        Read(padded, (at(n), first + at(c), *seen(windows, outputs, taps))),
        Read(tensors[1], (at(m), at(c), *map(at, taps))),
    ]
    return (n, m, *outputs), (c, *taps), reads


def _zero(builder: NestBuilder, operand: ByteOperand) -> int:
    """Return the byte that stands for zero in the data."""
    found = _zeros(builder, operand)
    if found.size != 1:
        raise NotCoveredError("its data has several zero points")
    return int(found.reshape(()))


def _zeros(builder: NestBuilder, operand: ByteOperand) -> np.ndarray[Any, np.dtype[np.int32]]:
    if operand.zero is None:
        return np.full(1, operand.moved_by, np.int32)
    found = builder.constant(operand.zero, "its zero point")
    return np.asarray(found.astype(np.int32) + operand.moved_by, np.int32)


def _sums(builder: NestBuilder, weight: str) -> str:
    """Return the sum of each map's weights."""
    maps, *rest = builder.type(weight).shape
    m, inner = Axis("m", maps), [Axis(f"k{place}", size) for place, size in enumerate(rest)]
    read = Read(weight, (at(m), *map(at, inner)))
    body = cast(Argument(0, "i8"), "i32")
    name = builder.fresh(f"{weight}.sums")
    return reduce_nest(builder, name, (m,), [read], body, Over("sum", inner))
