"""How much a node computes and moves, from its operator and its shapes.

A node whose operator is not in the table, or whose shapes are not known, has unknown work: None,
never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.core.tensors import BITS, FLOATS, TensorSpec
from burnish.operators.record import (
    OPERATORS,
    OWN_DOMAINS,
    STANDARD_DOMAINS,
    Movement,
    Operands,
    Operator,
    Sizes,
    find,
)
from burnish.operators.rules import nothing
from burnish.store.graph import GraphNode, GraphRecord

_UNMOVED = (Movement.VIEW, Movement.NOTHING)


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


def work_of(node: GraphNode, graph: GraphRecord) -> Work | None:
    """Return what a node computes and moves; None: its operator or a shape is not known."""
    operator = _operator(node)
    inputs = [graph.static(name) if name else None for name in node.inputs]
    outputs = [graph.static(name) for name in node.outputs if name]
    known_inputs = all(spec is not None for spec, n in zip(inputs, node.inputs, strict=True) if n)
    if operator is None or operator.work is None or not known_inputs or None in outputs:
        return None
    written = [spec for spec in outputs if spec is not None]
    if not written:
        return None
    operands = Operands(
        attributes=node.attributes,
        inputs=tuple(_sizes(spec) if spec is not None else None for spec in inputs),
        outputs=tuple(map(_sizes, written)),
    )
    read = [spec for spec in inputs if spec is not None]
    return Work(
        operator.work(operands), _bytes(operator, read, written), _dtype(operator, read, written)
    )


def _operator(node: GraphNode) -> Operator | None:
    """Return a node's record; ONNX's names mean the same work in every domain."""
    found = find(node.domain, node.op_type)
    return OPERATORS[node.op_type] if found is None and node.op_type in OPERATORS else found


def _sizes(spec: TensorSpec) -> Sizes:
    return tuple(int(dim) for dim in spec.shape)


def _bytes(operator: Operator, read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> float:
    if operator.traffic in _UNMOVED:
        return 0.0
    given = sum(map(size_bytes, written))
    if operator.traffic is Movement.AS_GIVEN and read:
        return given + min(given, size_bytes(read[0])) + sum(map(size_bytes, read[1:]))
    # a tensor that is read twice (x * x) moves once
    return given + sum({spec.name: size_bytes(spec) for spec in read}.values())


def size_bytes(spec: TensorSpec) -> float:
    """Return how much memory a tensor of known shape takes; text counts as pointers."""
    return math.prod(_sizes(spec)) * BITS.get(spec.dtype, 64) / 8


def _dtype(operator: Operator, read: Sequence[TensorSpec], written: Sequence[TensorSpec]) -> str:
    floats = [spec.dtype for spec in (*read, *written) if spec.dtype in FLOATS]
    return operator.computes or (floats[0] if floats else written[0].dtype)


def work_under(op_type: str | None, nodes: Sequence[GraphNode], graph: GraphRecord) -> Work | None:
    """Return the work of nodes that an engine ran as one operator; None: it is not known.

    An operator that computes nothing, and is none of theirs, was put in by the engine around
    them: their arithmetic is done elsewhere, and what such a one moves nobody tells.
    """
    ran = _by_name(op_type) if op_type not in {node.op_type for node in nodes} else None
    if ran is not None and ran.work is nothing:
        return Work(0.0, 0.0, _type_of(nodes[0], graph)) if ran.traffic in _UNMOVED else None
    return work_of(nodes[0], graph) if len(nodes) == 1 else fused(nodes, graph)


def _by_name(op_type: str | None) -> Operator | None:
    """Return the record of an operator of which a timeline gives no domain."""
    domains = (STANDARD_DOMAINS[0], *OWN_DOMAINS)
    found = (find(domain, op_type) for domain in domains if op_type is not None)
    return next((one for one in found if one is not None), None)


def _type_of(node: GraphNode, graph: GraphRecord) -> str:
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
