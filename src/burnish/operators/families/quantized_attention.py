"""QAttention: attention whose projection is a product of bytes."""

from __future__ import annotations

from burnish.operators.families.contrib_attention import (
    attend,
    projected_shape,
    projected_work,
    refuse,
)
from burnish.operators.loops.integer_products import ByteOperand, scaled_product
from burnish.operators.loops.parameters import required
from burnish.operators.record import Operator, register
from burnish.operators.rules import type_of_input
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError


def quantised_attention(builder: NestBuilder, node: Node) -> None:
    """Add the projection of bytes to query, key and value, and their attention in f32."""
    refuse(node, {8: "a past"})
    if node.output(1) is not None or node.attributes.get("do_rotary", 0):
        raise NotCoveredError("a past that it gives out, or positions that it turns")
    operands = (
        ByteOperand(required(node, 0), node.input(6)),
        ByteOperand(required(node, 1), node.input(7)),
    )
    scales = required(node, 3), required(node, 4)
    name = builder.fresh(f"{node.outputs[0]}.projected")
    joined = scaled_product(builder, name, operands, scales, required(node, 2))
    attend(builder, node, joined, (node.input(5), None))


register({
    "com.microsoft.QAttention": Operator(
        projected_shape, type_of_input(3), work=projected_work, computes="i8",
        loops=quantised_attention,
    ),
})  # fmt: skip
