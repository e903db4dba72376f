"""Compute the same thing once.

onnx-ir's own CommonSubexpressionEliminationPass does not look into bodies, shares operators of
domains that may keep state, and takes Bernoulli and Dropout for reproducible.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.rewrite import edit
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted

RANDOM = frozenset({
    "Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
})  # fmt: skip
_PURE_DOMAINS = frozenset({*walk.STANDARD_DOMAINS, "com.microsoft"})
"""Operators of other domains may keep state."""
_LARGEST_COMPARED = 64
"""Elements of a tensor attribute that are compared; larger ones count as different."""


@dataclass(frozen=True)
class ShareExpressions(InPlacePass):
    """Keep one of several nodes that apply the same operator to the same values.

    rewrite:
        a = Sub(x, m); b = Sub(x, m)
        -->
        a = Sub(x, m)   and readers of b read a
    """

    def call(self, model: ir.Model) -> Counted:
        """Sweep each graph once."""
        return counted(model, sum(_share(graph) for graph in walk.graphs(model)))


def _share(graph: ir.Graph) -> int:
    """Find nodes that read the same values, and look closer only where there are several."""
    alike: dict[Hashable, ir.Node] = {}
    same: dict[Hashable, ir.Node] = {}
    doomed = []
    for node in graph:
        if node.domain not in _PURE_DOMAINS or node.op_type in RANDOM:
            continue
        reads = (node.op_type, *map(id, node.inputs))
        other = alike.setdefault(reads, node)
        if other is node:
            continue
        key, others = _key(node), _key(other)
        if others is not None:
            same.setdefault((reads, others), other)
        twin = None if key is None else same.setdefault((reads, key), node)
        if twin not in (None, node) and _redirect_all(node, twin):
            doomed.append(node)
    edit.remove(doomed)
    return len(doomed)


def _redirect_all(node: ir.Node, twin: ir.Node) -> bool:
    outputs = node.outputs
    if len(outputs) > 1 and any(output.is_graph_output() for output in outputs):
        return False
    pairs = zip(outputs, twin.outputs, strict=True)
    return all(edit.redirect(output, other) for output, other in pairs)


def _key(node: ir.Node) -> Hashable:
    """Return what two nodes on the same inputs must have in common; None: never shared."""
    attributes: list[tuple[str, Hashable]] = []
    for name, attribute in node.attributes.items():
        value = _attribute_key(attribute)
        if value is None:
            return None
        attributes.append((name, value))
    return (
        node.op_identifier(),
        tuple(bool(output.name) for output in node.outputs),
        tuple(sorted(attributes, key=lambda pair: pair[0])),
    )


def _attribute_key(attribute: ir.Attr) -> Hashable:
    if attribute.is_ref():
        return ("parameter", attribute.ref_attr_name)
    kind = attribute.type
    if kind == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        if tensor.dtype == ir.DataType.STRING or tensor.size > _LARGEST_COMPARED:
            return None
        return (kind, tensor.dtype, tuple(tensor.shape), tensor.tobytes())
    if kind in (ir.AttributeType.INTS, ir.AttributeType.FLOATS, ir.AttributeType.STRINGS):
        return (kind, tuple(attribute.value))
    if kind in (ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.STRING):
        return (kind, attribute.value)
    return None
