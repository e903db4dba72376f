"""Softmax, its logarithm, and the one-hot limit of it."""

from __future__ import annotations

from burnish.operators.families.reduction import best_of, position_of
from burnish.operators.record import Operator, register
from burnish.operators.rules import defined, each_output, first
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, call
from burnish.tile.graph import Read
from burnish.tile.index import at, flatten
from burnish.tile.pointwise import pointwise, positive_axis, wide_type
from burnish.tile.reduction import Fold, place, reduce_over
from burnish.tile.semantics import NestBuilder, Node, axes_for, broadcast_index


def softmax(builder: NestBuilder, node: Node) -> None:
    """Add the maximum, the exponentials below it, their sum, and the quotient."""
    dims = _normalized(builder, node)
    add_softmax(builder, node.outputs[0], node.inputs[0], dims, builder.type(node.inputs[0]).dtype)


def add_softmax(
    builder: NestBuilder, output: str, source: str, dims: tuple[int, ...], dtype: str
) -> str:
    """Add softmax over some dimensions, and return the output, whose type is `dtype`."""
    highest, shape = _highest(builder, output, source, dims), builder.type(source).shape
    kind = wide_type(builder.type(source).dtype)
    powers = pointwise(
        builder, builder.fresh(f"{output}.exp"), [source, highest],
        lambda x, most: call("exp", call("subtract", x, most)), kind,
    )  # fmt: skip
    total = builder.fresh(f"{output}.sum")
    reduce_over(builder, total, [powers], place(shape, dims, keepdims=True), Fold("sum"), kind)
    return pointwise(
        builder, output, [powers, total], lambda x, whole: call("divide", x, whole), dtype
    )


def log_softmax(builder: NestBuilder, node: Node) -> None:
    """Add the maximum, the sum of exponentials below it, and what is left of its logarithm."""
    dims, source, output = _normalized(builder, node), node.inputs[0], node.outputs[0]
    kind = builder.type(source)
    highest = _highest(builder, output, source, dims)
    total = builder.fresh(f"{output}.sum")
    fold = Fold("sum", body=lambda x, most: call("exp", call("subtract", x, most)))
    where = place(kind.shape, dims, keepdims=True)
    reduce_over(builder, total, [source, highest], where, fold, wide_type(kind.dtype))

    def scalar(x: Expr, most: Expr, whole: Expr) -> Expr:
        return call("subtract", call("subtract", x, most), call("log", whole))

    pointwise(builder, output, [source, highest, total], scalar)


def hardmax(builder: NestBuilder, node: Node) -> None:
    """Add the first position of the maximum, and one there, zero elsewhere."""
    dims, source, output = _normalized(builder, node), node.inputs[0], node.outputs[0]
    kind = builder.type(source)
    where = place(kind.shape, dims, keepdims=True)
    best = best_of(builder, source, output, where, "max")
    first = builder.fresh(f"{output}.position")
    position_of(builder, first, source, best, where, "min")
    axes = axes_for(kind.shape)
    here = flatten([at(axes[dim]) for dim in dims], [kind.shape[dim] for dim in dims])
    hit = call("equal", Coordinate(here), Argument(0, "i64"))
    body = call("where", hit, Constant(1, kind.dtype), Constant(0, kind.dtype))
    read = Read(first, broadcast_index(builder.type(first).shape, axes))
    builder.add(output, axes, [read], body)


def _highest(builder: NestBuilder, output: str, source: str, dims: tuple[int, ...]) -> str:
    kind = builder.type(source)
    where = place(kind.shape, dims, keepdims=True)
    name = builder.fresh(f"{output}.max")
    return reduce_over(builder, name, [source], where, Fold("max"), wide_type(kind.dtype))


def _normalized(builder: NestBuilder, node: Node) -> tuple[int, ...]:
    """Return the dimensions that are normalised: before opset 13 all from the axis on."""
    rank = len(builder.type(node.inputs[0]).shape)
    if node.opset >= 13:
        return (positive_axis(node.attributes.get("axis", -1), rank),)
    first = node.attributes.get("axis", 1)
    return tuple(range(first + rank if first < 0 else first, rank))


register(
    {
        "Softmax": Operator(shape=first, work=each_output(14), folds=defined, loops=softmax),
        "LogSoftmax": Operator(shape=first, work=each_output(14), loops=log_softmax),
        "Hardmax": Operator(shape=first, loops=hardmax),
    }
)
