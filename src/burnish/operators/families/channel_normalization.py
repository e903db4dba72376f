"""Normalisation per channel, per group of channels, or by stored statistics."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.operators.families.normalization import centred, inverse_deviation, moments, squared
from burnish.operators.record import Operator, register
from burnish.operators.rules import each_output, first
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide
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
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError, axes_for

_DEVIATION_FLOOR = 1e-9
"""What MeanVarianceNormalization adds to the deviation."""


def group_normalization(builder: NestBuilder, node: Node) -> None:
    """Add mean and deviation of each group; scale and shift are per channel (before 21: group)."""
    groups = int(node.attributes["num_groups"])
    _add_group_norm(builder, node, groups, scaled_by_group=node.opset < 21)


def instance_normalization(builder: NestBuilder, node: Node) -> None:
    """Add mean and deviation of each channel of each sample."""
    channels = builder.type(node.inputs[0]).shape[1]
    _add_group_norm(builder, node, channels, scaled_by_group=False)


def _add_group_norm(
    builder: NestBuilder, node: Node, groups: int, *, scaled_by_group: bool
) -> None:
    source, output = node.inputs[0], node.outputs[0]
    kind = builder.type(source)
    if len(kind.shape) < 2 or not groups or kind.shape[1] % groups:
        raise NotCoveredError(f"{groups} groups of the channels of {kind.shape}")
    size = kind.shape[1] // groups
    where = _groups(kind.shape, groups)
    count, computed = elements(kind.shape, range(2, len(kind.shape))) * size, wide_type(kind.dtype)
    average = Fold("sum", finish=mean_of(count))
    mean = reduce_over(builder, builder.fresh(f"{output}.mean"), [source], where, average, computed)
    fold = inverse_deviation(count, float(node.attributes.get("epsilon", 1e-5)))
    inverse = builder.fresh(f"{output}.inverse")
    reduce_over(builder, inverse, [source, mean], where, fold, computed)
    axes = axes_for(kind.shape)
    group = floor_divide(at(axes[1]), size)
    parameter = (group if scaled_by_group else at(axes[1]),)
    reads = [Read(name, (at(axes[0]), group)) for name in (mean, inverse)]
    reads += [Read(name, parameter) for name in node.inputs[1:3]]
    _add_scaled(builder, output, source, axes, reads)


def _groups(shape: Sequence[int], groups: int) -> ReductionPlace:
    """Return the loops over (sample, group) that reduce the rest of each."""
    n, g = axes_for((shape[0], groups))
    inner = [Axis("r1", shape[1] // groups)]
    inner += [Axis(f"r{dim}", shape[dim]) for dim in range(2, len(shape))]
    channel: Index = at(g) * (shape[1] // groups) + at(inner[0])
    index = (at(n), channel, *(at(axis) for axis in inner[1:]))
    reduced = tuple(axis for axis in inner if axis.extent != 1)
    return ReductionPlace((n, g), reduced, index, tuple(range(1, len(shape))))


def _add_scaled(
    builder: NestBuilder, output: str, source: str, axes: Sequence[Axis], reads: Sequence[Read]
) -> None:
    """Add (x - mean) · inverse · scale + shift, from the reads of these four."""
    dtype = builder.type(source).dtype
    computed = wide_type(dtype)
    every = [Read(source, tuple(at(axis) for axis in axes)), *reads]
    x, mean, inverse, scale, shift = (
        cast(wide(Argument(position, builder.type(read.tensor).dtype)), computed)
        for position, read in enumerate(every)
    )
    result = call("add", call("multiply", centred(x, mean, inverse), scale), shift)
    builder.add(output, axes, every, cast(result, dtype))


def batch_normalization(builder: NestBuilder, node: Node) -> None:
    """Add one factor and one summand per channel, and x · factor + summand.

    In training mode they are made of the data itself, as weights are standardised in some networks;
    the statistics that would be kept of it are left to a library.
    """
    if node.attributes.get("training_mode", 0) and not any(node.outputs[1:]):
        _add_batch_norm(builder, node)
        return
    _refuse_training(node)
    source, scale, shift, mean, variance = node.inputs[:5]
    kind, output = builder.type(source), node.outputs[0]
    if len(kind.shape) < 2:
        raise NotCoveredError("an input without channels")
    computed = wide_type(kind.dtype)
    epsilon = float(node.attributes.get("epsilon", 1e-5))

    def factor(by: Expr, spread: Expr) -> Expr:
        spread = cast(spread, computed)
        root = call("sqrt", call("add", spread, like(spread, epsilon)))
        return call("divide", cast(by, computed), root)

    def summand(start: Expr, middle: Expr, by: Expr) -> Expr:
        return call("subtract", cast(start, computed), call("multiply", cast(middle, computed), by))

    factors = builder.fresh(f"{output}.factor")
    pointwise(builder, factors, [scale, variance], factor, computed)
    summands = builder.fresh(f"{output}.summand")
    pointwise(builder, summands, [shift, mean, factors], summand, computed)
    axes = axes_for(kind.shape)
    reads = [Read(source, tuple(at(axis) for axis in axes))]
    reads += [Read(name, (at(axes[1]),)) for name in (factors, summands)]
    product = call("multiply", wide(Argument(0, kind.dtype)), Argument(1, computed))
    body = call("add", product, Argument(2, computed))
    builder.add(output, axes, reads, cast(body, kind.dtype))


def _add_batch_norm(builder: NestBuilder, node: Node) -> None:
    """Add mean and deviation of each channel over all samples, and the scaled difference."""
    source = node.inputs[0]
    shape = builder.type(source).shape
    if len(shape) < 2:
        raise NotCoveredError("an input without channels")
    dims, epsilon = (0, *range(2, len(shape))), float(node.attributes.get("epsilon", 1e-5))
    found = moments(builder, source, dims, epsilon, node.outputs[0])
    axes = axes_for(shape)
    kept = tuple(at(axis) if k == 1 else Index() for k, axis in enumerate(axes))
    reads = [Read(name, kept) for name in (found.mean, found.inverse)]
    reads += [Read(name, (at(axes[1]),)) for name in node.inputs[1:3]]
    _add_scaled(builder, node.outputs[0], source, axes, reads)


def _refuse_training(node: Node) -> None:
    if node.attributes.get("training_mode", 0) or any(node.outputs[1:]):
        raise NotCoveredError("it is in training mode, with statistics of the batch")
    if node.opset < 7 and not node.attributes.get("is_test", 0):
        raise NotCoveredError("it is in training mode, with statistics of the batch")
    if not node.attributes.get("spatial", 1):
        raise NotCoveredError("statistics per position (spatial = 0)")


def lp_normalization(builder: NestBuilder, node: Node) -> None:
    """Add the norm along one axis, and the quotient; zero where the norm is zero."""
    source, output = node.inputs[0], node.outputs[0]
    kind, order = builder.type(source), int(node.attributes.get("p", 2))
    if order not in (1, 2):
        raise NotCoveredError(f"the norm of order {order}")
    axis = positive_axis(node.attributes.get("axis", -1), len(kind.shape))
    fold = Fold("sum", lambda x: call("absolute", x))
    if order == 2:
        fold = Fold("sum", squared, lambda total: call("sqrt", total))
    norm = builder.fresh(f"{output}.norm")
    where = place(kind.shape, [axis], keepdims=True)
    reduce_over(builder, norm, [source], where, fold, wide_type(kind.dtype))

    def quotient(x: Expr, by: Expr) -> Expr:
        zero = like(by, 0.0)
        return call("where", call("equal", by, zero), zero, call("divide", x, by))

    pointwise(builder, output, [source, norm], quotient)


def mean_variance_normalization(builder: NestBuilder, node: Node) -> None:
    """Add mean and deviation over some axes, and the difference divided by the deviation."""
    source, output = node.inputs[0], node.outputs[0]
    dims = positive_axes(node.attributes.get("axes", (0, 2, 3)), len(builder.type(source).shape))
    found = moments(builder, source, dims, 0.0, output)

    def scalar(x: Expr, mean: Expr, inverse: Expr) -> Expr:
        deviation = call("add", call("reciprocal", inverse), like(inverse, _DEVIATION_FLOOR))
        return call("divide", call("subtract", x, mean), deviation)

    pointwise(builder, output, [source, found.mean, found.inverse], scalar)


def _like_first(loops: Meaning, operations: float) -> Operator:
    return Operator(shape=first, work=each_output(operations), loops=loops)


register(
    {
        "GroupNormalization": _like_first(group_normalization, 8),
        "InstanceNormalization": _like_first(instance_normalization, 8),
        "BatchNormalization": _like_first(batch_normalization, 2),
        "LpNormalization": _like_first(lp_normalization, 5),
        "MeanVarianceNormalization": _like_first(mean_variance_normalization, 8),
        "com.microsoft.GroupNorm": Operator(shape=first, work=each_output(8)),
    }
)
