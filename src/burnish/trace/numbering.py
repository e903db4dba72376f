"""Number a graph's nodes as Amdahl4ML does, whose files name what they change by these numbers.

It leaves out constants, puts nodes that one kernel performs together, and numbers what it then has
in the order of the graph's list, which need not be the order in which anything ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.store.graph import GraphRecord
from burnish.trace.graph_units import GraphIndex, units
from burnish.trace.grouping import GroupNode, NodeGroup, read

_HIDDEN = frozenset({"constant"})


def _chain(name: str, *operators: str) -> NodeGroup:
    parts = tuple(GroupNode(frozenset([operator])) for operator in operators)
    return NodeGroup(name, parts, anywhere=True)


USUAL = (
    _chain("gelu", "add", "div", "erf", "add", "mul", "mul"),
    _chain("add-reshape-transpose", "add", "reshape", "transpose"),
    _chain("add-normalization", "add", "layernormalization"),
    _chain("transpose-reshape", "transpose", "reshape"),
)
"""What it puts together unless told otherwise, the largest first."""


def numbered(graph: GraphRecord, files: Sequence[Path] = ()) -> tuple[tuple[str, ...], ...]:
    """Return the nodes behind each number; `files` are groups of the user's own."""
    given = [group for path in files for group in read(path).groups if len(group.parts) > 1]
    index = GraphIndex(graph)
    grouped = units(index, given or USUAL)
    members = {place for unit in grouped for place in unit.nodes}
    alone = [
        (place,)
        for place, node in enumerate(graph.nodes)
        if place not in members and node.op_type.lower() not in _HIDDEN
    ]
    ordered = sorted([*(unit.nodes for unit in grouped), *alone])
    return tuple(tuple(graph.nodes[place].name for place in places) for places in ordered)
