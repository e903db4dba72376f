"""Fold what follows a convolution or a product with weights into the weights.

rewrite:
    BatchNormalization(Conv(x, w, b))   --> Conv(x, w·f, b·f + g)   f, g: one number per channel
    Conv(x, w, b) · f + g               --> Conv(x, w·f, b·f + g)

ConvTranspose, Gemm and MatMul likewise. New weights are computed when they are written or read,
not before, so that a large model is folded without being loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import algebra
from burnish.rewrite.algebra import expand, power, product
from burnish.rewrite.facts import FLOATS, Facts, rank, static_sizes
from burnish.rewrite.fusions import normalized
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

Doubles = npt.NDArray[np.float64]
LINEAR = ("Conv", "ConvTranspose", "Gemm", "MatMul")


@dataclass(frozen=True, slots=True)
class _ChannelAffine:
    """A node that multiplies by constant weights, and where the weights keep its channels."""

    node: ir.Node
    weight: ir.Value
    channels: int
    channel_axis: int


def _linear(node: ir.Node | None) -> _ChannelAffine | None:
    """Return the weights of a node, if they are constant and have an axis for each channel."""
    if node is None or not is_standard(node, *LINEAR) or len(node.inputs) < 2:
        return None
    weight = node.inputs[1]
    shape = None if weight is None else static_sizes(weight)
    if weight is None or shape is None or weight.dtype not in FLOATS:
        return None
    axis = _channel_axis(node, len(shape))
    if axis is None or constant_tensor(weight) is None or not _has_constant_bias(node):
        return None
    return _ChannelAffine(node, weight, shape[axis], axis)


def _channel_axis(node: ir.Node, axes: int) -> int | None:
    """Return the axis of the weights that becomes axis 1 of the result."""
    match node.op_type:
        case "Conv":
            return 0
        case "ConvTranspose":
            return 1 if node.attributes.get_int("group", 1) == 1 else None
        case "Gemm":
            plain = node.attributes.get_float("beta", 1.0) == 1
            return (0 if node.attributes.get_int("transB", 0) else 1) if plain else None
        case _:
            return 1 if axes == 2 and rank(node.outputs[0]) == 2 else None


def _has_constant_bias(node: ir.Node) -> bool:
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    return bias is None or (constant_tensor(bias) is not None and rank(bias) == 1)


def _is_read_once(value: ir.Value) -> bool:
    return len(value.uses()) == 1 and not value.is_graph_output()


def _find_batch_norm(norm: ir.Node, facts: Facts) -> Match | Refusal | None:
    source = norm.inputs[0]
    linear = None if source is None else _linear(source.producer())
    if not is_standard(norm, "BatchNormalization") or linear is None or source is None:
        return None
    if not _is_read_once(source):
        return Refusal(
            f"{linear.node.op_type} {linear.node.name!r} in front of BatchNormalization"
            f" {norm.name!r} is also read elsewhere",
            "nothing to gain here, unless the other reader can go",
        )
    if norm.attributes.get_int("training_mode", 0) or len(_named_outputs(norm)) > 1:
        return Refusal(
            f"BatchNormalization {norm.name!r} is in training mode, expected inference",
            "export the model after model.eval()",
        )
    parameters = [facts.array(value) for value in norm.inputs[1:5]]
    if any(array is None or array.shape != (linear.channels,) for array in parameters):
        return Refusal(
            f"the parameters of BatchNormalization {norm.name!r} are not constants of"
            f" {linear.channels} numbers",
            "store scale, bias, mean and variance as constants",
        )
    return Match((linear.node, norm), norm.outputs[0], {})


def _named_outputs(node: ir.Node) -> list[ir.Value]:
    return [value for value in node.outputs if value.uses() or value.is_graph_output()]


def _replace_batch_norm(match: Match, builder: Builder) -> ir.Value:
    node, norm = match.nodes
    scale, bias, mean, variance = (
        np.asarray(builder.facts.array(value), np.float64) for value in norm.inputs[1:5]
    )
    factor = scale / np.sqrt(variance + norm.attributes.get_float("epsilon", 1e-5))
    return _folded(node, builder, match.output, factor, bias - mean * factor)


def _find_affine(node: ir.Node, facts: Facts) -> Match | None:
    """Find the largest value that is a convolution times a scale plus a bias per channel."""
    linear = _linear(node)
    if linear is None or node.op_type not in ("Conv", "ConvTranspose"):
        return None
    result, best = node.outputs[0], None
    for value in algebra.results(result, _is_read_once, most=4):
        found = expand(value, [result], facts)
        scaled = [term for term in found.polynomial if (result, 1.0) in term]
        if len(scaled) != 1 or value.dtype != result.dtype or not _is_read_once(result):
            continue
        rest = {term: n for term, n in found.polynomial.items() if term != scaled[0]}
        scale = product(scaled[0], power(result, -1.0))
        affine = normalized.affine(scale, found.polynomial[scaled[0]], rest)
        if affine is None:
            continue
        values = {"scale": affine.scale, "bias": affine.bias}
        numbers = {"scale": affine.factor, "bias": affine.offset}
        if all(v is None or _per_channel(v, linear, facts) is not None for v in values.values()):
            best = Match(in_order([node], found.nodes), value, values, numbers)
    return best


def _per_channel(value: ir.Value, linear: _ChannelAffine, facts: Facts) -> Array | None:
    axes = rank(linear.node.outputs[0])
    if axes is None:
        return None
    return normalized.per_channel(value, linear.channels, axes, facts)


def _replace_affine(match: Match, builder: Builder) -> ir.Value:
    node = match.nodes[0]
    linear = _linear(node)
    if linear is None:
        raise ValueError(f"{node.name} has no constant weights")
    numbers: dict[str, Doubles] = {}
    for role, value in match.values.items():
        array = None if value is None else _per_channel(value, linear, builder.facts)
        same = np.full(linear.channels, float(match.attributes[role]))
        numbers[role] = same if array is None else array.astype(np.float64)
    return _folded(node, builder, match.output, numbers["scale"], numbers["bias"])


def _folded(
    node: ir.Node, builder: Builder, output: ir.Value, factor: Doubles, offset: Doubles
) -> ir.Value:
    """Return node(x) · factor + offset as the output of one node like `node`."""
    linear = _linear(node)
    if linear is None or linear.weight.dtype is None:
        raise ValueError(f"{node.name} has no constant weights")
    bias = constant_tensor(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
    shift = np.broadcast_to(offset, (linear.channels,))
    if bias is not None:
        shift = shift + np.broadcast_to(bias.numpy().astype(np.float64), shift.shape) * factor
    weight = linear.weight
    if (factor != 1).any():
        weight = builder.computed("weight", _scaled(linear, factor))
    bias_value = builder.constant("bias", shift.astype(linear.weight.dtype.numpy()))
    if node.op_type == "MatMul":
        return builder.node("Gemm", [node.inputs[0], weight, bias_value], like=output)
    inputs = [node.inputs[0], weight, bias_value]
    return builder.node(node.op_type, inputs, like=output, attributes=dict(node.attributes))


def _scaled(linear: _ChannelAffine, factor: Doubles) -> ir.LazyTensor:
    """Return weights with each channel multiplied by its factor, computed when they are read."""
    tensor, dtype = constant_tensor(linear.weight), linear.weight.dtype
    if tensor is None or dtype is None:
        raise ValueError(f"{linear.weight.name} is not constant")
    along = [1] * len(tensor.shape)
    along[linear.channel_axis] = linear.channels

    def compute() -> ir.Tensor[Array]:
        product = tensor.numpy().astype(np.float64) * factor.reshape(along)
        return ir.Tensor(product.astype(dtype.numpy()))

    return ir.LazyTensor(compute, dtype=dtype, shape=ir.Shape(tensor.shape.numpy()))


RULES = (
    Rule(
        "fold-batch-norm",
        "BatchNormalization(Conv(x, w, b)) --> Conv(x, w·f, b·f + g)",
        anchors=frozenset({"BatchNormalization"}),
        find=_find_batch_norm,
        replace=_replace_batch_norm,
    ),
    Rule(
        "fold-conv-affine",
        "Conv(x, w, b) · f + g --> Conv(x, w·f, b·f + g)",
        anchors=frozenset({"Conv", "ConvTranspose"}),
        find=_find_affine,
        replace=_replace_affine,
    ),
)
