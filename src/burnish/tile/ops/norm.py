"""Normalisation of the last dimensions: by mean and variance, or by the mean square alone."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.tile.expr import Expr, call
from burnish.tile.ops.cast import copy_as
from burnish.tile.pointwise import like, pointwise, positive_axis, wide_type
from burnish.tile.reduction import Fold, elements, mean_of, place, reduce_over
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError


@dataclass(frozen=True, slots=True)
class Moments:
    """The tensors of means and of reciprocal deviations; dimensions are kept, with one element."""

    mean: str
    inverse: str


def squared(x: Expr) -> Expr:
    """Return x · x."""
    return call("multiply", x, x)


def squared_difference(x: Expr, mean: Expr) -> Expr:
    """Return (x - mean)²."""
    return squared(call("subtract", x, mean))


def centred(x: Expr, mean: Expr, inverse: Expr) -> Expr:
    """Return (x - mean) · inverse."""
    return call("multiply", call("subtract", x, mean), inverse)


def inverse_deviation(count: int, epsilon: float) -> Fold:
    """Return the fold of squares into 1 / sqrt(mean + epsilon); operands: x, and maybe its mean."""

    def finish(total: Expr) -> Expr:
        raised = call("add", mean_of(count)(total), like(total, epsilon))
        return call("reciprocal", call("sqrt", raised))

    def body(x: Expr, *mean: Expr) -> Expr:
        return squared_difference(x, *mean) if mean else squared(x)

    return Fold("sum", body, finish)


def moments(
    builder: Builder, source: str, dims: tuple[int, ...], epsilon: float, hint: str
) -> Moments:
    """Add the means over some dimensions and the reciprocals of the deviations from them."""
    kind = builder.type(source)
    count, where = elements(kind.shape, dims), place(kind.shape, dims, keepdims=True)
    computed = wide_type(kind.dtype)
    average = Fold("sum", finish=mean_of(count))
    mean = reduce_over(builder, builder.fresh(f"{hint}.mean"), [source], where, average, computed)
    inverse = builder.fresh(f"{hint}.inverse")
    fold = inverse_deviation(count, epsilon)
    return Moments(mean, reduce_over(builder, inverse, [source, mean], where, fold, computed))


@SEMANTICS.register("LayerNormalization")
def layer_normalization(builder: Builder, node: Node) -> None:
    """Add the mean, the deviation, and the scaled and shifted difference."""
    add_layer_norm(builder, node, node.inputs[0], [node.input(1), node.input(2)], (1, 2))


@SEMANTICS.register("com.microsoft.SkipLayerNormalization")
def skip_layer_normalization(builder: Builder, node: Node) -> None:
    """Add a sum, its mean and deviation, and the scaled and shifted difference."""
    source = _skip_sum(builder, node, [node.input(0), node.input(1), node.input(4)])
    add_layer_norm(builder, node, source, [node.input(2), node.input(3)], (1, 2))


@SEMANTICS.register("RMSNormalization")
@SEMANTICS.register("SimplifiedLayerNormalization")
@SEMANTICS.register("com.microsoft.SimplifiedLayerNormalization")
def rms_normalization(builder: Builder, node: Node) -> None:
    """Add the root of the mean square, and the scaled quotient."""
    _add_rms_norm(builder, node, node.inputs[0], node.input(1), 1)


@SEMANTICS.register("com.microsoft.SkipSimplifiedLayerNormalization")
def skip_rms_normalization(builder: Builder, node: Node) -> None:
    """Add a sum, the root of its mean square, and the scaled quotient."""
    source = _skip_sum(builder, node, [node.input(0), node.input(1), node.input(3)])
    if node.output(1) is not None:
        raise NotCoveredError("its mean, which it does not compute")
    _add_rms_norm(builder, node, source, node.input(2), 2)


def add_layer_norm(
    builder: Builder,
    node: Node,
    source: str,
    parameters: list[str | None],
    places: tuple[int, int] | None,
) -> None:
    """Add the normalisation; `places` are the node's outputs for mean and deviation, if any."""
    output, (scale, shift) = node.outputs[0], parameters
    dtype = builder.type(scale or source).dtype
    found = moments(builder, source, _last_dims(builder, node, source), _epsilon(node), output)
    operands = [source, found.mean, found.inverse, *filter(None, (scale, shift))]

    def scalar(x: Expr, mean: Expr, inverse: Expr, *given: Expr) -> Expr:
        left = list(given)
        result = centred(x, mean, inverse)
        result = result if scale is None else call("multiply", result, left.pop(0))
        return result if shift is None else call("add", result, left.pop(0))

    pointwise(builder, output, operands, scalar, dtype)
    for output_place, tensor in zip(places or (), (found.mean, found.inverse), strict=False):
        _give_out(builder, node.output(output_place), tensor)


def _add_rms_norm(
    builder: Builder, node: Node, source: str, scale: str | None, inverse_place: int
) -> None:
    kind, output = builder.type(source), node.outputs[0]
    dims = _last_dims(builder, node, source)
    where = place(kind.shape, dims, keepdims=True)
    fold = inverse_deviation(elements(kind.shape, dims), _epsilon(node))
    inverse = builder.fresh(f"{output}.inverse")
    reduce_over(builder, inverse, [source], where, fold, wide_type(kind.dtype))

    def scalar(x: Expr, by: Expr, *given: Expr) -> Expr:
        normal = call("multiply", x, by)
        return call("multiply", normal, *given) if given else normal

    operands = [source, inverse, *filter(None, (scale,))]
    pointwise(builder, output, operands, scalar, builder.type(node.inputs[0]).dtype)
    _give_out(builder, node.output(inverse_place), inverse)


def _skip_sum(builder: Builder, node: Node, parts: list[str | None]) -> str:
    """Add the sum that is normalised; it is the node's fourth output where that is wanted."""
    given = [name for name in parts if name is not None]
    dtype = builder.type(given[0]).dtype
    wanted = node.output(3)
    name = wanted or builder.fresh(f"{node.outputs[0]}.sum")

    def total(x: Expr, *others: Expr) -> Expr:
        for other in others:
            x = call("add", x, other)
        return x

    return pointwise(builder, name, given, total, dtype if wanted else wide_type(dtype))


def _give_out(builder: Builder, output: str | None, tensor: str) -> None:
    if output is not None:
        wanted = builder.wanted.get(output, builder.type(tensor))
        copy_as(builder, output, tensor, wanted.dtype)


def _last_dims(builder: Builder, node: Node, source: str) -> tuple[int, ...]:
    rank = len(builder.type(source).shape)
    return tuple(range(positive_axis(node.attributes.get("axis", -1), rank), rank))


def _epsilon(node: Node) -> float:
    contrib = node.op_type.startswith(("Skip", "Embed"))
    return float(node.attributes.get("epsilon", 1e-12 if contrib else 1e-5))
