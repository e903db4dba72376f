"""Fuse a residual sum with the normalisation that follows it, where that is not slower.

rewrite:
    LayerNormalization(a + b, scale, bias)
    -->
    SkipLayerNormalization(a, b, scale, bias)

    SimplifiedLayerNormalization(a + b, scale)
    -->
    SkipSimplifiedLayerNormalization(a, b, scale)

If others read the sum, too, it is the fourth output of the new node.

Where SkipLayerNormalization is slower than its parts, as on ONNX Runtime's CPU provider, the
residual Add is written as a Sum of two: the same numbers at the same speed, which the runtime
does not fuse by itself when it loads the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.constants import constant_tensor, sizes
from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.rewrite import costs, emission
from burnish.rewrite.emission import CONTRIB
from burnish.rewrite.facts import Facts, rank, static_sizes
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

FUSED: Mapping[str, str] = {
    "LayerNormalization": "SkipLayerNormalization",
    "SimplifiedLayerNormalization": "SkipSimplifiedLayerNormalization",
    "RMSNormalization": "SkipSimplifiedLayerNormalization",
}


@dataclass(frozen=True, slots=True)
class _Residual:
    """A sum of two that is normalised: `whole` has the shape of the sum."""

    node: ir.Node
    whole: ir.Value
    other: ir.Value
    is_repeated: bool
    """Whether `other` is repeated over the batch."""


def _residual(norm: ir.Node) -> ir.Node | None:
    """Return the node that adds two values, if a normalisation reads a sum; a bias is none."""
    source = norm.inputs[0]
    node = None if source is None else source.producer()
    if node is None or not is_standard(node, "Add", "Sum") or len(node.inputs) != 2:
        return None
    return None if any(value is None or _is_bias(value) for value in node.inputs) else node


def _is_bias(value: ir.Value) -> bool:
    return constant_tensor(value) is not None and (rank(value) or 0) < 2


def _find(norm: ir.Node, facts: Facts) -> Match | Refusal | None:
    node = _residual(norm)
    if node is None or not is_standard(norm, *FUSED):
        return None
    op_type, dtype = FUSED[norm.op_type], norm.outputs[0].dtype
    residual = _with_shapes(node, norm, facts)
    if isinstance(residual, Refusal):
        return residual
    refusal = emission.refusal(op_type, CONTRIB, dtype, facts.options) or _form_refusal(norm)
    return refusal or _match(norm, residual)


def _with_shapes(node: ir.Node, norm: ir.Node, facts: Facts) -> _Residual | Refusal:
    """Return the two operands, if the shape of one is that of the sum."""
    left, right = node.inputs
    if left is None or right is None:
        raise ValueError(f"{node.name} does not add two values")
    shapes = shapes_of(facts)
    for whole, other in ((left, right), (right, left)):
        for shape, part in ((sizes(whole), sizes(other)), (shapes.of(whole), shapes.of(other))):
            if shape is None or part is None or None in shape or len(shape) not in (2, 3):
                continue
            repeated = part in ((1, *shape[1:]), shape[1:]) and len(shape) == 3
            if part == shape or repeated:
                return _Residual(node, whole, other, part != shape)
    return Refusal(
        f"{node.op_type} {node.name!r} adds {list(sizes(left) or ())} and"
        f" {list(sizes(right) or ())}, expected two equal shapes of 3 axes for {norm.name!r}",
        "declare the sizes of the graph's inputs by names or numbers",
    )


def _form_refusal(norm: ir.Node) -> Refusal | None:
    """Return why a normalisation is not what the fused operator computes; None: it is."""
    source = norm.inputs[0]
    axes = 0 if source is None else rank(source) or 0
    axis = norm.attributes.get_int("axis", -1)
    if axis not in (-1, axes - 1):
        return Refusal(
            f"{norm.op_type} {norm.name!r} normalises from axis {axis} of {axes} on,"
            " expected the last one only",
            "normalise the last axis only in the source",
        )
    if any(
        output.name and (output.uses() or output.is_graph_output()) for output in norm.outputs[1:]
    ):
        return Refusal(
            f"the mean or deviation that {norm.op_type} {norm.name!r} gives is read,"
            " expected only its result",
            "nothing to gain here, unless the other reader can go",
        )
    for value in norm.inputs[1:]:
        if value is not None and len(static_sizes(value) or ()) != 1:
            return Refusal(
                f"the parameter {value.name!r} of {norm.name!r} has shape"
                f" {list(sizes(value) or ())}, expected one axis of known size",
                "store scale and bias with one axis",
            )
    return None


def _match(norm: ir.Node, residual: _Residual) -> Match | Refusal:
    total = residual.node.outputs[0]
    values = {
        "whole": residual.whole, "other": residual.other, "scale": norm.inputs[1],
        "bias": norm.inputs[2] if len(norm.inputs) > 2 else None,
    }  # fmt: skip
    epsilon = {"epsilon": norm.attributes.get_float("epsilon", 1e-5)}
    nodes = (residual.node, norm)
    if _is_read_once(total):
        return Match(nodes, norm.outputs[0], values, epsilon)
    for role in ("scale", "bias"):
        value = values[role]
        if value is not None and constant_tensor(value) is None:
            return Refusal(
                f"the {role} {value.name!r} of {norm.name!r} is computed, expected a constant,"
                f" because {total.name!r} is read before it",
                "none: the sum is needed before the scale is known",
            )
    return Match(nodes, norm.outputs[0], values, epsilon, (total,), residual.node)


def _replace(match: Match, builder: Builder) -> ir.Value | tuple[ir.Value, ...]:
    norm = match.nodes[1]
    inputs = [match.values[role] for role in ("whole", "other", "scale", "bias")]
    likes = (
        [match.output, None, None, *match.more_outputs] if match.more_outputs else [match.output]
    )
    made = builder.outputs(
        FUSED[norm.op_type],
        inputs if inputs[-1] is not None else inputs[:-1],
        likes=likes,
        domain=CONTRIB,
        attributes=match.attributes,
    )
    return (made[0], made[3]) if match.more_outputs else made[0]


def _find_apart(norm: ir.Node, facts: Facts) -> Match | None:
    """Find a residual Add that the runtime would fuse by itself, at a loss.

    It does so for LayerNormalization, and where nobody else reads the sum.
    """
    node = _residual(norm)
    if node is None or node.op_type != "Add" or not _is_read_once(node.outputs[0]):
        return None
    op_type, options = FUSED[norm.op_type], facts.options
    ratio = costs.ratio(op_type, CONTRIB, norm.outputs[0].dtype, options.target)
    if options.cost == "off" or ratio is None or ratio < costs.NOISE:
        return None
    residual = _with_shapes(node, norm, facts)
    if isinstance(residual, Refusal) or residual.is_repeated:
        return None
    values = {"left": node.inputs[0], "right": node.inputs[1]}
    return Match((node,), node.outputs[0], values, {"ratio": ratio, "fused": op_type})


def _is_read_once(value: ir.Value) -> bool:
    return len(value.uses()) == 1 and not value.is_graph_output()


def _replace_apart(match: Match, builder: Builder) -> ir.Value:
    builder.notes.append(
        f"residual sums in front of a normalisation are written as Sum: the runtime would make"
        f" {match.attributes['fused']} of an Add there, which takes"
        f" {match.attributes['ratio']:.1f}x the time of its parts"
    )
    return builder.node("Sum", [match.values["left"], match.values["right"]], like=match.output)


RULES = (
    Rule(
        "skip-norm",
        "LayerNormalization(a + b, …) --> SkipLayerNormalization(a, b, …)",
        anchors=frozenset(FUSED),
        find=_find,
        replace=_replace,
    ),
    Rule(
        "residual-sum",
        "LayerNormalization(Add(a, b), …) --> LayerNormalization(Sum(a, b), …)",
        anchors=frozenset({"LayerNormalization"}),
        find=_find_apart,
        replace=_replace_apart,
    ),
)
