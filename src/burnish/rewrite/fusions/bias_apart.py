"""Write the sum of a product and its bias in the form that the target runs fastest.

rewrite:
    bias + MatMul(x, W)
    -->
    MatMul(x, W) + bias of shape (1, 1, width)

Where all sizes are known, ONNX Runtime makes a Gemm of a MatMul and an Add when it loads a model;
on a GPU it then first writes the bias to every row of the result. A sum with leading ones is left
alone. And only where the bias comes second does its Add know that it is one for each column.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import costs
from burnish.rewrite.facts import Facts, rank, static_sizes
from burnish.rewrite.fusions.biased import biased
from burnish.rewrite.rule import Builder, Match, Rule

_FUSED = "Gemm"
_FIRST = "Add of a bias that comes first"
"""As the tables of costs call it: against one of a bias that comes second."""


def _find(node: ir.Node, facts: Facts) -> Match | None:
    """Find a sum that is slower as it is, by the target's table, or as the runtime will make it."""
    if not any(value is not None and _is_product(value) for value in node.inputs):
        return None
    found = biased(node.outputs[0])
    axes = None if found is None else rank(found.x)
    if found is None or axes is None or axes < 3 or not _is_product(found.x):
        return None
    options, ratios = facts.options, []
    if static_sizes(found.x) is not None:
        ratios.append(costs.ratio(_FUSED, "", found.x.dtype, options.target))
    if node.inputs[0] is found.bias:
        ratios.append(costs.ratio(_FIRST, "", found.x.dtype, options.target))
    ratio = max((known for known in ratios if known is not None), default=1.0)
    if options.cost == "off" or ratio < costs.NOISE:
        return None
    values = {"x": found.x, "bias": found.bias}
    return Match((node,), node.outputs[0], values, {"ratio": ratio, "axes": axes})


def _is_product(value: ir.Value) -> bool:
    """Return whether a value is a product with a matrix that nobody but the sum reads."""
    node = value.producer()
    if node is None or not is_standard(node, "MatMul") or len(value.uses()) != 1:
        return False
    return node.inputs[1] is not None and len(static_sizes(node.inputs[1]) or ()) == 2


def _replace(match: Match, builder: Builder) -> ir.Value:
    bias = match.values["bias"]
    tensor = None if bias is None else constant_tensor(bias)
    if tensor is None:
        raise ValueError("this match is not one with a constant bias")
    wide = tensor.numpy().reshape((1,) * (int(match.attributes["axes"]) - 1) + (-1,))
    builder.notes.append(
        "biases of products are added second and with leading axes of one: as they were, or as the"
        f" runtime would make them, they take {match.attributes['ratio']:.1f}x the time"
    )
    return builder.node(
        "Add", [match.values["x"], builder.constant("bias", wide)], like=match.output
    )


RULES = (
    Rule(
        "bias-apart",
        "bias + MatMul(x, W) --> MatMul(x, W) + bias (1, 1, width)",
        anchors=frozenset({"Add"}),
        find=_find,
        replace=_replace,
    ),
)
