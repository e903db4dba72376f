"""Write a choice that is spelled as a sum of products as the choice that it is.

rewrite:
    Cast(condition) · x + Cast(Not(condition)) · y
    -->
    Where(condition, x, y)

    table · x + (1 - table) · y         with a table of zeros and ones
    -->
    Where(Cast(table), x, y)

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


def _find_table(node: ir.Node, facts: Facts) -> Match | None:
    """Return the match of a choice by a table of zeros and ones."""
    if not is_standard(node, "Add") or node.outputs[0].dtype not in FLOATS:
        return None
    products = [None if value is None else value.producer() for value in node.inputs]
    for index in (0, 1):
        found = _folded(node, index, facts)
        if found is not None:
            return found
    for kept, masked in (products, products[::-1]):
        if kept is None or masked is None or {kept.op_type, masked.op_type} != {"Mul"}:
            continue
        for factor in masked.inputs:
            turn = None if factor is None else factor.producer()
            table = None if turn is None else _turned(turn, facts)
            if factor is None or turn is None or table is None or table not in kept.inputs:
                continue
            values = {"table": table, "yes": _other(kept, table), "no": _other(masked, factor)}
            return Match((turn, masked, kept, node), node.outputs[0], values)
    return None


def _folded(node: ir.Node, index: int, facts: Facts) -> Match | None:
    """Return the match of table · x + constant, where the constant is one number off the table."""
    source, rest = node.inputs[index], facts.array(node.inputs[1 - index])
    kept = None if source is None else source.producer()
    if kept is None or rest is None or not is_standard(kept, "Mul"):
        return None
    for table in kept.inputs:
        array = facts.array(table)
        if table is None or array is None or array.shape != rest.shape or array.size < 2:
            continue
        off = rest[array == 0]
        if not np.isin(array, (0, 1)).all() or not off.size or (off != off[0]).any():
            continue
        if rest[array == 1].any():
            continue
        values = {"table": table, "yes": _other(kept, table)}
        return Match((kept, node), node.outputs[0], values, {"no": float(off[0])})
    return None


def _turned(node: ir.Node, facts: Facts) -> ir.Value | None:
    """Return the table of 1 - table."""
    table = node.inputs[1] if is_standard(node, "Sub") else None
    if table is None or facts.scalar(node.inputs[0]) != 1 or not _is_truth(table, facts):
        return None
    return table if node.outputs[0].shape == table.shape else None


def _is_truth(value: ir.Value, facts: Facts) -> bool:
    """Return whether a floating value has no elements but zeros and ones."""
    current: ir.Value | None = value
    while current is not None and value.dtype in FLOATS:
        array, node = facts.array(current), current.producer()
        if array is not None:
            return bool(np.isin(array, (0, 1)).all())
        if current.dtype == ir.DataType.BOOL:
            return True
        if node is None or not is_standard(node, "Cast", "Expand", "Slice", "Unsqueeze"):
            return False
        current = node.inputs[0]
    return False


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


def _replace_table(match: Match, builder: Builder) -> ir.Value:
    table = match.values["table"]
    if table is None:
        raise ValueError("a choice has a table")
    like = ir.Value(type=ir.TensorType(ir.DataType.BOOL), shape=table.shape)
    attributes = {"to": int(ir.DataType.BOOL)}
    condition = builder.node("Cast", [table], like=like, attributes=attributes)
    other = match.values.get("no")
    if "no" in match.attributes and match.output.dtype is not None:
        number = np.array(match.attributes["no"], match.output.dtype.numpy())
        other = builder.constant("number", number)
    return builder.node("Where", [condition, match.values["yes"], other], like=match.output)


RULES = (
    Rule(
        "select",
        "Cast(c) · x + Cast(Not(c)) · y --> Where(c, x, y)",
        anchors=frozenset({"Not"}),
        find=_find,
        replace=_replace,
    ),
    Rule(
        "select-table",
        "table · x + (1 - table) · y --> Where(Cast(table), x, y)",
        anchors=frozenset({"Add"}),
        find=_find_table,
        replace=_replace_table,
    ),
)
