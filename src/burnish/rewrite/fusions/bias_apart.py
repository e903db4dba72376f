"""Keep a bias apart from its product, where the runtime would join the two at a loss.

rewrite:
    MatMul(x, W) + bias of shape (width,)
    -->
    MatMul(x, W) + bias of shape (1, 1, width)

Where all sizes are known, ONNX Runtime makes a Gemm of a MatMul and an Add when it loads a model.
On a GPU its Gemm first writes the bias to every row of the result. The sum with leading ones is
the same, by the same kernel, and is left alone.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.rewrite import costs
from burnish.rewrite.edit import is_standard
from burnish.rewrite.facts import Facts, constant_tensor, static_sizes
from burnish.rewrite.fusions.biased import biased
from burnish.rewrite.rule import Builder, Match, Rule

_FUSED = "Gemm"


def _find(node: ir.Node, facts: Facts) -> Match | None:
    """Find a sum that the runtime would make a Gemm, if its table says that this is slower."""
    if not any(value is not None and _is_product(value) for value in node.inputs):
        return None
    options = facts.options
    ratio = costs.ratio(_FUSED, "", node.outputs[0].dtype, options.target)
    if options.cost == "off" or ratio is None or ratio < costs.NOISE:
        return None
    found = biased(node.outputs[0])
    shape = None if found is None else static_sizes(found.x)
    if found is None or shape is None or len(shape) < 3 or not _is_product(found.x):
        return None
    values = {"x": found.x, "bias": found.bias}
    return Match((node,), node.outputs[0], values, {"ratio": ratio, "axes": len(shape)})


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
        f"biases of products have leading axes of one: the runtime would make a {_FUSED} of product"
        f" and sum, which takes {match.attributes['ratio']:.1f}x the time of its parts"
    )
    return builder.node(
        "Add", [match.values["x"], builder.constant("bias", wide)], like=match.output
    )


RULES = (
    Rule(
        "bias-apart",
        "MatMul(x, W) + bias (width,) --> MatMul(x, W) + bias (1, 1, width)",
        anchors=frozenset({"Add"}),
        find=_find,
        replace=_replace,
    ),
)
