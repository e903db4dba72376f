"""The graphs and nodes of a model, and what a node is: reading only, for all who look at models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS as STANDARD_DOMAINS

CONTRADICTIONS = (LookupError, ValueError, TypeError, ArithmeticError, RuntimeError)
"""What following a graph raises where it contradicts itself: shapes that it states need not be
those that it computes, and attributes and constants can be out of all range. Whoever works out
what is true of a graph then knows nothing of that place, and leaves it as it is."""

_WITH_BODIES = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""The operators of ONNX itself that hold graphs; those of other domains are all looked into."""


_PLAIN = (
    ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.STRING,
    ir.AttributeType.INTS, ir.AttributeType.FLOATS,
)  # fmt: skip


def graphs(model: ir.Model) -> Iterator[ir.Graph]:
    """Yield the main graph, then every body in it, outer ones first."""
    waiting = [model.graph]
    while waiting:
        graph = waiting.pop(0)
        yield graph
        for node in graph:
            # As `may_hold_bodies`, without the call: this line is run for every node, and often.
            if node.op_type in _WITH_BODIES or node.domain not in STANDARD_DOMAINS:
                waiting.extend(bodies(node))


def nodes(model: ir.Model) -> Iterator[ir.Node]:
    """Yield the nodes of the main graph and of every body in it; nobody may change it meanwhile."""
    waiting = [model.graph]
    while waiting:
        for node in waiting.pop(0):
            yield node
            if node.op_type in _WITH_BODIES or node.domain not in STANDARD_DOMAINS:
                waiting.extend(bodies(node))


def may_hold_bodies(node: ir.Node) -> bool:
    """Return whether it is worth looking for graphs among a node's attributes."""
    return node.op_type in _WITH_BODIES or node.domain not in STANDARD_DOMAINS


def bodies(node: ir.Node) -> Iterator[ir.Graph]:
    """Yield the graphs that a node holds: branches, or what a loop repeats."""
    if not may_hold_bodies(node):
        return
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def is_standard(node: ir.Node, *op_types: str) -> bool:
    """Return whether a node is one of these operators of ONNX itself."""
    return node.op_type in op_types and node.domain in STANDARD_DOMAINS


def ints(node: ir.Node, name: str) -> tuple[int, ...] | None:
    """Return an attribute of integers; None: the node has none of this name."""
    attribute = node.attributes.get(name)
    return None if attribute is None else tuple(attribute.as_ints())


def attributes_of(node: ir.Node) -> Mapping[str, Any]:
    """Return the attributes that rules read: numbers, text, and tensors of one element."""
    found: dict[str, Any] = {}
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            continue
        if attribute.type in _PLAIN:
            found[name] = attribute.value
        elif attribute.type == ir.AttributeType.TENSOR and attribute.value.size == 1:
            found[name] = attribute.value.numpy()
    return found


def is_whole(shape: ir.Node) -> bool:
    """Return whether a Shape gives all axes; ONNX Runtime writes where it starts in any case."""
    return not shape.attributes.get_int("start", 0) and "end" not in shape.attributes
