"""Move a scale of its own for each head or row from the scores to the queries or keys.

rewrite:
    Softmax(MatMul(query, key) · scale + …)          with scale: (heads, 1, 1)
    -->
    Softmax(MatMul(query · scale, key) + …)

Fused operators take one number as their scale; queries may be anything. A scale for each key goes
to the keys. There are fewer of either than there are scores, so this pays on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.operators.size import broadcast
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.operand import Turned, turned
from burnish.rewrite.fusions.attention.scores import is_product, leads_to_product, passed
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_FARTHEST = 8
"""How many operators lie between a softmax and the scale at most."""
_QUERY, _KEY = 0, 1
_SIDES: tuple[tuple[int, int, Literal["A", "B"]], ...] = ((_QUERY, -1, "A"), (_KEY, -2, "B"))
"""Where a factor stands, which axis of its scale must be 1, and what FusedMatMul calls it."""


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the scale on the way from a softmax to its product; None: there is none."""
    value = node.inputs[0] if is_standard(node, "Softmax") else None
    for _ in range(_FARTHEST):
        step = None if value is None else value.producer()
        if step is None:
            return None
        if is_standard(step, "Mul", "Div"):
            found = _scaled(step, facts)
            if found is not None:
                return found
        value = next((item for item in passed(step) if item and leads_to_product(item)), None)
    return None


def _scaled(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return the match of product · scale, or product / scale, where the scale is no number."""
    for index in (0, 1) if node.op_type == "Mul" else (0,):
        scores, scale = node.inputs[index], node.inputs[1 - index]
        product = None if scores is None else scores.producer()
        if scores is None or scale is None or product is None:
            continue
        if not is_product(product) or facts.scalar(scale) is not None:
            continue
        side = _side(product, scale, facts)
        if side is None or scale.dtype not in FLOATS:
            return None
        if len(scores.uses()) != 1 or scores.is_graph_output():
            return Refusal(
                f"the product {product.name!r} is scaled by {scale.name!r} and read elsewhere, too",
                "nothing to gain here, unless the other reader can go",
            )
        values = {"query": product.inputs[0], "key": product.inputs[1], "scale": scale}
        return Match(
            (product, node), node.outputs[0], values, {"side": side, "operator": node.op_type}
        )
    return None


def _side(product: ir.Node, scale: ir.Value, facts: Facts) -> int | None:
    """Return which factor can take the scale in; None: neither, or not surely."""
    shapes = shapes_of(facts)
    own, scores = shapes.of(scale), shapes.of(product.outputs[0])
    if not own or scores is None or len(scores) < 3 or not _fits(own, scores):
        return None
    for side, axis, name in _SIDES:
        factor = shapes.of(product.inputs[side])
        single = len(own) < -axis or own[axis] == 1
        if turned(product, name) != Turned():
            continue
        if single and factor is not None and len(factor) == len(scores) and _fits(own, factor):
            return side
    return None


def _fits(own: Shape, other: Shape) -> bool:
    """Return whether a value can be multiplied with another without stretching it."""
    if len(own) > len(other):
        return False
    pairs = zip(reversed(own), reversed(other), strict=False)
    return all(broadcast(mine, theirs) == theirs for mine, theirs in pairs)


def replace(match: Match, builder: Builder) -> ir.Value:
    """Return the product of factors one of which is scaled."""
    query, key, scale = (match.values[name] for name in ("query", "key", "scale"))
    factors: list[ir.Value | None] = [query, key]
    side = int(match.attributes["side"])
    factor = factors[side]
    if factor is None:
        raise ValueError("a product has two factors")
    inputs: Sequence[ir.Value | None] = (factor, scale)
    factors[side] = builder.node(str(match.attributes["operator"]), inputs, like=factor)
    product = match.nodes[0]
    return builder.copy(product, factors)[0]


RULES = (
    Rule(
        "row-scale",
        "Softmax(MatMul(q, k) · scale of each row) --> Softmax(MatMul(q · scale, k))",
        anchors=frozenset({"Softmax"}),
        find=find,
        replace=replace,
    ),
)
