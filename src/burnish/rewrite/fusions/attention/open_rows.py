"""Whether a mask leaves something open in each row: then what it puts elsewhere has no weight."""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite.facts import Facts, rank


def first_key_is_open(condition: ir.Value, *, filled: bool, facts: Facts) -> bool:
    """Return whether no row of a constant mask, however it is cut, fills the first of its keys.

    `filled` is what the condition is where scores are filled. A causal mask is an example: each
    token sees the first one.
    """
    value: ir.Value | None = condition
    while value is not None:
        table = facts.array(value)
        if table is not None:
            first = table[..., 0] if table.ndim else table
            return bool((first.astype(bool) != filled).all())
        node = value.producer()
        if node is None or not _keeps_first(node, facts):
            return False
        filled ^= node.op_type == "Not"
        value = node.inputs[0]
    return False


def _keeps_first(node: ir.Node, facts: Facts) -> bool:
    """Return whether each row that a node gives begins as a row of its input does."""
    source = node.inputs[0]
    axes = None if source is None else rank(source)
    if is_standard(node, "Cast", "Not"):
        return True
    if axes is None or not is_standard(node, "Slice", "Unsqueeze"):
        return False
    if node.op_type == "Unsqueeze":
        added = facts.axes(node)
        return added is not None and not {-1, axes + len(added) - 1} & set(added)
    return _cuts_no_first(node, axes, facts)


def _cuts_no_first(node: ir.Node, axes: int, facts: Facts) -> bool:
    """Return whether a Slice leaves the last axis alone, or takes it from its first element on."""
    if len(node.inputs) < 4:
        return False
    over = facts.integers(node.inputs[3])
    steps = facts.integers(node.inputs[4]) if len(node.inputs) > 4 else (1,)
    if over is None or steps is None or any(step < 1 for step in steps):
        return False
    if all(axis % axes != axes - 1 for axis in over):
        return True
    return len(over) == 1 and facts.integers(node.inputs[1]) == (0,)
