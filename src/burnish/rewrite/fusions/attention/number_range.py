"""Between which numbers the elements of a value lie, whatever the model is fed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.walk import is_standard
from burnish.rewrite.facts import Facts

_DEEPEST = 24
"""How many operators are followed towards the inputs."""
_MOVING = ("Expand", "Unsqueeze", "Squeeze", "Reshape", "Slice", "Transpose", "Identity", "Flatten",
           "Gather", "GatherElements", "Tile")  # fmt: skip
"""Operators whose elements are all taken from their first input."""
_WHOLE = frozenset(
    {ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64,
     ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64}
)  # fmt: skip

_LARGEST: Mapping[ir.DataType, float] = {
    ir.DataType.DOUBLE: float(np.finfo(np.float64).max),
    ir.DataType.FLOAT: float(np.finfo(np.float32).max),
    ir.DataType.FLOAT16: float(np.finfo(np.float16).max),
    ir.DataType.BFLOAT16: (2 - 2**-7) * 2.0**127,
}


@dataclass(frozen=True, slots=True)
class NumberRange:
    """All elements lie between these two, which may be infinite; none is not a number."""

    lowest: float
    highest: float


def range_of(value: ir.Value, facts: Facts, depth: int = _DEEPEST) -> NumberRange | None:
    """Return between which numbers a value lies; None: not known, or it may be no number."""
    array = facts.array(value)
    if array is not None and array.size and array.dtype.kind in "biuf":
        ends = float(array.min()), float(array.max())
        return None if math.isnan(sum(ends)) and np.isnan(array).any() else NumberRange(*ends)
    node = value.producer()
    found = None if node is None or not depth else _computed(node, facts, depth - 1)
    return _by_type(value.dtype) if found is None else found


def _by_type(dtype: ir.DataType | None) -> NumberRange | None:
    if dtype == ir.DataType.BOOL:
        return NumberRange(0.0, 1.0)
    if dtype in _WHOLE and dtype is not None:
        limits = np.iinfo(dtype.numpy())
        return NumberRange(float(limits.min), float(limits.max))
    return None


def _computed(node: ir.Node, facts: Facts, depth: int) -> NumberRange | None:
    if is_standard(node, *_MOVING):
        return _input(node, 0, facts, depth)
    if is_standard(node, "Cast"):
        return _rounded(_input(node, 0, facts, depth), node.outputs[0].dtype)
    if is_standard(node, "Range"):
        return _rising(node, facts)
    if is_standard(node, "Where"):
        return _either(_input(node, 1, facts, depth), _input(node, 2, facts, depth))
    if is_standard(node, "Add", "Sub", "Mul", "Max", "Min") and len(node.inputs) == 2:
        left, right = _input(node, 0, facts, depth), _input(node, 1, facts, depth)
        return _rounded(_combined(node.op_type, left, right), node.outputs[0].dtype)
    return None


def _rising(node: ir.Node, facts: Facts) -> NumberRange | None:
    """Return the range of start, start + delta, …, where both are known and delta is positive."""
    start, delta = facts.scalar(node.inputs[0]), facts.scalar(node.inputs[2])
    limits = _by_type(node.outputs[0].dtype)
    if start is None or delta is None or delta <= 0 or limits is None:
        return None
    return NumberRange(start, limits.highest)


def _input(node: ir.Node, index: int, facts: Facts, depth: int) -> NumberRange | None:
    value = node.inputs[index]
    return None if value is None else range_of(value, facts, depth)


def _either(left: NumberRange | None, right: NumberRange | None) -> NumberRange | None:
    if left is None or right is None:
        return None
    return NumberRange(min(left.lowest, right.lowest), max(left.highest, right.highest))


def _combined(
    op_type: str, left: NumberRange | None, right: NumberRange | None
) -> NumberRange | None:
    """Return the range of a sum, difference, product, maximum or minimum of two."""
    if left is None or right is None:
        return None
    a, b, c, d = left.lowest, left.highest, right.lowest, right.highest
    match op_type:
        case "Add":
            ends = [a + c, b + d]
        case "Sub":
            ends = [a - d, b - c]
        case "Mul":
            ends = [a * c, a * d, b * c, b * d]
        case "Max":
            ends = [max(a, c), max(b, d)]
        case _:
            ends = [min(a, c), min(b, d)]
    infinite = not all(map(math.isfinite, (a, b, c, d)))
    # An infinity in a sum or product can meet one of the other sign, or a zero.
    if infinite and op_type not in ("Max", "Min"):
        return None
    return NumberRange(min(ends), max(ends))


def _rounded(numbers: NumberRange | None, dtype: ir.DataType | None) -> NumberRange | None:
    """Return a range as a type holds it: beyond its largest number is infinity."""
    if numbers is None or dtype is None:
        return None
    if dtype not in _LARGEST:
        known = _by_type(dtype)
        inside = known is not None and (
            known.lowest <= numbers.lowest and numbers.highest <= known.highest
        )
        return numbers if inside else known
    largest = _LARGEST[dtype]
    return NumberRange(
        -math.inf if numbers.lowest < -largest else numbers.lowest,
        math.inf if numbers.highest > largest else numbers.highest,
    )
