"""Which nodes of a model only compute shapes, and may run on the CPU beside a device.

ONNX Runtime keeps such nodes on the CPU on purpose: their few integers are needed there to size
the tensors of the others. A node computes shapes by either of two rules:

- everything it reads is a shape (`Shape`, `Size`), a small constant, or another shape
  computation, and its result does not grow with the values it reads (as that of `Expand` does);
- everything it gives is read only where an operator takes sizes (the second input of `Expand` or
  `Reshape`, say), or by another node of this rule, and it reads no weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

_SOURCES = frozenset({"Shape", "Size"})
_GROWING = frozenset({"ConstantOfShape", "Expand", "EyeLike", "Pad", "Range", "Resize", "Tile"})
_SIZE_OPERANDS = {
    "CenterCropPad": {1}, "ConstantOfShape": {0}, "Expand": {1}, "OneHot": {1}, "Pad": {1, 3},
    "Range": {0, 1, 2}, "Reshape": {1}, "Resize": {1, 2, 3}, "Slice": {1, 2, 3, 4}, "Split": {1},
    "Squeeze": {1}, "Tile": {1}, "TopK": {1}, "Unsqueeze": {1},
}  # fmt: skip
"""Which inputs of an operator are sizes, counts or axes, and so are read on the CPU."""
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
        nodes = list(ir.traversal.RecursiveGraphIterator(graph))
        chosen = _from_shapes(nodes) | _into_sizes(nodes)
        found += [ShapeNode(node.name or "", node.op_type) for node in nodes if node in chosen]
    return tuple(found)


def _from_shapes(nodes: Sequence[ir.Node]) -> set[ir.Node]:
    known: set[ir.Value] = set()
    found: set[ir.Node] = set()
    for node in nodes:
        if _computes_shapes(node, known):
            known.update(node.outputs)
            found.add(node)
    return found


def _into_sizes(nodes: Sequence[ir.Node]) -> set[ir.Node]:
    found: set[ir.Node] = set()
    for node in reversed(nodes):
        outputs = [value for value in node.outputs if value.uses() or value.is_graph_output()]
        if (
            outputs
            and all(_sizes_only(value, found) for value in outputs)
            and not _reads_weights(node)
        ):
            found.add(node)
    return found


def _reads_weights(node: ir.Node) -> bool:
    constants = (ir.convenience.get_const_tensor(value) for value in node.inputs if value)
    return any(tensor is not None and tensor.size > _SMALL for tensor in constants)


def _sizes_only(value: ir.Value, found: set[ir.Node]) -> bool:
    return not value.is_graph_output() and all(
        reader in found or index in _SIZE_OPERANDS.get(reader.op_type, ())
        for reader, index in value.uses()
    )


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
