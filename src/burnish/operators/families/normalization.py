"""Normalisation of the last dimensions: by mean and variance, or by the mean square alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators.families.conversion import copy_as
from burnish.operators.families.pad import padded
from burnish.operators.loops.parameters import required
from burnish.operators.loops.products import Over, reduce_nest, widened
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import each_output, first
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, fetched
from burnish.tile.pointwise import like, pointwise, positive_axis, wide, wide_type
from burnish.tile.reduction import Fold, elements, mean_of, place, reduce_over
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


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
    builder: NestBuilder, source: str, dims: tuple[int, ...], epsilon: float, hint: str
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


def layer_normalization(builder: NestBuilder, node: Node) -> None:
    """Add the mean, the deviation, and the scaled and shifted difference."""
    add_layer_norm(builder, node, node.inputs[0], [node.input(1), node.input(2)], (1, 2))


def skip_layer_normalization(builder: NestBuilder, node: Node) -> None:
    """Add a sum, its mean and deviation, and the scaled and shifted difference."""
    source = _skip_sum(builder, node, [node.input(0), node.input(1), node.input(4)])
    add_layer_norm(builder, node, source, [node.input(2), node.input(3)], (1, 2))


def rms_normalization(builder: NestBuilder, node: Node) -> None:
    """Add the root of the mean square, and the scaled quotient."""
    _add_rms_norm(builder, node, node.inputs[0], node.input(1), 1)


def skip_rms_normalization(builder: NestBuilder, node: Node) -> None:
    """Add a sum, the root of its mean square, and the scaled quotient."""
    source = _skip_sum(builder, node, [node.input(0), node.input(1), node.input(3)])
    if node.output(1) is not None:
        raise NotCoveredError("its mean, which it does not compute")
    _add_rms_norm(builder, node, source, node.input(2), 2)


def add_layer_norm(
    builder: NestBuilder,
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
    builder: NestBuilder, node: Node, source: str, scale: str | None, inverse_place: int
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


def _skip_sum(builder: NestBuilder, node: Node, parts: list[str | None]) -> str:
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


def _give_out(builder: NestBuilder, output: str | None, tensor: str) -> None:
    if output is not None:
        wanted = builder.wanted.get(output, builder.type(tensor))
        copy_as(builder, output, tensor, wanted.dtype)


def _last_dims(builder: NestBuilder, node: Node, source: str) -> tuple[int, ...]:
    rank = len(builder.type(source).shape)
    return tuple(range(positive_axis(node.attributes.get("axis", -1), rank), rank))


def _epsilon(node: Node) -> float:
    contrib = node.op_type.startswith(("Skip", "Embed"))
    return float(node.attributes.get("epsilon", 1e-12 if contrib else 1e-5))


def embed_layer_normalization(builder: NestBuilder, node: Node) -> None:
    """Add the sum of word, position and segment embeddings, and its normalisation."""
    if node.output(1) is not None:
        raise NotCoveredError("the number of valid tokens, which it gives out")
    ids, words, positions = node.inputs[0], node.inputs[2], node.inputs[3]
    axes = axes_for((*builder.type(ids).shape, builder.type(words).shape[1]))
    token = (at(axes[0]), at(axes[1]))
    reads = [
        _row(builder, words, ids, token, axes[2]),
        _position(builder, node, positions, axes),
    ]
    segments = node.input(4)
    if segments is not None:
        reads.append(_row(builder, segments, node.inputs[1], token, axes[2]))
    dtype = builder.type(words).dtype
    total: Expr = wide(Argument(0, dtype))
    for position, read in enumerate(reads[1:], start=1):
        total = call("add", total, wide(Argument(position, builder.type(read.tensor).dtype)))
    summed = node.output(2) or builder.fresh(f"{node.outputs[0]}.sum")
    builder.add(summed, axes, reads, cast(total, dtype))
    add_layer_norm(builder, node, summed, [node.input(5), node.input(6)], None)


def _row(
    builder: NestBuilder, table: str, ids: str, token: tuple[Index, ...], column: Axis
) -> Read:
    """Return the read of the table's row that a token names."""
    return Read(
        table, (fetched(ids, token, builder.type(table).shape[0], forward=True), at(column))
    )


