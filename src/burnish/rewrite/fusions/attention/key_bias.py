"""Leave out the bias of an attention's keys: it moves all scores of a row alike.

rewrite:
    Attention(q, k + bias, v)
    -->
    Attention(q, k, v)

q · (k + bias) = q · k + q · bias, and the second term is the same for all keys: a softmax over
the keys is blind to it. This fails where the scores are bent before the softmax (a soft cap), and
where some keys come without the bias (a cache).
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.fused import KEY, read
from burnish.rewrite.fusions.biased import biased
from burnish.rewrite.fusions.refusals import still_read
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


def _find(node: ir.Node, _facts: Facts) -> Match | Refusal | None:
    attention = read(node)
    found = None if attention is None else biased(node.inputs[KEY])
    if attention is None or found is None:
        return None
    if attention.softcap:
        return Refusal(
            f"{node.op_type} {node.name!r} caps its scores, expected a softmax right behind the"
            f" product: the bias {found.bias.name!r} of the keys does not cancel",
            "none: the soft cap sees the bias",
        )
    if not attention.is_plain:
        return Refusal(
            f"{node.op_type} {node.name!r} has a cache, a padding mask or further results, expected"
            f" none: keys may be there that the bias {found.bias.name!r} is not added to",
            "none: the bias cancels only if all keys have it",
        )
    nodes = (found.node, node)
    refusal = still_read(found.node, nodes, node.outputs[0])
    return refusal or Match(nodes, node.outputs[0], {"key": found.x})


def _replace(match: Match, builder: Builder) -> ir.Value:
    node = match.nodes[-1]
    inputs = list(node.inputs)
    inputs[KEY] = match.values["key"]
    return builder.node(
        node.op_type, inputs, like=match.output, domain=node.domain,
        attributes=dict(node.attributes),
    )  # fmt: skip


RULES = (
    Rule(
        "attention-key-bias",
        "Attention(q, k + bias, v) --> Attention(q, k, v)",
        anchors=frozenset({"Attention", "MultiHeadAttention"}),
        find=_find,
        replace=_replace,
    ),
)
