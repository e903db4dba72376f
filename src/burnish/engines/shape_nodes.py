"""Which nodes of a model only compute shapes, and may run on the CPU beside a device.

ONNX Runtime keeps such nodes on the CPU on purpose: their few integers are needed there to size
the tensors of the others. The rule: a node computes shapes when everything it reads is a shape
(`Shape`, `Size`), a small constant, or another shape computation, and its result does not grow
with the values it reads (as that of `Expand` or `Range` does).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx_ir as ir

_SOURCES = frozenset({"Shape", "Size"})
_GROWING = frozenset({"ConstantOfShape", "Expand", "EyeLike", "Pad", "Range", "Resize", "Tile"})
_SMALL = 1024
"""Elements; no shape arithmetic reads a constant as large as this, and weights are larger."""


@dataclass(frozen=True, slots=True)
class ShapeNode:
    """A node that only computes shapes."""

    name: str
    op_type: str


def shape_nodes(model: ir.Model) -> tuple[ShapeNode, ...]:
    """Return the nodes that only compute shapes, subgraphs and functions included."""
    found: list[ShapeNode] = []
    graphs: tuple[ir.Graph | ir.Function, ...] = (model.graph, *model.functions.values())
    for graph in graphs:
        known: set[ir.Value] = set()
        for node in ir.traversal.RecursiveGraphIterator(graph):
            if _computes_shapes(node, known):
                known.update(node.outputs)
                found.append(ShapeNode(node.name or "", node.op_type))
    return tuple(found)


def _computes_shapes(node: ir.Node, known: set[ir.Value]) -> bool:
    if node.op_type in _SOURCES:
        return True
    if node.op_type in _GROWING or node.op_type.startswith("Random"):
        return False
    if node.op_type == "Constant":
        return _all_small(node.outputs)
    read = [value for value in node.inputs if value is not None]
    return bool(read) and all(value in known or _all_small([value]) for value in read)


def _all_small(values: Iterable[ir.Value]) -> bool:
    tensors = [ir.convenience.get_const_tensor(value) for value in values]
    return all(tensor is not None and tensor.size <= _SMALL for tensor in tensors)
