"""Axes through attention as one node: heads may be cut, what is inside of a head may not."""

from __future__ import annotations

import onnx_ir as ir

from burnish.prune.dims import Axis, leaves, pin, size_of
from burnish.prune.flow import RULES, Axes, Flow


def _heads(node: ir.Node, name: str) -> int:
    return node.attributes[name].as_int() if name in node.attributes else 0


def _taken(flow: Flow, node: ir.Node, index: int) -> Axes | None:
    value = node.inputs[index] if index < len(node.inputs) else None
    return None if value is None else flow.of(value)


def _in_heads(flow: Flow, node: ir.Node, axis: Axis, heads: int) -> Axis:
    """Return the heads of an axis that holds all of them, one after the other."""
    outer, inner = flow.part(axis, (heads, size_of(leaves(axis)) // heads), node)
    flow.pin(inner, node, "needs heads of this size")
    return outer


def _beside(flow: Flow, node: ir.Node, first: int, heads: Axis) -> None:
    """Let what else is read share the heads where it has them: biases, and keys of the past.

    Who is given keys and values counts on their number.
    """
    several = size_of(leaves(heads))
    for value in node.inputs[first:]:
        axes = None if value is None else flow.of(value)
        for axis in axes[-3:-2] if axes is not None and len(axes) > 3 else ():
            if size_of(leaves(axis)) not in (1, several):
                flow.pin(heads, node, "reads something else for each of them")
            flow.join(heads, axis, node)
    for output in node.outputs[1:]:
        if output.uses() or output.is_graph_output():
            flow.pin(heads, node, "gives their keys and values out")


def attention(flow: Flow, node: ir.Node) -> None:
    """ONNX Runtime's, which multiplies by the weights of queries, keys and values itself."""
    axes, weight = _taken(flow, node, 0), _taken(flow, node, 1)
    heads, sizes = _heads(node, "num_heads"), node.attributes.get("qkv_hidden_sizes")
    if axes is None or weight is None or (sizes is not None and len(set(sizes.as_ints())) > 1):
        flow.unknown(node, "has keys and values of different sizes")
        return
    flow.weigh(node, (0, -1), (1, 0))
    flow.pin(weight[0], node, "sums over it for queries, keys and values at once")
    columns, bias = [weight[1]], _taken(flow, node, 2)
    columns += [] if bias is None else [bias[0]]
    hidden = size_of(leaves(weight[1])) // 3
    result: Axis = ()
    for column in columns:
        three, own = flow.part(column, (3, hidden), node)
        pin(three, "holds queries, keys and values")
        if leaves(result):
            flow.join(result, own, node)
        result = result or own
    outer = _in_heads(flow, node, result, heads)
    flow.state(node, "num_heads", None, outer)
    for element in range(3 if sizes is not None else 0):
        flow.state(node, "qkv_hidden_sizes", element, result)
    _beside(flow, node, 3, outer)
    flow.give(node.outputs[0], (axes[0], axes[1], result), "")


def multi_head(flow: Flow, node: ir.Node) -> None:
    """ONNX Runtime's on queries, keys and values that were multiplied before."""
    query, heads = _taken(flow, node, 0), _heads(node, "num_heads")
    own = [_taken(flow, node, index) for index in range(3)]
    if query is None or any(axes is None or len(axes) != 3 for axes in own):
        flow.unknown(node, "reads keys and values packed, or as a past")
        return
    outer = _in_heads(flow, node, query[-1], heads)
    for axes in own[1:]:
        assert axes is not None
        flow.join(outer, _in_heads(flow, node, axes[-1], heads), node)
    bias = _taken(flow, node, 3)
    if bias is not None:
        _packed_bias(flow, node, bias[0], query[-1])
    flow.state(node, "num_heads", None, outer)
    _beside(flow, node, 4, outer)
    value = own[2]
    assert value is not None
    flow.give(node.outputs[0], (query[0], query[1], value[-1]), "")


def _packed_bias(flow: Flow, node: ir.Node, bias: Axis, hidden: Axis) -> None:
    three, own = flow.part(bias, (3, size_of(leaves(bias)) // 3), node)
    pin(three, "holds queries, keys and values")
    flow.join(own, hidden, node)


def grouped(flow: Flow, node: ir.Node) -> None:
    """ONNX Runtime's and ONNX's, where several heads of queries may share one of keys."""
    names = ("num_heads", "kv_num_heads") if node.domain else ("q_num_heads", "kv_num_heads")
    axes = [_taken(flow, node, index) for index in range(3)]
    if any(one is None or len(one) not in (3, 4) for one in axes):
        flow.unknown(node, "reads queries, keys and values packed")
        return
    outer = [
        _heads_of(flow, node, one or (), names[min(index, 1)]) for index, one in enumerate(axes)
    ]
    shared = size_of(leaves(outer[1]))
    first, _ = flow.part(outer[0], (shared, size_of(leaves(outer[0])) // shared), node)
    for other in outer[1:]:
        flow.join(first, other, node)
    for name, found in zip(names, outer, strict=False):
        if name in node.attributes:
            flow.state(node, name, None, found)
    _beside(flow, node, 3, outer[0])
    query, value = axes[0] or (), axes[2] or ()
    flow.give(node.outputs[0], _attended(flow, node, query, value), "")


def _heads_of(flow: Flow, node: ir.Node, axes: Axes, name: str) -> Axis:
    if len(axes) == 3:
        return _in_heads(flow, node, axes[-1], _heads(node, name))
    flow.pin(axes[-1], node, "needs heads of this size")
    return axes[1]


def _attended(flow: Flow, node: ir.Node, query: Axes, value: Axes) -> Axes:
    """Return the axes of the result: queries' heads, each as long as one of the values."""
    out = flow.shape(node.outputs[0]) or ()
    if len(query) == 3 and out[-1] == size_of(leaves(query[-1])):
        return query
    if len(query) == 4 and len(out) == 4:
        return (*query[:3], value[-1])
    return flow.fresh(node.outputs[0], f"{node.op_type} gives values of another size") or ()


def rotary(flow: Flow, node: ir.Node) -> None:
    """Positions turn what is inside of heads; which heads there are is as before."""
    axes = _taken(flow, node, 0)
    assert axes is not None
    heads = _heads(node, "num_heads")
    if len(axes) == 3 and heads:
        flow.state(node, "num_heads", None, _in_heads(flow, node, axes[-1], heads))
    elif len(axes) == 4:
        flow.pin(axes[-1], node, "turns it")
        if heads:
            flow.state(node, "num_heads", None, axes[1])
    else:
        flow.unknown(node, "does not say how many heads there are")
        return
    flow.give(node.outputs[0], axes, "")


RULES.register("com.microsoft.Attention")(attention)
RULES.register("com.microsoft.MultiHeadAttention")(multi_head)
for _name in ("com.microsoft.GroupQueryAttention", "Attention"):
    RULES.register(_name)(grouped)
for _name in ("com.microsoft.RotaryEmbedding", "RotaryEmbedding"):
    RULES.register(_name)(rotary)
