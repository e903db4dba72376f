"""Repair ONNX's RotaryEmbedding where one row of cosines serves all samples.

rewrite:
    RotaryEmbedding(x, cos, sin)        with x: (batch, …) and cos: (1, length, size / 2)
    -->
    RotaryEmbedding(x, positions, cos, sin)

PyTorch's exporter writes the first form; ONNX wants as many samples of cosines as of x, and
ONNX Runtime does not run it.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.rewrite import emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.rotary.pairs import Pairing
from burnish.rewrite.fusions.rotary.plan import Plan
from burnish.rewrite.fusions.rotary.turn import Turn
from burnish.rewrite.rule import Match, Refusal


def find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    """Return a RotaryEmbedding whose cosines have fewer samples than its input."""
    inputs = list(node.inputs)
    if not is_standard(node, "RotaryEmbedding") or any(value is not None for value in inputs[3:]):
        return None
    x, cos, sin = inputs[:3]
    shapes = shapes_of(facts)
    shape, table = shapes.of(x), shapes.of(cos)
    if x is None or cos is None or sin is None or shape is None or table is None:
        return None
    if len(shape) != 4 or len(table) != 3 or table[0] != 1 or shape[0] == 1:
        return None
    half = table[2]
    width = node.attributes.get_int("rotary_embedding_dim", 0) or shape[3]
    if table[1] != shape[2] or not isinstance(half, int) or width != 2 * half:
        return Refusal(
            f"the cosines {cos.name!r} of RotaryEmbedding {node.name!r} do not fit its input"
            f" {x.name!r}",
            "give the axes of the graph's inputs names, the same for the same size",
        )
    standard = facts.options.ops == "standard"
    refusal = emission.refusal(
        "RotaryEmbedding", "" if standard else CONTRIB, x.dtype, facts.options
    )
    if refusal is not None:
        return refusal
    pairing: Pairing = "neighbours" if node.attributes.get_int("interleaved", 0) else "halves"
    output = node.outputs[0]
    turn = Turn(x, cos, sin, False, pairing, output, (node,))
    return Plan(
        nodes=(node,), output=output, values={"x": x, "cos": cos, "sin": sin}, turn=turn, x=x,
        shape=shape, width=2 * half, standard=standard,
    )  # fmt: skip
