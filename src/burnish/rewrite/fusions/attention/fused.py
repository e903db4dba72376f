"""An attention that stands in the graph as one operator, whichever of the two it is."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import rank

KEY, VALUE = 1, 2
"""Where both operators read keys and values."""


@dataclass(frozen=True, slots=True)
class FusedAttention:
    """A MultiHeadAttention of ONNX Runtime, or an Attention of ONNX, on joined heads."""

    node: ir.Node
    heads: int
    groups: int
    """Heads of keys and values; each serves `heads / groups` heads of queries."""
    softcap: float
    scores_bias: ir.Value | None
    """What is added to the scores; an Attention may have a mask of truth values there."""
    is_plain: bool
    """No cache, no further mask, no results but the first."""


def read(node: ir.Node) -> FusedAttention | None:
    """Return the attention that a node computes; None: it is none, or has a bias of its own."""
    if len(node.inputs) < 3 or any(_rank(node, index) != 3 for index in range(3)):
        return None
    number = node.attributes.get_int
    if node.domain == CONTRIB and node.op_type == "MultiHeadAttention":
        if _given(node, 3) is not None:
            return None
        heads = number("num_heads", 0) or 0
        return FusedAttention(
            node, heads, heads, 0.0, _given(node, 5),
            is_plain=_is_plain(node, (4, *range(6, len(node.inputs)))),
        )  # fmt: skip
    if is_standard(node, "Attention"):
        cap = node.attributes.get_float("softcap", 0.0) or 0.0
        return FusedAttention(
            node, number("q_num_heads", 0) or 0, number("kv_num_heads", 0) or 0, cap,
            _given(node, 3), is_plain=_is_plain(node, range(4, len(node.inputs))),
        )  # fmt: skip
    return None


def _given(node: ir.Node, index: int) -> ir.Value | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _rank(node: ir.Node, index: int) -> int | None:
    value = _given(node, index)
    return None if value is None else rank(value)


def _is_plain(node: ir.Node, others: tuple[int, ...] | range) -> bool:
    unread = not any(value.uses() or value.is_graph_output() for value in node.outputs[1:])
    return unread and all(_given(node, index) is None for index in others)
