"""Which keys an attention may look at, where that is the same for all its queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions.attention.number_range import range_of

_SWALLOWING: Mapping[ir.DataType, float] = {
    ir.DataType.FLOAT: -1e30,
    ir.DataType.BFLOAT16: -1e30,
    ir.DataType.FLOAT16: -6e4,
}
"""A score plus this, or less, has no weight beside any score that a model can have."""


@dataclass(frozen=True, slots=True)
class KeyMask:
    """A condition of shape (batch, 1, 1, keys)."""

    condition: ir.Value
    keeps: bool
    """Where it holds, keys are kept; False: where it does not."""


def key_mask(bias: ir.Value, wanted: Shape, facts: Facts) -> KeyMask | None:
    """Return the mask that is added to scores as 0 and as a lowest number, of a wanted shape.

    None: it is none, depends on the query or the head, or is -inf, which leaves no number in a
    row that is masked throughout.
    """
    node = _unspread(bias).producer()
    if node is None or not is_standard(node, "Where"):
        return None
    condition, chosen, other = node.inputs
    limit = None if bias.dtype is None else _SWALLOWING.get(bias.dtype)
    if condition is None or limit is None:
        return None
    numbers = facts.scalar(chosen), facts.scalar(other)
    for (kept, fill), keeps in ((numbers, True), (numbers[::-1], False)):
        if kept == 0 and fill is not None and fill <= limit:
            found = _narrowed(condition, facts) if keeps else _unspread(condition)
            is_wanted = shapes_of(facts).of(found) == wanted
            return KeyMask(found, keeps) if is_wanted else None
    return None


def _unspread(value: ir.Value) -> ir.Value:
    node = value.producer()
    while node is not None and is_standard(node, "Expand") and node.inputs[0] is not None:
        value = node.inputs[0]
        node = value.producer()
    return value


def _narrowed(condition: ir.Value, facts: Facts) -> ir.Value:
    """Return what decides about a condition: without what is repeated, and what always holds."""
    value = _unspread(condition)
    node = value.producer()
    if node is None or not is_standard(node, "And"):
        return value
    for left, right in (node.inputs, node.inputs[::-1]):
        if left is not None and right is not None and _always_holds(left, facts):
            return _narrowed(right, facts)
    return value


def _always_holds(condition: ir.Value, facts: Facts) -> bool:
    numbers = range_of(condition, facts)
    if numbers is not None and numbers.lowest == 1:
        return True
    node = condition.producer()
    if node is None:
        return False
    if is_standard(node, "And"):
        return all(value is not None and _always_holds(value, facts) for value in node.inputs)
    if not is_standard(node, "GreaterOrEqual", "LessOrEqual"):
        return False
    ends = [None if value is None else range_of(value, facts) for value in node.inputs]
    left, right = ends if node.op_type == "GreaterOrEqual" else ends[::-1]
    return left is not None and right is not None and left.lowest >= right.highest
