"""Pooling over windows, and over everything: maxima, means and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from burnish.operators.loops.parameters import required
from burnish.operators.loops.products import Over, reduce_nest, widened
from burnish.operators.loops.windows import Side, fitting, padded_for, seen, sides, window_axes
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_input, then
from burnish.tile.expr import Argument, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.functions import identity
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.pointwise import like
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError


def max_pool(builder: NestBuilder, node: Node) -> None:
    """Add the greatest element of each window, and where it is in the data if that is wanted."""
    source = required(node, 0)
    windows = _windows(builder, node)
    dtype = builder.type(source).dtype
    padded = padded_for(builder, source, windows, identity("max", dtype))
    spatial, taps, read = _window_nest(builder, padded, windows)
    name = node.output(0) or builder.fresh(f"{node.outputs[1]}.max")
    over = Over("max", taps)
    reduce_nest(builder, name, spatial, [read], Argument(0, dtype), over)
    if (places := node.output(1)) is not None:
        _add_places(builder, node, places, (name, padded))


def average_pool(builder: NestBuilder, node: Node) -> None:
    """Add the mean of each window: of the data in it, or with `count_include_pad` also of zeros."""
    source = required(node, 0)
    windows = _windows(builder, node)
    padded = padded_for(builder, source, windows, 0)
    spatial, taps, read = _window_nest(builder, padded, windows)
    with_zeros = bool(node.attributes.get("count_include_pad", 0))
    whole = _whole_windows(builder, node)
    counts = [side.inside_padding if with_zeros else side.inside for side in whole]
    table = np.asarray(reduce(np.multiply.outer, counts)).astype(np.float64)
    reads = [read]
    if table.size and np.all(table == table.flat[0]):
        divisor: float | None = float(table.flat[0])
    else:
        divisor = None
        kind = np.float64 if builder.type(source).dtype == "f64" else np.float32
        name = builder.add_constant(table.astype(kind), f"{node.outputs[0]}.counts")
        reads.append(Read(name, tuple(map(at, spatial[2:]))))

    def finish(total: Expr) -> Expr:
        count = like(total, divisor) if divisor is not None else Argument(1, total.dtype)
        return cast(call("divide", total, count), builder.type(source).dtype)

    body = widened(builder, read, 0)
    reduce_nest(builder, node.outputs[0], spatial, reads, body, Over("sum", taps, finish))


def lp_pool(builder: NestBuilder, node: Node) -> None:
    """Add the p-norm of each window."""
    source = required(node, 0)
    windows = _windows(builder, node)
    padded = padded_for(builder, source, windows, 0)
    spatial, taps, read = _window_nest(builder, padded, windows)
    _add_norm(builder, node, (spatial, taps, read))


def global_max_pool(builder: NestBuilder, node: Node) -> None:
    """Add the greatest element of each channel."""
    spatial, reduced, read = _whole(builder, node)
    body = Argument(0, builder.type(read.tensor).dtype)
    reduce_nest(builder, node.outputs[0], spatial, [read], body, Over("max", reduced))


def global_average_pool(builder: NestBuilder, node: Node) -> None:
    """Add the mean of each channel."""
    spatial, reduced, read = _whole(builder, node)
    count = math.prod(axis.extent for axis in reduced)
    dtype = builder.type(read.tensor).dtype

    def finish(total: Expr) -> Expr:
        return cast(call("divide", total, like(total, float(count))), dtype)

    body = widened(builder, read, 0)
    reduce_nest(builder, node.outputs[0], spatial, [read], body, Over("sum", reduced, finish))


def global_lp_pool(builder: NestBuilder, node: Node) -> None:
    """Add the p-norm of each channel."""
    _add_norm(builder, node, _whole(builder, node))


Nest = tuple[tuple[Axis, ...], tuple[Axis, ...], Read]
"""The spatial axes, those that are reduced, and what is read."""


def _windows(builder: NestBuilder, node: Node) -> tuple[Side, ...]:
    """Return the windows, without what lies behind the data: it adds nothing to any of them."""
    return tuple(side.within for side in _whole_windows(builder, node))


def _whole_windows(builder: NestBuilder, node: Node) -> tuple[Side, ...]:
    _, _, *sizes = builder.type(required(node, 0)).shape
    kernel = node.attributes.get("kernel_shape")
    if kernel is None:
        raise NotCoveredError("it has no kernel_shape")
    found = sides(node.attributes, sizes, kernel)
    padded = str(node.attributes.get("auto_pad", "")).startswith("SAME")
    if padded and any(side.unseen_after > 0 for side in found):
        # the runtime takes the difference for a padding below nothing, and begins within the data
        raise NotCoveredError("its windows need not reach the end, and where they begin is open")
    return found


def _window_nest(builder: NestBuilder, padded: str, windows: Sequence[Side]) -> Nest:
    outputs, taps = window_axes(windows)
    batch, channels, *_ = builder.type(padded).shape
    n, c = Axis("n", batch), Axis("c", channels)
    read = Read(padded, (at(n), at(c), *seen(windows, outputs, taps)))
    return (n, c, *outputs), taps, read


def _whole(builder: NestBuilder, node: Node) -> Nest:
    source = required(node, 0)
    batch, channels, *sizes = builder.type(source).shape
    n, c = Axis("n", batch), Axis("c", channels)
    reduced = tuple(Axis(f"t{i}", size) for i, size in enumerate(sizes))
    ones = tuple(Axis(f"o{i}", 1) for i in range(len(sizes)))
    return (n, c, *ones), reduced, Read(source, (at(n), at(c), *map(at, reduced)))


def _add_norm(builder: NestBuilder, node: Node, nest: Nest) -> None:
    """Add (Σ |x|^p)^(1/p)."""
    spatial, reduced, read = nest
    dtype = builder.type(read.tensor).dtype
    p = float(node.attributes.get("p", 2))
    size = call("absolute", widened(builder, read, 0))
    powers: dict[float, Any] = {1.0: size, 2.0: call("multiply", size, size)}
    body = powers.get(p, call("power", size, like(size, p)))

    def finish(total: Expr) -> Expr:
        roots = {1.0: total, 2.0: call("sqrt", total)}
        return cast(roots.get(p, call("power", total, like(total, 1 / p))), dtype)

    reduce_nest(builder, node.outputs[0], spatial, [read], body, Over("sum", reduced, finish))


def _add_places(builder: NestBuilder, node: Node, places: str, tensors: tuple[str, str]) -> None:
    """Add the row-major place of the first element of each window that is its greatest."""
    greatest, padded = tensors
    shape = builder.type(required(node, 0)).shape
    windows = _windows(builder, node)
    spatial, taps, read = _window_nest(builder, padded, windows)
    inside = [part - side.before for part, side in zip(read.index[2:], windows, strict=True)]
    place = _place((*read.index[:2], *inside), shape, int(node.attributes.get("storage_order", 0)))
    dtype = builder.type(padded).dtype
    found = call("equal", Argument(0, dtype), Argument(1, dtype))
    guards = tuple(Guard(part, 0, size) for part, size in zip(inside, shape[2:], strict=True))
    last = math.prod(shape)
    body = call(
        "where",
        call("and", Inside(guards), found),
        Coordinate(place),
        like(Coordinate(place), last),
    )
    reads = [read, Read(greatest, tuple(map(at, spatial)))]
    reduce_nest(builder, places, spatial, reads, body, Over("min", taps))


def _place(index: Sequence[Index], shape: Sequence[int], column_major: int) -> Index:
    """Return the place in the whole tensor; column-major turns the order within a channel."""
    within = list(zip(index[2:], shape[2:], strict=True))
    result = index[0] * shape[1] + index[1]
    inner = Index()
    for part, size in reversed(within) if column_major else within:
        inner = inner * size + part
    return result * math.prod(shape[2:]) + inner


def _shape(at: Operands) -> Sequence[Partial | None]:
    source, window = at.shape(0), at.ints("kernel_shape")
    if source is None or not window:
        return [None]
    return [(*source[:2], *fitting(at, source[2:], window))] * at.wanted


def _channels_last_shape(at: Operands) -> Sequence[Partial | None]:
    source, window = at.shape(0), at.ints("kernel_shape")
    if source is None or not window:
        return [None]
    return [(source[0], *fitting(at, source[1:-1], window), source[-1])]


def _whole_shape(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    return [None if source is None else (*source[:2], *[1] * len(source[2:]))]


def _work(at: Operands) -> float:
    return float(math.prod(at.ints("kernel_shape")) * math.prod(at.out))


register(
    {
        "MaxPool": Operator(_shape, then("i64"), work=_work, loops=max_pool),
        "AveragePool": Operator(shape=_shape, work=_work, loops=average_pool),
        "LpPool": Operator(shape=_shape, work=_work, loops=lp_pool),
        "GlobalMaxPool": Operator(shape=_whole_shape, work=each_input(1), loops=global_max_pool),
        "GlobalAveragePool": Operator(
            shape=_whole_shape, work=each_input(1), loops=global_average_pool
        ),
        "GlobalLpPool": Operator(shape=_whole_shape, loops=global_lp_pool),
        "com.microsoft.NhwcMaxPool": Operator(shape=_channels_last_shape, work=_work),
    }
)
