"""What an input is for, told from what the graph does with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from burnish.core.tensors import TensorSpec
from burnish.feeds.roles import Role, role_of
from burnish.feeds.tables import constant, uses

_SHARES: Mapping[str, int] = {"Dropout": 1}
"""Operators one of whose operands is a share: at least 0, and less than 1."""
Counts = Literal["none", "one", "few", "all", "each", "rest"]
"""What sizes, axes and places may be: 0, 1, 3, no end, 0 … n - 1, or 1 … 1 and -1."""
_COUNTING: Mapping[tuple[str, int], Counts] = {
    ("Reshape", 1): "rest", ("Expand", 1): "one", ("Tile", 1): "few", ("ConstantOfShape", 0): "few",
    ("Slice", 1): "none", ("Slice", 2): "all", ("Slice", 3): "each", ("Slice", 4): "one",
    ("Unsqueeze", 1): "each", ("TopK", 1): "one", ("Range", 0): "none", ("Range", 1): "few",
    ("Range", 2): "one", ("CumSum", 1): "none", ("Pad", 1): "none", ("Resize", 2): "one",
    ("Upsample", 1): "one", ("Loop", 0): "few", ("OneHot", 1): "few", ("Trilu", 1): "none",
}  # fmt: skip
"""Operands that count: which numbers suit any tensor that they are applied to."""
_VERY_NEGATIVE = -1e3
"""A number that nobody adds to scores but to hide them."""
_HIDING = frozenset({"Where", "Not", "And", "Or"})
_UNTOLD = (Role.INTEGERS, Role.FLAG, Role.FEATURES, Role.IMAGE)
"""Roles that were told from a type alone: what the graph does with an input says more."""
_MOST_CHOICES = 16


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an input must be like for the graph to make sense of it."""

    role: Role
    choices: tuple[int | float, ...] = ()
    """Numbers that a single number is compared with: it selects one of the ways to go."""
    is_share: bool = False
    counts: Counts | None = None
    """What an operand that counts may be; None: it is no such operand."""


def purpose_of(spec: TensorSpec, value: ir.Value, model: ir.Model) -> Purpose:
    """Return what an input is for: by its name where that tells, else by its uses."""
    role = role_of(spec)
    single = all(dim == 1 for dim in spec.shape)
    choices: dict[int | float, None] = {}
    is_share = is_mask = False
    counts: Counts | None = None
    for found, node, operand in uses(value, model):
        if single:
            choices |= {number - found.shift: None for number in _compared(node, operand)}
        is_share = is_share or _SHARES.get(node.op_type) == operand
        is_mask = is_mask or _is_hidden_by(node, operand)
        if found.value is value and len(spec.shape) < 2 and role in _UNTOLD:
            counts = counts or _COUNTING.get((node.op_type, operand))
    if role in _UNTOLD and is_mask and len(spec.shape) > 1 and spec.dtype[0] in "biu":
        role = Role.MASK
    return Purpose(role, tuple(choices)[:_MOST_CHOICES], is_share, counts)


def _compared(node: ir.Node, operand: int) -> Iterator[int | float]:
    """Yield the numbers that an operand is compared with for equality."""
    if node.op_type != "Equal" or len(node.inputs) != 2:
        return
    other = constant(node.inputs[1 - operand])
    if other is not None and other.dtype.kind in "iuf" and other.size <= _MOST_CHOICES:
        yield from other.reshape(-1).tolist()


def _is_hidden_by(node: ir.Node, operand: int) -> bool:
    """Return whether a node does with an operand what is done with masks."""
    if node.op_type in _HIDING and operand == 0:
        return True
    return node.op_type == "Sub" and operand == 1 and _is_hiding(node)


def _is_hiding(difference: ir.Node) -> bool:
    """Return whether a node is 1 - mask, which is then made very negative."""
    one = constant(difference.inputs[0])
    if one is None or one.size != 1 or float(one.reshape(-1)[0]) != 1.0:
        return False
    for node, operand in difference.outputs[0].uses():
        other = constant(node.inputs[1 - operand]) if node.op_type == "Mul" else None
        if other is not None and other.size and float(other.min()) <= _VERY_NEGATIVE:
            return True
    return False
