"""Set two profiles side by side node by node, although what was fused differs.

Nodes of two models correspond by the nodes that a fused one says it replaced, by the names of
tensors, by their own names, then by structure. Rows that share a node are compared as one: a
fused node with the set that it replaced.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from burnish.analyze.breakdown import Breakdown, BreakdownRow, RowKind, label_of
from burnish.analyze.difference import Difference, of_rows, row_of
from burnish.store.correspondence import behind
from burnish.store.graph import GraphNode, GraphRecord

Names = tuple[str, ...]


def corresponding(baseline: GraphRecord, candidate: GraphRecord) -> dict[str, Names]:
    """Return the nodes of the baseline behind each node of the candidate; some have none."""
    inputs = frozenset(spec.name for spec in baseline.inputs)
    by_name = behind(baseline.nodes, candidate.nodes, inputs=inputs)
    found = {node.name: names for node, names in zip(candidate.nodes, by_name, strict=True)}
    taken = {name for names in found.values() for name in names}
    left = [node for node in candidate.nodes if not found[node.name]]
    free = [node for node in baseline.nodes if node.name not in taken]
    return found | _by_structure(free, baseline, left, candidate)


def _by_structure(
    free: Sequence[GraphNode],
    baseline: GraphRecord,
    left: Sequence[GraphNode],
    candidate: GraphRecord,
) -> dict[str, Names]:
    """Return pairs of nodes with the same operator and weights, in order."""
    before = [_kind(node, baseline) for node in free]
    after = [_kind(node, candidate) for node in left]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {
        left[block.b + step].name: (free[block.a + step].name,)
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def _kind(node: GraphNode, graph: GraphRecord) -> tuple[object, ...]:
    weights = [graph.static(name) for name in node.inputs if name in graph.constants]
    return (node.op_type, *sorted(spec.shape for spec in weights if spec is not None))


def aligned(
    baseline: Breakdown,
    candidate: Breakdown,
    corresponds: Mapping[str, Names],
    *,
    names: tuple[str, str],
) -> Difference:
    """Return what changed, by sets of the baseline's nodes, the smallest that both sides share.

    Both breakdowns are by the models' own nodes. What belongs to no node of the baseline is set
    beside nothing, and the rows that are always there beside each other.
    """
    joined = _Sets()
    before, after = _by_nodes(baseline, {}), _by_nodes(candidate, corresponds)
    for nodes in (*before, *after):
        joined.join(nodes)
    labels = joined.labels()
    sides: dict[str, tuple[list[BreakdownRow], list[BreakdownRow]]] = defaultdict(lambda: ([], []))
    for side, by_nodes in enumerate((before, after)):
        for nodes, members in by_nodes.items():
            sides[labels[nodes[0]]][side].extend(members)
    for side, breakdown in enumerate((baseline, candidate)):
        for row in breakdown.rows:
            if not row.nodes:
                sides[row.label][side].append(row)
    rows = [row_of(label, *pair) for label, pair in sides.items()]
    return of_rows(rows, (baseline, candidate), names)


def _by_nodes(
    breakdown: Breakdown, corresponds: Mapping[str, Names]
) -> dict[Names, list[BreakdownRow]]:
    """Return the rows of nodes by the baseline's nodes behind them, or by their own."""
    found: dict[Names, list[BreakdownRow]] = defaultdict(list)
    for row in breakdown.rows:
        if row.kind is RowKind.NODE and row.nodes:
            nodes = [other for name in row.nodes for other in corresponds.get(name, (name,))]
            # a node that corresponds to none is no node of the baseline, whatever it is called
            alone = f"{label_of(row.nodes)} (new)"
            found[tuple(dict.fromkeys(nodes)) or (alone,)].append(row)
    return found


class _Sets:
    """Nodes that some row has together, put together."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def join(self, nodes: Names) -> None:
        for other in nodes:
            self._above[self._root(other)] = self._root(nodes[0])

    def labels(self) -> dict[str, str]:
        """Return what the set of each node is called."""
        members: dict[str, list[str]] = defaultdict(list)
        for name in list(self._above):
            members[self._root(name)].append(name)
        return {name: label_of(names) for names in members.values() for name in names}

    def _root(self, name: str) -> str:
        while (above := self._above.setdefault(name, name)) != name:
            name = above
        return name
