"""Which nodes of a graph run together: stretches for kernels and stretches for ONNX Runtime."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite.extract import reads
from burnish.tile.lower import named


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes, in the order of their graph, that can run at one go once all before them have."""

    nodes: tuple[ir.Node, ...]
    is_ort: bool


def regions(graph: ir.Graph, ort: Collection[str]) -> tuple[Region, ...]:
    """Return the graph's nodes as regions that run one after the other; `ort` are names.

    Each node runs as early as it can. Regions alternate, so that there are as few as can be: what
    begins is whatever leads to fewer.
    """
    nodes = [node for node in graph if node.op_type != "Constant" or _gives(node)]
    cuts = [_cut(nodes, ort, start) for start in (0, 1)]
    return min(cuts, key=len)


def _gives(node: ir.Node) -> bool:
    return any(value.is_graph_output() for value in node.outputs)


def _cut(nodes: Sequence[ir.Node], ort: Collection[str], start: int) -> tuple[Region, ...]:
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
