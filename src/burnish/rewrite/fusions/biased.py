"""A value with a constant bias along its last axis."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer.constants import constant_tensor, sizes
from burnish.infer.walk import is_standard
from burnish.rewrite.facts import static_sizes


@dataclass(frozen=True, slots=True)
class Biased:
    """x + bias, with one number for each element of the last axis."""

    node: ir.Node
    x: ir.Value
    bias: ir.Value


def biased(value: ir.Value | None) -> Biased | None:
    """Return the sum that a value is, if a constant bias along the last axis is added to it."""
    node = None if value is None else value.producer()
    if node is None or not is_standard(node, "Add") or len(node.inputs) != 2:
        return None
    for x, bias in (node.inputs, node.inputs[::-1]):
        if x is None or bias is None or constant_tensor(bias) is None:
            continue
        length, shape = static_sizes(bias), sizes(x)
        if length and len(length) == 1 and shape is not None and shape[-1:] == length:
            return Biased(node, x, bias)
    return None
