"""Axes through operators that work on each element by itself, or along axes that then must stay."""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer import walk
from burnish.prune.flow import RULES, Axes, Flow

_EACH = """
Identity Cast CastLike Dropout Relu LeakyRelu PRelu Elu Selu Celu ThresholdedRelu Gelu Erf Tanh
Sigmoid HardSigmoid HardSwish Mish Swish Softplus Softsign Exp Log Sqrt Reciprocal Neg Abs Sign
Floor Ceil Round Sin Cos Clip Not IsNaN Add Sub Mul Div Pow Sum Mean Min Max Mod Where Equal Less
LessOrEqual Greater GreaterOrEqual And Or Xor
com.microsoft.Gelu com.microsoft.FastGelu com.microsoft.BiasGelu com.microsoft.QuickGelu
com.microsoft.BiasAdd com.microsoft.BiasDropout
"""


def inputs(flow: Flow, node: ir.Node) -> list[Axes]:
    """Return the axes of all inputs that are there."""
    return [axes for value in node.inputs if value is not None for axes in [flow.of(value)] if axes]


def stretched(flow: Flow, node: ir.Node) -> None:
    """Join all operands from the last axis on, as they are stretched to one another."""
    axes = flow.fresh(node.outputs[0]) or ()
    for operand in inputs(flow, node):
        for own, other in zip(reversed(axes), reversed(operand), strict=False):
            flow.join(own, other, node)
    flow.give(node.outputs[0], axes, "")


def _axis(node: ir.Node, default: int) -> int:
    attribute = node.attributes.get("axis")
    return default if attribute is None else attribute.as_int()


def along_last(flow: Flow, node: ir.Node) -> None:
    """Pin what is normalised together; the rest is as before."""
    value = node.inputs[0]
    assert value is not None
    axes = flow.of(value) or ()
    softmax = node.op_type in ("Softmax", "LogSoftmax")
    first = _axis(node, -1) % max(len(axes), 1)
    alone = softmax and (flow.constants.opset >= 13 or first == len(axes) - 1)
    for axis in axes[first : first + 1 if alone else None]:
        flow.pin(axis, node, "normalises over it")
    for operand in inputs(flow, node)[1:]:
        for own, other in zip(reversed(axes), reversed(operand), strict=False):
            flow.join(own, other, node)
    _like_first(flow, node, axes)


def _like_first(flow: Flow, node: ir.Node, axes: Axes) -> None:
    for output in node.outputs:
        if flow.shape(output) == flow.shape(node.inputs[0] or output):
            flow.give(output, axes, "")


def channels(flow: Flow, node: ir.Node) -> None:
    """Batches and channels are as before; what each channel is scaled with goes with it."""
    value = node.inputs[0]
    assert value is not None
    axes = flow.of(value) or ()
    for axis in axes[2:]:
        flow.pin(axis, node, "reads along it")
    for parameters in inputs(flow, node)[1:]:
        if node.op_type in ("BatchNormalization", "InstanceNormalization"):
            flow.join(axes[1], parameters[0], node)
    for output in node.outputs[:1]:
        fresh = flow.fresh(output, f"{node.op_type} makes it") or ()
        flow.give(output, (*axes[:2], *fresh[2:]), f"{node.op_type} changes its size")
    if node.op_type == "Resize" and len(node.inputs) > 3 and node.inputs[3] is not None:
        flow.state(node, 3, 1, axes[1])


def reduced(flow: Flow, node: ir.Node) -> None:
    """Pin the axes that are reduced; the others are as before."""
    value = node.inputs[0]
    assert value is not None
    axes = flow.of(value) or ()
    given = walk.ints(node, "axes")
    if given is None and len(node.inputs) > 1 and node.inputs[1] is not None:
        given = flow.constants.integers(node.inputs[1])
        if given is None:
            flow.unknown(node, "reduces axes that are not constant")
            return
    gone = {axis % len(axes) for axis in given or range(len(axes))}
    for axis in gone:
        flow.pin(axes[axis], node, "reduces it")
    kept = "keepdims" not in node.attributes or node.attributes["keepdims"].as_int() != 0
    left = [axes[i] if i not in gone else () for i in range(len(axes)) if kept or i not in gone]
    flow.give(node.outputs[0], left, "")


def shape_of(flow: Flow, node: ir.Node) -> None:
    """A shape follows the tensor by itself: nothing is pinned."""
    flow.give(node.outputs[0], flow.fresh(node.outputs[0], "is a shape") or (), "")


_NORMALISING = """
Softmax LogSoftmax LayerNormalization RMSNormalization SimplifiedLayerNormalization
com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization
com.microsoft.SkipSimplifiedLayerNormalization
"""
_BY_CHANNEL = """
BatchNormalization InstanceNormalization MaxPool AveragePool GlobalAveragePool GlobalMaxPool Resize
"""
_REDUCING = "ReduceMean ReduceSum ReduceMax ReduceMin ReduceL2 ReduceProd"
for _names, _rule in (
    (_EACH, stretched), (_NORMALISING, along_last), (_BY_CHANNEL, channels), (_REDUCING, reduced),
    ("Shape", shape_of),
):  # fmt: skip
    for _name in _names.split():
        RULES.register(_name)(_rule)