def _position(builder: NestBuilder, node: Node, table: str, axes: tuple[Axis, ...]) -> Read:
    given = node.input(8)
    if given is None:
        return Read(table, (at(axes[1]), at(axes[2])))
    row = at(axes[0]) if builder.type(given).shape[0] != 1 else Index()
    return _row(builder, table, given, (row, at(axes[1])), axes[2])


def local_response_normalization(builder: NestBuilder, node: Node) -> None:
    """Add x / (bias + alpha / size · Σ squares of `size` channels around it) ^ beta."""
    source = required(node, 0)
    kind = builder.type(source)
    size = int(node.attributes["size"])
    alpha, beta = node.attributes.get("alpha", 0.0001), node.attributes.get("beta", 0.75)
    bias = node.attributes.get("bias", 1.0)
    before, others = (size - 1) // 2, [0] * (len(kind.shape) - 2)
    framed = padded(builder, source, [0, before, *others], [0, size - 1 - before, *others], 0)
    axes, tap = axes_for(kind.shape), Axis("t", size)
    reads = [
        Read(framed, (at(axes[0]), at(axes[1]) + at(tap), *map(at, axes[2:]))),
        Read(source, tuple(map(at, axes))),
    ]
    element = widened(builder, reads[0], 0)

    def finish(total: Expr) -> Expr:
        scaled = call("multiply", total, like(total, float(alpha) / size))
        divisor = call("power", call("add", scaled, like(total, bias)), like(total, beta))
        return cast(call("divide", widened(builder, reads[1], 1), divisor), kind.dtype)

    body = call("multiply", element, element)
    reduce_nest(builder, node.outputs[0], axes, reads, body, Over("sum", [tap], finish))


def _with_sum(at: Operands) -> Sequence[Partial | None]:
    """Return the shapes of the result and, as the fourth output, of the sum."""
    source = at.shape(0)
    inner = None if source is None else (*source[:-1], 1)
    return [source, inner, inner, source]


def _with_sum_types(at: Operands) -> Sequence[str | None]:
    return [at.type(0), "f32", "f32", at.type(0)]


def _with_moments(at: Operands) -> Sequence[Partial | None]:
    """Return the shapes of the result, and of the mean and deviation that were divided out."""
    source = at.shape(0)
    if source is None:
        return [None]
    axis = positive_axis(at.number("axis", -1), len(source))
    inner = (*source[:axis], *[1] * (len(source) - axis))
    return [source, inner, inner]


def _with_moments_types(at: Operands) -> Sequence[str | None]:
    stash = ONNX_NUMBERS.get(at.number("stash_type", 1))
    return [at.type(0), stash, stash]


def _embedded(at: Operands) -> Sequence[Partial | None]:
    ids, words = at.shape(0), at.shape(2)
    if ids is None or words is None:
        return [None]
    return [(*ids, words[1]), ids[:1], (*ids, words[1])]


def _embedded_types(at: Operands) -> Sequence[str | None]:
    return [at.type(2), "i32", at.type(2)]


_SIMPLIFIED = Operator(_with_moments, _with_moments_types, work=each_output(5),
                       loops=rms_normalization)  # fmt: skip

register(
    {
        "LayerNormalization": Operator(
            _with_moments, _with_moments_types, work=each_output(8), loops=layer_normalization
        ),
        "RMSNormalization SimplifiedLayerNormalization": _SIMPLIFIED,
        "com.microsoft.SimplifiedLayerNormalization": _SIMPLIFIED,
        "com.microsoft.SkipLayerNormalization": Operator(
            _with_sum, _with_sum_types, work=each_output(9), loops=skip_layer_normalization
        ),
        "com.microsoft.SkipSimplifiedLayerNormalization": Operator(
            _with_sum, _with_sum_types, work=each_output(6), loops=skip_rms_normalization
        ),
        "com.microsoft.EmbedLayerNormalization": Operator(
            _embedded, _embedded_types, loops=embed_layer_normalization
        ),
        "LRN": Operator(shape=first, work=each_output(12), loops=local_response_normalization),
    }
)
