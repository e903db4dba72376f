"""Write a choice that is spelled as a sum of products as the choice that it is.

rewrite:
    Cast(condition) · x + Cast(Not(condition)) · y
    -->
    Where(condition, x, y)

Both are the same for numbers. Where x or y is not finite, 0 · x is not a number: Where gives the
one that was chosen.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Partial
from burnish.operators.rules import stretched
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.rule import Builder, Match, Rule


def _find(node: ir.Node, facts: Facts) -> Match | None:
    condition = node.inputs[0]
    if not is_standard(node, "Not") or condition is None:
        return None
    cast = _reader(node.outputs[0], "Cast")
    masked = None if cast is None else _reader(cast.outputs[0], "Mul")
    added = None if masked is None else _reader(masked.outputs[0], "Add")
    if cast is None or masked is None or added is None or added.outputs[0].dtype not in FLOATS:
        return None
    kept = _other(added, masked.outputs[0]).producer()
    if kept is None or not is_standard(kept, "Mul"):
        return None
    for factor in kept.inputs:
        mark = None if factor is None else factor.producer()
        if factor is None or mark is None or not is_standard(mark, "Cast"):
            continue
        if mark.inputs[0] is condition:
            yes, no = _other(kept, factor), _other(masked, cast.outputs[0])
            narrow, spreading = _narrowest(condition, (yes, no), added.outputs[0], facts)
            nodes = (*spreading, node, mark, cast, kept, masked, added)
            values = {"condition": narrow, "yes": yes, "no": no}
            return Match(nodes, added.outputs[0], values)
    return None


def _reader(value: ir.Value, op_type: str) -> ir.Node | None:
    """Return the only reader of a value, if it is this operator."""
    uses = value.uses()
    if value.is_graph_output() or len(uses) != 1:
        return None
    node = next(iter(uses)).node
    return node if is_standard(node, op_type) else None


def _other(node: ir.Node, one: ir.Value) -> ir.Value:
    other = node.inputs[1] if node.inputs[0] is one else node.inputs[0]
    if other is None:
        raise ValueError(f"{node.name} lacks an operand")
    return other


def _narrowest(
    condition: ir.Value, choices: tuple[ir.Value, ir.Value], output: ir.Value, facts: Facts
) -> tuple[ir.Value, tuple[ir.Node, ...]]:
    """Return a condition without And(condition, all true), if the choices are as wide as that.

    Keras spreads masks over scores in this way, which would keep the scores from going.
    """
    shapes, node = shapes_of(facts), condition.producer()
    if node is None or not is_standard(node, "And"):
        return condition, ()
    for index in (0, 1):
        spread, narrow = node.inputs[index], node.inputs[1 - index]
        nodes = None if spread is None else _all_true(spread, facts)
        if nodes is None or narrow is None:
            continue
        width: Partial | None = shapes.of(narrow)
        for choice in choices:
            known = shapes.of(choice)
            width = None if width is None or known is None else stretched(width, known)
        if width is not None and width == shapes.of(output):
            return narrow, (*nodes, node)
    return condition, ()


def _all_true(value: ir.Value, facts: Facts) -> tuple[ir.Node, ...] | None:
    """Return the nodes that make a value of nothing but true; None: it may hold something else."""
    array, node = facts.array(value), value.producer()
    if array is not None:
        return () if array.dtype == np.bool_ and bool(array.all()) else None
    if node is None or not is_standard(node, "Expand"):
        return None
    source = facts.array(node.inputs[0])
    if source is None or source.dtype != np.bool_ or not bool(source.all()):
        return None
    return (*_shape_nodes(node.inputs[1]), node)


def _shape_nodes(value: ir.Value | None) -> tuple[ir.Node, ...]:
    """Return the casts between a Shape and its reader, and the Shape."""
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "Cast", "Shape"):
        return ()
    if node.op_type == "Shape":
        return (node,)
    return (*_shape_nodes(node.inputs[0]), node)


def _replace(match: Match, builder: Builder) -> ir.Value:
    inputs = [match.values[name] for name in ("condition", "yes", "no")]
    return builder.node("Where", inputs, like=match.output)


RULES = (
    Rule(
        "select",
        "Cast(c) · x + Cast(Not(c)) · y --> Where(c, x, y)",
        anchors=frozenset({"Not"}),
        find=_find,
        replace=_replace,
    ),
)
