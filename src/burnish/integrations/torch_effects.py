"""What a graph of Dynamo's does besides computing its outputs, which a compiled one would not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

GraphModule = Any
Node = Any
"""PyTorch's types: torch is imported only where it is used."""

_CHECKS = frozenset({
    "_assert", "_assert_async", "_assert_scalar", "sym_constrain_range",
    "sym_constrain_range_for_size",
})  # fmt: skip
"""Names of functions that raise an error of the model's own."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What else a graph does."""

    checks: str = ""
    """The first function that may raise an error of the model's own; empty: there is none."""
    enables_gradients: bool = False
    """Whether part of it records gradients where whoever calls it does not."""
    marks: bool = False
    """Whether it makes a tensor want gradients."""


def effects_of(graph: GraphModule) -> Effects:
    """Return what a graph and the graphs inside of it do besides computing."""
    import torch

    checks, enables, marks = "", False, False
    for node in _nodes(graph):
        name = _name(node)
        if node.op == "call_function" and name in _CHECKS and not checks:
            checks = name
        enables |= node.target is torch._C._set_grad_enabled and True in node.args
        marks |= node.op == "call_method" and name == "requires_grad_"
    return Effects(checks, enables, marks)


def _nodes(graph: GraphModule) -> Iterator[Node]:
    for part in graph.modules():
        yield from getattr(getattr(part, "graph", None), "nodes", ())


def _name(node: Node) -> str:
    """Return what a node calls, without the overload of an operator."""
    if isinstance(node.target, str):
        return node.target
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(getattr(packet, "__name__", ""))
