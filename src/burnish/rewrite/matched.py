"""The part of a graph that a match covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx_ir as ir

from burnish.rewrite.element_types import holds_exactly
from burnish.rewrite.facts import FLOATS


def in_order(*parts: Iterable[ir.Node]) -> tuple[ir.Node, ...]:
    """Return the nodes of several parts, each once, in the order given."""
    return tuple(dict.fromkeys(node for part in parts for node in part))


def removable(nodes: Sequence[ir.Node], *outputs: ir.Value) -> tuple[ir.Node, ...]:
    """Return the nodes that nobody needs once the outputs come from elsewhere.

    `nodes` are given each after those it reads, and returned in that order.
    """
    gone: set[ir.Node] = set()
    for node in reversed(nodes):
        if all(value in outputs or _read_only_by(value, gone) for value in node.outputs):
            gone.add(node)
    return tuple(node for node in nodes if node in gone)


def other_reader(nodes: Sequence[ir.Node], output: ir.Value, anchor: ir.Node) -> str | None:
    """Return who keeps the anchor alive although `output` comes from elsewhere; None: nobody."""
    gone = set(removable(nodes, output))
    if anchor in gone:
        return None
    for node in reversed(nodes):
        for value in node.outputs:
            if node in gone or value is output or _read_only_by(value, gone):
                continue
            if value.is_graph_output():
                return f"the value {value.name!r} in between is also an output of the graph"
            reader = next(use.node for use in value.uses() if use.node not in gone)
            if reader not in nodes:
                return f"the value {value.name!r} in between is also read by {reader.name!r}"
    return f"the value {anchor.outputs[0].name!r} is also read elsewhere"


def _read_only_by(value: ir.Value, readers: set[ir.Node]) -> bool:
    return not value.is_graph_output() and all(use.node in readers for use in value.uses())


def narrowing(nodes: Iterable[ir.Node], dtype: ir.DataType) -> ir.Node | None:
    """Return a node that computes in a floating type too narrow for values of `dtype`."""
    for node in nodes:
        found = node.outputs[0].dtype
        if found in FLOATS and found is not None and not holds_exactly(found, dtype):
            return node
    return None
