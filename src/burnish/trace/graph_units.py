"""Cut a graph into units: nodes that one operator or kernel performs together."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.grouping import GroupNode, NodeGroup


@dataclass(frozen=True, slots=True)
class Unit:
    """Nodes of a graph that belong to one group."""

    group: NodeGroup
    nodes: tuple[int, ...]
    """Where in the graph they are, in its order."""
    anchor: int
    """The node that the group is told by."""


class GraphIndex:
    """A graph with its edges in both directions."""

    def __init__(self, graph: GraphRecord) -> None:
        self.graph = graph
        self._producer: dict[str, int] = {}
        self._consumers: dict[str, list[int]] = defaultdict(list)
        self._constants = set(graph.constants)
        for index, node in enumerate(graph.nodes):
            for tensor in filter(None, node.inputs):
                self._consumers[tensor].append(index)
            for tensor in filter(None, node.outputs):
                self._producer[tensor] = index
            inputs = [tensor for tensor in node.inputs if tensor]
            if inputs and self._constants.issuperset(inputs):
                self._constants.update(node.outputs)

    def neighbours(self, index: int) -> Iterator[int]:
        """Yield the nodes that read what a node writes, then those that write what it reads."""
        node = self.graph.nodes[index]
        for tensor in node.outputs:
            yield from self._consumers.get(tensor, ())
        for tensor in node.inputs:
            if tensor in self._producer:
                yield self._producer[tensor]

    def has_constant(self, node: GraphNode) -> bool:
        """Return whether one of a node's inputs is the same in every inference."""
        return any(tensor in self._constants for tensor in node.inputs if tensor)

    def weights(self, index: int) -> Iterator[tuple[int, ...]]:
        """Yield the shapes of a node's constant inputs that have more than one axis."""
        for tensor in self.graph.nodes[index].inputs:
            spec = self.graph.static(tensor) if tensor in self._constants else None
            if spec is not None and len(spec.shape) > 1:
                yield tuple(int(dim) for dim in spec.shape)

    def elements(self, index: int) -> set[int]:
        """Return how many elements a node's inputs and outputs have, of those that are known."""
        node = self.graph.nodes[index]
        specs = [self.graph.static(tensor) for tensor in (*node.inputs, *node.outputs) if tensor]
        return {_product(spec.shape) for spec in specs if spec is not None}


def _product(shape: Sequence[int | str]) -> int:
    result = 1
    for dim in shape:
        result *= int(dim)
    return result


def units(index: GraphIndex, groups: Sequence[NodeGroup]) -> list[Unit]:
    """Return disjoint units in the order of the graph; the first group that fits takes a node."""
    taken: set[int] = set()
    found = []
    for group in groups:
        for anchor, node in enumerate(index.graph.nodes):
            if anchor in taken or not _fits(index, node, group.parts[0]):
                continue
            members = _grown(index, group, anchor, taken)
            if members is not None:
                taken |= members
                found.append(Unit(group, tuple(sorted(members)), anchor))
    return sorted(found, key=lambda unit: unit.anchor)


def _grown(
    index: GraphIndex, group: NodeGroup, anchor: int, taken: Collection[int]
) -> set[int] | None:
    """Return the nodes of a group around its anchor; None: a part that must be there is not."""
    nodes = index.graph.nodes
    missing = sorted(group.parts[1:], key=lambda part: part.optional)
    members, around = {anchor}, deque([anchor])
    while around and missing:
        for near in index.neighbours(around.popleft()):
            if near in members or near in taken:
                continue
            if not group.anywhere and nodes[near].scope != nodes[anchor].scope:
                continue
            part = next((part for part in missing if _fits(index, nodes[near], part)), None)
            if part is not None:
                missing.remove(part)
            elif nodes[near].op_type.lower() not in group.fillers:
                continue
            members.add(near)
            around.append(near)
    return members if all(part.optional for part in missing) else None


def _fits(index: GraphIndex, node: GraphNode, part: GroupNode) -> bool:
    return node.op_type.lower() in part.op_types and (not part.constant or index.has_constant(node))
