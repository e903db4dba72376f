"""How much a node computes and moves, from its operator and its shapes.

A node whose operator is not in the table, or whose shapes are not known, has unknown work: None,
never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.analyze.operations import Operands, Shape, count_of, elements
from burnish.core.tensors import BITS, FLOATS, TensorSpec
from burnish.store.graph import GraphNode, GraphRecord


@dataclass(frozen=True, slots=True)
class Work:
    """What must be computed and moved at least, wherever it runs."""

    flops: float
    bytes_moved: float
    """Every input that is read and every output that is written, once."""
    dtype: str
    """The element type of the arithmetic."""

    @property
    def intensity(self) -> float:
        """Return operations per byte; infinite where nothing is moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else math.inf


VIEWS = frozenset(
    {
        "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Shape", "Size", "Constant",
        "Dropout",
    }
)  # fmt: skip
"""They move nothing: the result is the operand under another shape, or known beforehand."""
MOVING = VIEWS | {
    "Transpose", "Cast", "Expand", "Concat", "Split", "Slice", "ReorderInput", "ReorderOutput",
    "MemcpyToHost", "MemcpyFromHost",
}  # fmt: skip
"""They compute nothing; engines put them in around operators of the model."""
_LOOK_UPS = frozenset({"Gather", "GatherND", "GatherElements", "Slice", "Expand"})
"""They read of their first input only as much as they give."""
_INTEGER = ("QLinear", "DynamicQuantizeMatMul", "MatMulInteger", "ConvInteger", "QGemm")
"""How the names of operators begin that compute with 8-bit integers."""


def work_of(node: GraphNode, graph: GraphRecord) -> Work | None:
    """Return what a node computes and moves; None: its operator or a shape is not known."""
    count = count_of(node.domain, node.op_type)
    inputs = [graph.static(name) if name else None for name in node.inputs]
    outputs = [graph.static(name) for name in node.outputs if name]
    known_inputs = all(spec is not None for spec, n in zip(inputs, node.inputs, strict=True) if n)
    if count is None or not known_inputs or not outputs or None in outputs:
        return None
    operands = Operands(
        tuple(_sizes(spec) if spec is not None else None for spec in inputs),
        tuple(_sizes(spec) for spec in outputs if spec is not None),
        node.attributes,
    )
    read = [spec for spec in inputs if spec is not None]
    written = [spec for spec in outputs if spec is not None]
    return Work(count(operands), _bytes(node, read, written), _dtype(node, read, written))


def _sizes(spec: TensorSpec) -> Shape:
    return tuple(int(dim) for dim in spec.shape)


def _bytes(node: GraphNode, read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> float:
    if node.op_type in VIEWS:
        return 0.0
    given = sum(map(size_bytes, written))
    if node.op_type in _LOOK_UPS and read:
        return given + min(given, size_bytes(read[0])) + sum(map(size_bytes, read[1:]))
    # a tensor that is read twice (x * x) moves once
    return given + sum({spec.name: size_bytes(spec) for spec in read}.values())


def size_bytes(spec: TensorSpec) -> float:
    """Return how much memory a tensor of known shape takes; text counts as pointers."""
    return elements(_sizes(spec)) * BITS.get(spec.dtype, 64) / 8


def _dtype(node: GraphNode, read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> str:
    if node.op_type.startswith(_INTEGER):
        return "i8"
    floats = [spec.dtype for spec in (*read, *written) if spec.dtype in FLOATS]
    return floats[0] if floats else written[0].dtype


def work_type(node: GraphNode, graph: GraphRecord) -> str:
    """Return the element type in which a node computes, as far as its tensors tell."""
    known = [spec for name in (*node.inputs, *node.outputs) if (spec := graph.tensors.get(name))]
    floats = [spec.dtype for spec in known if spec.dtype in FLOATS]
    return floats[0] if floats else next((spec.dtype for spec in known), "f32")


def combined(works: Iterable[Work | None]) -> Work | None:
    """Return the work of several nodes done one after the other; None: one is not known."""
    known: list[Work] = []
    for work in works:
        if work is None:
            return None
        known.append(work)
    if not known:
        return None
    heaviest = max(known, key=lambda work: work.flops)
    return Work(
        sum(work.flops for work in known), sum(work.bytes_moved for work in known), heaviest.dtype
    )


def fused(nodes: Sequence[GraphNode], graph: GraphRecord) -> Work | None:
    """Return the work of nodes done as one: what they hand to each other is not moved."""
    whole = combined(work_of(node, graph) for node in nodes)
    if whole is None:
        return None
    inside = {name for node in nodes for name in node.outputs if name}
    members = {node.name for node in nodes}
    leaving = {spec.name for spec in graph.outputs}
    leaving |= {name for node in graph.nodes if node.name not in members for name in node.inputs}
    read = {name for node in nodes for name in node.inputs if name} - inside
    crossing = [graph.static(name) for name in sorted(read | (inside & leaving))]
    moved = sum(size_bytes(spec) for spec in crossing if spec is not None)
    return Work(whole.flops, min(moved, whole.bytes_moved), whole.dtype)
