"""Let a residual sum with a normalisation add the bias of the product in front of it, too.

rewrite:
    SkipLayerNormalization(x + bias, skip, scale, shift)
    -->
    SkipLayerNormalization(x, skip, scale, shift, bias)

The same for SkipSimplifiedLayerNormalization. ONNX Runtime does so by itself where sizes are not
known; where they are, it makes the product and the sum a Gemm first.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from burnish.infer.constants import sizes
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.biased import biased
from burnish.rewrite.fusions.refusals import still_read
from burnish.rewrite.matched import removable
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

_BIAS_INPUT: Mapping[str, int] = {
    "SkipLayerNormalization": 4,
    "SkipSimplifiedLayerNormalization": 3,
}


def _find(node: ir.Node, _facts: Facts) -> Match | Refusal | None:
    if node.domain != CONTRIB or _has_bias(node):
        return None
    refusal: Refusal | None = None
    for index, role in enumerate(("whole", "other")):
        found = biased(node.inputs[index])
        if found is None or sizes(found.x) != sizes(found.node.outputs[0]):
            continue
        nodes = (found.node, node)
        more = tuple(value for value in node.outputs[1:] if _is_read(value))
        if found.node in removable(nodes, node.outputs[0], *more):
            values = {"whole": node.inputs[0], "other": node.inputs[1]}
            values |= {role: found.x, "bias": found.bias}
            return Match(nodes, node.outputs[0], values, more_outputs=more)
        refusal = still_read(found.node, nodes, node.outputs[0])
    return refusal


def _has_bias(node: ir.Node) -> bool:
    index = _BIAS_INPUT[node.op_type]
    return len(node.inputs) > index and node.inputs[index] is not None


def _is_read(value: ir.Value) -> bool:
    return bool(value.uses()) or value.is_graph_output()


def _replace(match: Match, builder: Builder) -> ir.Value | tuple[ir.Value, ...]:
    node = match.nodes[-1]
    index = _BIAS_INPUT[node.op_type]
    inputs = [match.values["whole"], match.values["other"], *node.inputs[2:index]]
    inputs += [None] * (index - len(inputs)) + [match.values["bias"]]
    likes = [value if value in match.outputs else None for value in node.outputs]
    made = builder.outputs(
        node.op_type, inputs, likes=likes, domain=CONTRIB, attributes=dict(node.attributes)
    )
    given = tuple(new for new, like in zip(made, likes, strict=True) if like is not None)
    return given if len(given) > 1 else given[0]


RULES = (
    Rule(
        "skip-bias",
        "SkipLayerNormalization(x + bias, skip, …) --> SkipLayerNormalization(x, skip, …, bias)",
        anchors=frozenset(_BIAS_INPUT),
        find=_find,
        replace=_replace,
    ),
)
