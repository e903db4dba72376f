"""Which nodes of one graph do the work of which nodes of another that was made from it.

Graphs name tensors, and what optimises a graph keeps the names of those that are still computed.
What lies in the original between two tensors that both graphs have is what the nodes between them
in the other graph do. Constants and what is computed from sizes alone are left out of that: such
work is small, is done once for many places, and would tie the whole graph together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from burnish.store.graph import GraphNode

Names = tuple[str, ...]

_MOST = 48
"""No node of a graph that was made from another does the work of more nodes, nor is part of it."""
_SMALL = ("Constant", "Shape", "Size")
_OTHER_TYPE = "InsertedPrecisionFreeCast_"
"""What ONNX Runtime puts before the name of a tensor that it computes in another type."""
_OTHER_LAYOUT = "_nchwc"
"""What it puts after a tensor's name to name the node that computes it in blocks of channels."""


def behind(
    original: Sequence[GraphNode], made: Sequence[GraphNode], *, inputs: Collection[str]
) -> tuple[Names, ...]:
    """Return the names of the original nodes behind each of the nodes that were made from them.

    Both come in an order in which they can run; `inputs` are those of the graphs.
    """
    known = {node.name: node for node in original}
    said = [_said(node, known) for node in made]
    twins = {node.name for node in made if _twin(node, known) is not None}
    elsewhere = of_sizes(original, inputs) | twins.union(*said)
    producer = {name: node for node in original for name in node.outputs if name}
    written = [_written(node, producer, known) for node in made]
    kept = frozenset().union(*written)
    between = {name: _between(name, producer, kept, elsewhere) for name in kept}
    order = {name: at for at, name in enumerate(known)}
    result = []
    for own, target in zip(said, _targets(made, written), strict=True):
        covered = frozenset().union(*(between[name] for name in target))
        result.append(own or tuple(sorted(covered, key=lambda name: order[name])))
    return tuple(result)


def _said(node: GraphNode, known: Mapping[str, GraphNode]) -> Names:
    """Return what a node says it replaced, if the original graph has all of it."""
    return node.replaced if all(name in known for name in node.replaced) else ()


def _twin(node: GraphNode, known: Mapping[str, GraphNode]) -> GraphNode | None:
    """Return the original node with the name and operator of another."""
    twin = known.get(node.name)
    return twin if twin is not None and twin.op_type == node.op_type else None


def _written(
    node: GraphNode,
    producer: Mapping[str, GraphNode],
    known: Mapping[str, GraphNode],
) -> frozenset[str]:
    """Return the tensors of the original graph that a node of the other one computes.

    A tensor is known by its name, also with the prefix that it gets where its type was changed,
    or from the name of a node that was given another layout; a node with the name and operator
    of an original one computes what that one does.
    """
    names = [name.removeprefix(_OTHER_TYPE) for name in node.outputs]
    if node.name.endswith(_OTHER_LAYOUT):
        names.append(node.name.removesuffix(_OTHER_LAYOUT))
    found = frozenset(name for name in names if name in producer)
    twin = _twin(node, known)
    if found or twin is None:
        return found
    return frozenset(name for name in twin.outputs if name)


def _targets(made: Sequence[GraphNode], written: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return the next tensors of the original graph that each node's work goes into.

    Where these are the work of very many nodes, the graphs are not made one from the other.
    """
    readers: Mapping[str, list[int]] = defaultdict(list)
    targets: list[frozenset[str]] = [frozenset()] * len(made)
    for at in range(len(made) - 1, -1, -1):
        further = [targets[reader] for name in made[at].outputs for reader in readers[name]]
        targets[at] = written[at] or frozenset().union(*further)
        for name in filter(None, made[at].inputs):
            readers[name].append(at)
    workers = Counter(name for target in targets for name in target)
    return [
        own or frozenset(name for name in target if workers[name] <= _MOST)
        for own, target in zip(written, targets, strict=True)
    ]


def of_sizes(nodes: Sequence[GraphNode], inputs: Collection[str]) -> frozenset[str]:
    """Return the names of constants and of nodes that compute from the sizes of tensors alone.

    The nodes come in an order in which they can run.
    """
    small: set[str] = set()
    producer: dict[str, str] = {}
    given = frozenset(inputs)
    for node in nodes:
        read = [name for name in node.inputs if name]
        made = [producer[name] for name in read if name in producer]
        from_sizes = bool(made) and small.issuperset(made) and given.isdisjoint(read)
        if node.op_type in _SMALL or from_sizes:
            small.add(node.name)
        producer |= {name: node.name for name in node.outputs if name}
    return frozenset(small)


def _between(
    target: str,
    producer: Mapping[str, GraphNode],
    kept: frozenset[str],
    elsewhere: frozenset[str],
) -> frozenset[str]:
    """Return the original nodes that make a tensor from others that both graphs have.

    Nodes that are known to be `elsewhere` end the search, except for the one that makes it.
    """
    found: set[str] = set()
    wanted = [target]
    while wanted:
        node = producer.get(wanted.pop())
        if node is None or node.name in found or (found and node.name in elsewhere):
            continue
        found.add(node.name)
        wanted += [name for name in node.inputs if name and name not in kept]
        if len(found) > _MOST:
            return frozenset([producer[target].name])
    return frozenset(found)
