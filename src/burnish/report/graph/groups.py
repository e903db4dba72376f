"""Which boxes a drawing shows: every node, the ones that matter, modules, or kernels."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from burnish.report.graph.layout import Edge
from burnish.store.graph import GraphNode, GraphRecord

Kind = Literal["node", "group", "input", "output"]
Scope = tuple[str, ...]
_HANDFUL = 8
_SHAPE_READERS = frozenset(("Constant", "Shape", "Size"))


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a drawing and the nodes it stands for; inputs and outputs stand for none."""

    key: str
    label: str
    kind: Kind
    members: tuple[str, ...] = ()
    op_type: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """Boxes in the order of the flow, and lines between them."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    hidden: tuple[str, ...] = ()
    """Nodes that no box stands for."""


def full(graph: GraphRecord) -> View:
    """Return a box for every node."""
    return folded(graph, {})


def simplified(graph: GraphRecord) -> View:
    """Return a box for every node that works on data: constants and sizes are left out."""
    return folded(graph, {}, hidden=arithmetic_on_sizes(graph))


def by_module(graph: GraphRecord, *, most: int = 60) -> View:
    """Return one box per module, as deep as `most` boxes allow; constants and sizes left out.

    A handful of boxes says nothing, so the outermost modules open anyway.
    """
    hidden = arithmetic_on_sizes(graph)
    shown = [node for node in graph.nodes if node.name not in hidden]
    deepest = max((len(node.scope) for node in shown), default=0)
    depth, boxes = 1, _boxes(shown, 1)
    while depth <= deepest:
        more = _boxes(shown, depth + 1)
        if more > most and boxes > _HANDFUL:
            break
        depth, boxes = depth + 1, more
    return folded(graph, _owners(shown, depth), hidden=hidden)


def _boxes(nodes: Sequence[GraphNode], depth: int) -> int:
    owners = _owners(nodes, depth)
    return len({owners.get(node.name, f" {node.name}") for node in nodes})


def by_kernel(graph: GraphRecord, kernels: Iterable[tuple[str, Sequence[str]]]) -> View:
    """Return one box per kernel (what it computes and the nodes that it does); others stand alone.

    A node that several kernels do is in the box of the first.
    """
    owners: dict[str, str] = {}
    labels: dict[str, str] = {}
    for number, (label, nodes) in enumerate(kernels):
        if nodes:
            key = f"kernel {number}"
            labels[key] = label
            for name in nodes:
                owners.setdefault(name, key)
    return folded(graph, owners, hidden=arithmetic_on_sizes(graph), labels=labels)


def arithmetic_on_sizes(graph: GraphRecord) -> frozenset[str]:
    """Return the nodes that compute nothing from data: constants, sizes and integers of these."""
    known = set(graph.constants)
    results = {spec.name for spec in graph.outputs}
    found = set()
    for node in graph.nodes:
        taken = [name for name in node.inputs if name]
        if results.intersection(node.outputs):
            continue
        reads_size = node.op_type in _SHAPE_READERS
        if reads_size or (known.issuperset(taken) and _whole_numbers(graph, node)):
            found.add(node.name)
            known.update(node.outputs)
    return frozenset(found)


def _whole_numbers(graph: GraphRecord, node: GraphNode) -> bool:
    specs = [graph.tensors.get(name) for name in node.outputs if name]
    return all(spec is not None and spec.dtype[0] in "iu" for spec in specs)


def _owners(nodes: Iterable[GraphNode], depth: int) -> dict[str, str]:
    """Return, for nodes deeper than `depth` modules, the module that stands for them."""
    return {node.name: "/".join(node.scope[:depth]) for node in nodes if len(node.scope) >= depth}


def folded(
    graph: GraphRecord,
    owners: Mapping[str, str],
    *,
    hidden: Collection[str] = frozenset(),
    labels: Mapping[str, str] | None = None,
) -> View:
    """Return a view in which nodes with the same owner share a box, and hidden ones have none.

    A shared box says what `labels` has for its owner, else the owner itself.
    """
    boxes: dict[str, Box] = {
        f"input {spec.name}": Box(f"input {spec.name}", spec.name, "input") for spec in graph.inputs
    }
    makers = {spec.name: f"input {spec.name}" for spec in graph.inputs}
    members: dict[str, list[GraphNode]] = {}
    for node in graph.nodes:
        if node.name not in hidden:
            key = owners.get(node.name, node.name)
            members.setdefault(key, []).append(node)
            makers.update({tensor: key for tensor in node.outputs if tensor})
    boxes.update({key: _box(key, nodes, owners, labels or {}) for key, nodes in members.items()})
    links = {
        (makers[tensor], key): None
        for key, nodes in members.items()
        for node in nodes
        for tensor in node.inputs
        if tensor in makers and makers[tensor] != key
    }
    for spec in graph.outputs:
        key = f"output {spec.name}"
        boxes[key] = Box(key, spec.name, "output")
        if spec.name in makers:
            links[makers[spec.name], key] = None
    return _ordered(boxes, tuple(links), tuple(n.name for n in graph.nodes if n.name in hidden))


def _box(
    key: str, nodes: Sequence[GraphNode], owners: Mapping[str, str], labels: Mapping[str, str]
) -> Box:
    names = tuple(node.name for node in nodes)
    if names[0] not in owners:
        return Box(key, nodes[0].op_type, "node", names, nodes[0].op_type)
    return Box(key, labels.get(key, key), "group", names)


def _ordered(
    boxes: Mapping[str, Box], links: Sequence[tuple[str, str]], hidden: tuple[str, ...]
) -> View:
    """Return the boxes in the order of the flow; in a cycle, the earliest of it comes first."""
    given = list(boxes)
    number = {key: index for index, key in enumerate(given)}
    targets: list[list[int]] = [[] for _ in given]
    waiting = [0] * len(given)
    for one, other in links:
        targets[number[one]].append(number[other])
        waiting[number[other]] += 1
    ready = [index for index, missing in enumerate(waiting) if not missing]
    place: dict[int, int] = {}
    for earliest in range(len(given)):
        if not ready and earliest not in place:
            ready.append(earliest)
        while ready:
            index = heapq.heappop(ready)
            if index in place:
                continue
            place[index] = len(place)
            for target in targets[index]:
                waiting[target] -= 1
                if waiting[target] == 0:
                    heapq.heappush(ready, target)
    edges = sorted((place[number[one]], place[number[other]]) for one, other in links)
    return View(tuple(boxes[given[index]] for index in place), tuple(edges), hidden)
