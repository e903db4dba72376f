"""Convolutions of any rank: Conv, and the contrib operator FusedConv."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from burnish.operators.families.activation import hard_sigmoid, leaky_relu, relu
from burnish.operators.loops.integer_convolutions import integer_convolution
from burnish.operators.loops.integer_products import ByteOperand
from burnish.operators.loops.parameters import required
from burnish.operators.loops.products import Finish, contract, widened
from burnish.operators.loops.windows import Side, fitting, padded_for, seen, sides, window_axes
from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import always
from burnish.tile.expr import Argument, Expr, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide
from burnish.tile.pointwise import above, below, like
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


def conv(builder: NestBuilder, node: Node) -> None:
    """Add the sum over channels and taps, after a nest that pads.

    out[n, m, o] = bias[m] + Σ_c,t padded[n, first(m) + c, o·stride + t·dilation] · weight[m, c, t]
    """
    _convolution(builder, node, lambda total: total)


def fused_conv(builder: NestBuilder, node: Node) -> None:
    """Add the convolution, to it an optional fourth input, and then an activation."""
    _convolution(builder, node, _activation(node))


def _convolution(builder: NestBuilder, node: Node, activation: Finish) -> None:
    data, weight = required(node, 0), required(node, 1)
    batch, channels, *sizes = builder.type(data).shape
    maps, in_group, *kernel = builder.type(weight).shape
    groups = int(node.attributes.get("group", 1))
    if in_group * groups != channels or maps % groups:
        raise NotCoveredError(f"{channels} channels and {maps} maps are not cut into {groups}")
    windows, weight = _seeing(builder, sides(node.attributes, sizes, kernel), weight)
    outputs, taps = window_axes(windows)
    padded = padded_for(builder, data, windows, 0)
    n, m, c = Axis("n", batch), Axis("m", maps), Axis("c", in_group)
    channel = group_start(m, groups, in_group) + at(c)
    spatial = (n, m, *outputs)
    reads = [
        Read(padded, (at(n), channel, *seen(windows, outputs, taps))),
        Read(weight, (at(m), at(c), *map(at, taps))),
    ]
    if (bias := node.input(2)) is not None:
        reads.append(Read(bias, (at(m),)))
    if (other := node.input(3)) is not None:
        reads.append(Read(other, tuple(map(at, spatial))))

    def finish(total: Expr) -> Expr:
        for position in range(2, len(reads)):
            total = call("add", total, widened(builder, reads[position], position))
        return activation(total)

    contract(builder, node.outputs[0], spatial, reads, (c, *taps), finish)


def _seeing(
    builder: NestBuilder, windows: Sequence[Side], weight: str
) -> tuple[tuple[Side, ...], str]:
    """Return windows and weights without the taps at their ends that see nothing but padding.

    Taps that are as far apart as the image is wide leave one of nine.
    """
    first = [side.within.unseeing for side in windows]
    found = tuple(s.within.without(taps) for s, taps in zip(windows, first, strict=True))
    kind = builder.type(weight)
    shape = (*kind.shape[:2], *(side.kernel for side in found))
    if shape == kind.shape:
        return found, weight
    axes = axes_for(shape)
    there = (*map(at, axes[:2]), *(at(a) + taps for a, taps in zip(axes[2:], first, strict=True)))
    name = builder.fresh(f"{weight}.seeing")
    return found, builder.add(name, axes, [Read(weight, there)], Argument(0, kind.dtype))


def conv_integer(builder: NestBuilder, node: Node) -> None:
    """Add the convolution of bytes less their zero points, in 32 bits."""
    operands = (
        ByteOperand(required(node, 0), node.input(2)),
        ByteOperand(required(node, 1), node.input(3)),
    )
    integer_convolution(builder, node.outputs[0], operands, node.attributes, lambda total, _: total)


def group_start(maps: Axis, groups: int, in_group: int) -> Index:
    """Return the first channel of the group that a map belongs to."""
    if groups == 1:
        return Index()
    return floor_divide(at(maps), maps.extent // groups) * in_group


def _activation(node: Node) -> Finish:
    name = node.attributes.get("activation") or ""
    parameters = [float(each) for each in node.attributes.get("activation_params") or ()]
    if not name:
        return lambda total: total
    if name not in _ACTIVATIONS:
        raise NotCoveredError(f"its activation is {name!r}")
    return lambda total: _ACTIVATIONS[name](total, *parameters)


_ACTIVATIONS: Mapping[str, Callable[..., Expr]] = {
    "Relu": relu,
    "LeakyRelu": leaky_relu,
    "Clip": lambda x, low, high: below(above(x, like(x, low)), like(x, high)),
    "HardSigmoid": hard_sigmoid,
    "Sigmoid": lambda x: call("sigmoid", x),
    "Tanh": lambda x: call("tanh", x),
}


def _shape(at: Operands) -> Sequence[Partial | None]:
    """Return as many channels as the weights have rows, and as many places as windows fit."""
    source, weight = at.shape(0), at.shape(1)
    if source is None or weight is None:
        return [None]
    return [(source[0], weight[0], *fitting(at, source[2:], weight[2:]))]


def _channels_last_shape(at: Operands) -> Sequence[Partial | None]:
    source, weight = at.shape(0), at.shape(1)
    if source is None or weight is None:
        return [None]
    return [(source[0], *fitting(at, source[1:-1], weight[2:]), weight[0])]


def _work(at: Operands) -> float:
    return (2.0 * math.prod(at.sizes(1)[1:]) + at.given(2)) * math.prod(at.out)


def _blocked_work(at: Operands) -> float:
    """Return the count of ONNX Runtime's own layout, whose weights are padded to whole blocks."""
    return 2.0 * math.prod(at.sizes(1)[1:]) * math.prod(at.out)


register(
    {
        "Conv": Operator(shape=_shape, work=_work, loops=conv),
        "com.microsoft.FusedConv": Operator(shape=_shape, work=_work, loops=fused_conv),
        "com.microsoft.nchwc.Conv": Operator(shape=_shape, work=_blocked_work),
        "com.microsoft.NhwcFusedConv": Operator(shape=_channels_last_shape, work=_work),
        "ConvInteger": Operator(
            _shape, always("i32"), work=_work, computes="i8", loops=conv_integer
        ),
    }
)
