"""Fuse the bias in front of a GELU into it.

rewrite:
    Gelu(x + bias)                          --> BiasGelu(x, bias)
    Gelu(x + bias, approximate = "tanh")    --> FastGelu(x, bias)

BiasGelu computes the exact GELU and FastGelu the one with tanh: they are never exchanged.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.constants import sizes
from burnish.infer.walk import is_standard
from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite import emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts, static_sizes
from burnish.rewrite.matched import other_reader
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


def _find(node: ir.Node, facts: Facts) -> Match | Refusal | None:
    fused = _fused_operator(node)
    total = node.inputs[0]
    add = None if total is None else total.producer()
    if fused is None or total is None or add is None or not is_standard(add, "Add"):
        return None
    for x, bias in (add.inputs, add.inputs[::-1]):
        if x is not None and bias is not None and _is_bias(bias, x):
            return _checked(
                node, Match((add, node), node.outputs[0], {"x": x, "bias": bias}), facts
            )
    return None


def _fused_operator(node: ir.Node) -> str | None:
    """Return the operator that adds a bias and computes the same GELU as a node."""
    if node.domain in STANDARD_DOMAINS and node.op_type == "Gelu":
        exact = node.attributes.get_string("approximate", "none") == "none"
        return "BiasGelu" if exact else "FastGelu"
    if node.domain == CONTRIB and len(node.inputs) == 1:
        return {"Gelu": "BiasGelu", "FastGelu": "FastGelu"}.get(node.op_type)
    return None


def _is_bias(bias: ir.Value, x: ir.Value) -> bool:
    """Return whether a value has one axis, which is surely the last one of x."""
    length, shape = static_sizes(bias), sizes(x)
    return length is not None and shape is not None and len(length) == 1 and shape[-1:] == length


def _checked(node: ir.Node, match: Match, facts: Facts) -> Match | Refusal:
    refusal = emission.refusal(
        _fused_operator(node) or "", CONTRIB, match.output.dtype, facts.options
    )
    if refusal is not None:
        return refusal
    reader = other_reader(match.nodes, match.output, match.nodes[0])
    if reader is None:
        return match
    return Refusal(
        f"Add {match.nodes[0].name!r} in front of {node.op_type} {node.name!r} must stay: {reader}",
        "nothing to gain here, unless the other reader can go",
    )


def _replace(match: Match, builder: Builder) -> ir.Value:
    op_type = _fused_operator(match.nodes[1]) or ""
    inputs = [match.values["x"], match.values["bias"]]
    return builder.node(op_type, inputs, like=match.output, domain=CONTRIB)


RULES = (
    Rule(
        "bias-gelu",
        "Gelu(x + bias) --> BiasGelu(x, bias), with tanh FastGelu(x, bias)",
        anchors=frozenset({"Gelu", "FastGelu"}),
        find=_find,
        replace=_replace,
    ),
)
