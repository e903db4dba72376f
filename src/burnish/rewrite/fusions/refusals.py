"""Refusals that several rules give in the same words."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from burnish.rewrite.matched import narrowing, other_reader
from burnish.rewrite.rule import Refusal


def still_read(anchor: ir.Node, nodes: Sequence[ir.Node], output: ir.Value) -> Refusal | None:
    """Return why nothing is gained: the anchor stays, because somebody else reads it."""
    reader = other_reader(nodes, output, anchor)
    if reader is None:
        return None
    return Refusal(
        f"{anchor.op_type} {anchor.name!r} must stay: {reader}",
        "nothing to gain here, unless the other reader can go",
    )


def narrower_than(x: ir.Value, nodes: Sequence[ir.Node]) -> Refusal | None:
    """Return which of `nodes` computes in a narrower type than x has."""
    narrow = narrowing(nodes, x.dtype or ir.DataType.FLOAT)
    if narrow is None:
        return None
    return Refusal(
        f"{narrow.op_type} {narrow.name!r} computes in {narrow.outputs[0].dtype},"
        f" expected nothing narrower than {x.dtype}, the type of {x.name!r}",
        "export the model in one floating type",
    )
