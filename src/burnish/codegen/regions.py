"""Which nodes of a graph run together, and an ONNX Runtime part of them as a model of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import onnx_ir as ir

from burnish.infer.walk import bodies, is_standard
from burnish.rewrite.extract import Part, as_model, reads
from burnish.tile.lower import is_recurrent, named


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes, in the order of their graph, that can run at one go once all before them have."""

    nodes: tuple[ir.Node, ...]
    is_ort: bool
    is_recurrent: bool = False
    """Its only node runs along a sequence, in kernels."""


def regions(graph: ir.Graph, ort: Collection[str], *, repeats: bool = True) -> tuple[Region, ...]:
    """Return the graph's nodes as regions that run one after the other; `ort` are names.

    `repeats`: nodes that run along a sequence are regions of their own; else they are like others.

    Each node runs as early as it can. Regions alternate, so that there are as few as can be: what
    begins is whatever leads to fewer.
    """
    nodes = [node for node in graph if node.op_type != "Constant" or _gives(node)]
    along = [named(node) for node in nodes if is_recurrent(node)] if repeats else []
    apart = {*ort, *along}
    cuts = [_alternating(nodes, apart, start) for start in (0, 1)]
    return tuple(part for region in min(cuts, key=len) for part in _parted(region, ort))


def _parted(region: Region, ort: Collection[str]) -> Iterator[Region]:
    """Yield a region, nodes that run along a sequence apart from what ONNX Runtime runs."""
    if not region.is_ort:
        yield region
        return
    for is_ort, group in groupby(region.nodes, key=lambda node: named(node) in ort):
        nodes = tuple(group)
        if is_ort:
            yield Region(nodes, is_ort=True)
        else:
            yield from (Region((node,), is_ort=False, is_recurrent=True) for node in nodes)


def cut(model: ir.Model, nodes: Sequence[ir.Node], name: str) -> ir.Model:
    """Return these nodes, which are in the order of their graph, as a model of their own.

    It takes what they read from elsewhere and gives what is read elsewhere or is an output of the
    model, under the same names; constants become its own.
    """
    return as_model(_part(nodes), model, name)


def border(nodes: Sequence[ir.Node]) -> tuple[ir.Value, ...]:
    """Return what these nodes would take and give as a part."""
    part = _part(nodes)
    return (*part.inputs, *part.outputs)


def _gives(node: ir.Node) -> bool:
    return any(value.is_graph_output() for value in node.outputs)


def _alternating(nodes: Sequence[ir.Node], ort: Collection[str], start: int) -> tuple[Region, ...]:
    """Return the regions when kernels have the even numbers (`start` 0) or the odd ones (1)."""
    number: dict[ir.Node, int] = {}
    found: dict[int, list[ir.Node]] = {}
    for node in nodes:
        makers = (value.producer() for value in reads(node))
        before = [number[maker] for maker in makers if maker in number]
        earliest = max(before, default=0)
        parity = (named(node) in ort) != bool(start)
        number[node] = earliest if earliest % 2 == parity else earliest + 1
        found.setdefault(number[node], []).append(node)
    ordered = sorted(found.items())
    return tuple(Region(tuple(each), (at + start) % 2 == 1) for at, each in ordered)


def _part(nodes: Sequence[ir.Node]) -> Part:
    own = dict.fromkeys([*_constant_nodes(nodes), *nodes])
    made = {value for node in own for value in node.outputs}
    read = dict.fromkeys(value for node in own for value in reads(node) if value not in made)
    return Part(
        nodes=tuple(own),
        inputs=tuple(value for value in read if not value.is_initializer()),
        weights=(),
        constants=tuple(value for value in read if value.is_initializer()),
        outputs=tuple(_given(nodes)),
    )


def _constant_nodes(nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """Return the Constant nodes that the nodes read: each part has its own copy of them."""
    makers = (value.producer() for node in nodes for value in reads(node))
    return [node for node in makers if node is not None and is_standard(node, "Constant")]


def _given(nodes: Sequence[ir.Node]) -> list[ir.Value]:
    inside = set(nodes)
    for node in nodes:
        inside |= {inner for body in bodies(node) for inner in body.all_nodes()}
    return [
        value
        for node in nodes
        for value in node.outputs
        if value.is_graph_output() or any(user not in inside for user in value.consumers())
    ]
