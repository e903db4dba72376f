"""Axes through products and convolutions, which sum one of them away."""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.prune.dims import leaves, size_of
from burnish.prune.flow import RULES, Flow


def _flag(node: ir.Node, name: str) -> bool:
    return name in node.attributes and node.attributes[name].as_int() != 0


def _product(flow: Flow, node: ir.Node, *, left: bool, right: bool) -> None:
    """Follow a product of matrices, of which some are transposed."""
    a, b = node.inputs[0], node.inputs[1]
    assert a is not None
    assert b is not None
    ours, theirs = flow.of(a) or (), flow.of(b) or ()
    if min(len(ours), len(theirs)) < 2:
        flow.unknown(node, "multiplies by a vector")
        return
    row, k_left = (-1, -2) if left else (-2, -1)
    k_right, column = (-1, -2) if right else (-2, -1)
    if constant_tensor(a) is not None and constant_tensor(b) is None:
        flow.weigh(node, (1, k_right), (0, k_left))
    else:
        flow.weigh(node, (0, k_left), (1, k_right))
    axes = [*(flow.fresh(node.outputs[0]) or ())[:-2], ours[row], theirs[column]]
    for operand in (ours, theirs):
        for own, other in zip(reversed(axes[:-2]), reversed(operand[:-2]), strict=False):
            flow.join(own, other, node)
    flow.give(node.outputs[0], axes, "")


def matmul(flow: Flow, node: ir.Node) -> None:
    """Follow a plain product."""
    _product(flow, node, left=False, right=False)


def fused_matmul(flow: Flow, node: ir.Node) -> None:
    """Follow ONNX Runtime's product, whose factors may be transposed."""
    if _flag(node, "transBatchA") or _flag(node, "transBatchB"):
        flow.unknown(node, "moves batches")
        return
    _product(flow, node, left=_flag(node, "transA"), right=_flag(node, "transB"))


def gemm(flow: Flow, node: ir.Node) -> None:
    """Follow a product with a bias."""
    _product(flow, node, left=_flag(node, "transA"), right=_flag(node, "transB"))
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None:
        axes = flow.of(node.outputs[0]) or ()
        for own, other in zip(reversed(axes), reversed(flow.of(bias) or ()), strict=False):
            flow.join(own, other, node)


def conv(flow: Flow, node: ir.Node) -> None:
    """Channels in are summed within each group; channels out are the weight's first axis."""
    x, weight = node.inputs[0], node.inputs[1]
    assert x is not None
    assert weight is not None
    axes, own = flow.of(x) or (), flow.of(weight) or ()
    groups = node.attributes["group"].as_int() if "group" in node.attributes else 1
    if groups == 1:
        flow.weigh(node, (0, 1), (1, 1))
    else:
        within = size_of(leaves(own[1]))
        outer, inner = flow.part(axes[1], (groups, within), node)
        made, _ = flow.part(own[0], (groups, size_of(leaves(own[0])) // groups), node)
        flow.join(outer, made, node)
        flow.join(inner, own[1], node)
        flow.pin(inner, node, "sums over it within groups")
        flow.state(node, "group", None, outer)
    for axis in (*axes[2:], *own[2:]):
        flow.pin(axis, node, "convolves along it")
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None:
        flow.join(own[0], (flow.of(bias) or ())[0], node)
    fresh = flow.fresh(node.outputs[0], "is a place in an image") or ()
    flow.give(node.outputs[0], (axes[0], own[0], *fresh[2:]), "")


for _name, _rule in {
    "MatMul": matmul, "Gemm": gemm, "Conv": conv,
    "com.microsoft.FusedMatMul": fused_matmul,
}.items():  # fmt: skip
    RULES.register(_name)(_rule)
