"""Which nodes of one graph do the work of which nodes of another that was made from it.

Graphs name tensors, and what optimises a graph keeps the names of those that are still computed.
What lies in the original between two tensors that both graphs have is what the nodes between them
in the other graph do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from burnish.store.graph import GraphNode

Names = tuple[str, ...]

_OTHER_TYPE = "InsertedPrecisionFreeCast_"
"""What ONNX Runtime puts before the name of a tensor that it computes in another type."""


def behind(original: Sequence[GraphNode], made: Sequence[GraphNode]) -> tuple[Names, ...]:
    """Return the names of the original nodes behind each of the nodes that were made from them.

    Both come in an order in which they can run. Constants have no work, and are left out.
    """
    producer = {name: node for node in original for name in node.outputs if name}
    known = {(node.name, node.op_type): node for node in original}
    written = [_written(node, producer, known) for node in made]
    kept = frozenset().union(*written)
    targets = _targets(made, written)
    between: dict[str, frozenset[str]] = {}
    result = []
    for own in targets:
        for target in own - set(between):
            between[target] = _between(target, producer, kept)
        covered = frozenset().union(*(between[target] for target in own))
        result.append(covered)
    order = {node.name: at for at, node in enumerate(original)}
    return tuple(tuple(sorted(names, key=lambda name: order[name])) for names in result)


def _written(
    node: GraphNode,
    producer: Mapping[str, GraphNode],
    known: Mapping[tuple[str, str], GraphNode],
) -> frozenset[str]:
    """Return the tensors of the original graph that a node of the other one computes.

    A tensor is known by its name, also with the prefix that it gets where its type was changed;
    a node with the name and operator of an original one computes what that one does.
    """
    names = [name.removeprefix(_OTHER_TYPE) for name in node.outputs]
    found = frozenset(name for name in names if name in producer)
    twin = known.get((node.name, node.op_type))
    if found or twin is None:
        return found
    return frozenset(name for name in twin.outputs if name)


def _targets(made: Sequence[GraphNode], written: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return the next tensors of the original graph that each node's work goes into."""
    readers: Mapping[str, list[int]] = defaultdict(list)
    targets: list[frozenset[str]] = [frozenset()] * len(made)
    for at in range(len(made) - 1, -1, -1):
        further = [targets[reader] for name in made[at].outputs for reader in readers[name]]
        targets[at] = written[at] or frozenset().union(*further)
        for name in filter(None, made[at].inputs):
            readers[name].append(at)
    return targets


def _between(
    target: str, producer: Mapping[str, GraphNode], kept: frozenset[str]
) -> frozenset[str]:
    """Return the original nodes that make a tensor from others that both graphs have."""
    found: set[str] = set()
    wanted = [target]
    while wanted:
        node = producer.get(wanted.pop())
        if node is None or node.name in found or node.op_type == "Constant":
            continue
        found.add(node.name)
        wanted += [name for name in node.inputs if name and name not in kept]
    return frozenset(found)
