"""Write a softmax as one operator, whatever its highest score is taken away for.

rewrite:
    Softmax(x - ReduceMax(x))
    -->
    Softmax(x)

    Exp(x - ReduceMax(x)) / ReduceSum(Exp(x - ReduceMax(x)))
    -->
    Softmax(x)

The operator takes the highest of each row away by itself, so that no exponential overflows.
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite.facts import FLOATS, Facts, rank
from burnish.rewrite.rule import Builder, Match, Rule

_OVER_ONE_AXIS = 13
"""Before this opset, Softmax runs over an axis and all behind it."""


def _find_shifted(node: ir.Node, facts: Facts) -> Match | None:
    """Return the match of a softmax of differences from the highest score."""
    if not is_standard(node, "Softmax") or facts.opset < _OVER_ONE_AXIS:
        return None
    found = _shifted(node.inputs[0], facts)
    axes = None if node.inputs[0] is None else rank(node.inputs[0])
    if found is None or axes is None:
        return None
    source, axis, nodes = found
    if node.attributes.get_int("axis", -1) % axes != axis:
        return None
    return Match((*nodes, node), node.outputs[0], {"x": source}, {"axis": axis})


def _find_spelled(node: ir.Node, facts: Facts) -> Match | None:
    """Return the match of exponentials over their sum."""
    if not is_standard(node, "Div") or node.outputs[0].dtype not in FLOATS:
        return None
    exponential = None if node.inputs[0] is None else node.inputs[0].producer()
    total = None if node.inputs[1] is None else node.inputs[1].producer()
    if facts.opset < _OVER_ONE_AXIS or exponential is None or total is None:
        return None
    if not is_standard(exponential, "Exp") or not is_standard(total, "ReduceSum"):
        return None
    found = _shifted(exponential.inputs[0], facts)
    if found is None or total.inputs[0] is not exponential.outputs[0]:
        return None
    source, axis, nodes = found
    if _reduced(total, facts) != axis:
        return None
    nodes = (*nodes, exponential, total, node)
    return Match(nodes, node.outputs[0], {"x": source}, {"axis": axis})


def _shifted(
    value: ir.Value | None, facts: Facts
) -> tuple[ir.Value, int, tuple[ir.Node, ...]] | None:
    """Return x, the axis and the nodes of x - ReduceMax(x)."""
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "Sub"):
        return None
    source, highest = node.inputs
    reduce = None if highest is None else highest.producer()
    if source is None or reduce is None or not is_standard(reduce, "ReduceMax"):
        return None
    axis = _reduced(reduce, facts)
    return (
        None if reduce.inputs[0] is not source or axis is None else (source, axis, (reduce, node))
    )


def _reduced(node: ir.Node, facts: Facts) -> int | None:
    """Return the one axis, counted from the front, that a reduction runs over and keeps."""
    source, axes = node.inputs[0], facts.axes(node)
    count = None if source is None else rank(source)
    if (
        count is None
        or axes is None
        or len(axes) != 1
        or not node.attributes.get_int("keepdims", 1)
    ):
        return None
    return axes[0] % count


def _replace(match: Match, builder: Builder) -> ir.Value:
    axis = int(match.attributes["axis"])
    return builder.node(
        "Softmax", [match.values["x"]], like=match.output, attributes={"axis": axis}
    )


RULES = (
    Rule(
        "softmax",
        "Exp(x - ReduceMax(x)) / ReduceSum(Exp(x - ReduceMax(x))) --> Softmax(x)",
        anchors=frozenset({"Div"}),
        find=_find_spelled,
        replace=_replace,
    ),
    Rule(
        "softmax-shift",
        "Softmax(x - ReduceMax(x)) --> Softmax(x)",
        anchors=frozenset({"Softmax"}),
        find=_find_shifted,
        replace=_replace,
    ),
)
