"""Let ONNX's Attention read heads as they come: joined, and not repeated for groups of queries.

rewrite:
    Transpose(Attention(Transpose(q), Transpose(k), Transpose(v), mask))
    -->
    Attention(q, k, v, mask, q_num_heads, kv_num_heads)
"""

from __future__ import annotations

import math

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.operand import (
    Operand,
    joined_heads,
    operand,
    splits,
    without_repeats,
)
from burnish.rewrite.fusions.attention.plan import AttentionPlan, absorbed
from burnish.rewrite.matched import in_order
from burnish.rewrite.rule import Match, Refusal

_KEPT = frozenset({"scale", "softcap", "is_causal", "qk_matmul_output_mode", "softmax_precision"})


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return how an Attention can read its operands more directly; None: it already does."""
    if not is_standard(node, "Attention") or _keeps_more(node):
        return None
    parts = [operand(value, facts) for value in node.inputs[:3] if value is not None]
    found = [part for part in parts if part is not None and part.factor == 1.0]
    if len(found) != 3 or any(len(part.perm) != 4 for part in found):
        return None
    query, key, value = found
    narrow = [without_repeats(part, facts) for part in (key, value)]
    grouped = narrow[0] is not None and narrow[1] is not None
    if narrow[0] is not None and narrow[1] is not None:
        key, value = narrow[0], narrow[1]
    shapes = [part.shape(facts) for part in (query, key, value)]
    if not grouped and any(joined_heads(part, facts) is None for part in found):
        return None
    q, k, v = (shape or () for shape in shapes)
    if not _fits(q, k, v):
        return Refusal(
            f"heads and batch of the operands of Attention {node.name!r} cannot be proven to fit",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    return _plan(node, (query, key, value), (q, k, v), facts)


def _keeps_more(node: ir.Node) -> bool:
    """Return whether a node has a cache, weights to give, or a form that is joined already."""
    cached = any(value is not None for value in node.inputs[4:])
    given = any(output.uses() or output.is_graph_output() for output in node.outputs[1:])
    told = {name for name in node.attributes if name not in _KEPT}
    precise = "softmax_precision" in node.attributes
    return cached or given or bool(told) or precise or len(node.inputs) < 3


def _fits(q: Shape, k: Shape, v: Shape) -> bool:
    whole = isinstance(q[1], int) and isinstance(k[1], int) and isinstance(q[3], int)
    return whole and q[0] == k[0] == v[0] and k[1:3] == v[1:3]


def _plan(
    node: ir.Node,
    operands: tuple[Operand, Operand, Operand],
    shapes: tuple[Shape, Shape, Shape],
    facts: Facts,
) -> Match:
    query, key, value = operands
    q, k, v = shapes
    product = (q[0], q[1], q[2], k[2])
    output, layout, tail = absorbed(node.outputs[0], product, v, facts)
    size = q[3] if isinstance(q[3], int) else 1
    mask = node.inputs[3] if len(node.inputs) > 3 else None
    nodes = in_order(splits(operands, facts), key.nodes, value.nodes, query.nodes, [node], tail)
    return AttentionPlan(
        nodes=nodes, output=output,
        values={"query": query.value, "key": key.value, "value": value.value, "mask": mask},
        query=query, key=key, value=value, product=product, size=v[-1:], layout=layout,
        scale=node.attributes.get_float("scale", 1 / math.sqrt(size)) or 1 / math.sqrt(size),
        softcap=node.attributes.get_float("softcap", 0.0) or 0.0, standard=True, mask=mask,
        causal=bool(node.attributes.get_int("is_causal", 0)),
    )  # fmt: skip
