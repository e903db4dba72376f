"""The two narrow floats, and where a node may have one: ONNX's schemas and the kernel tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite import kernels
from burnish.rewrite.options import Target

WIDE = ir.DataType.FLOAT


@dataclass(frozen=True, slots=True)
class Half:
    """A float of 16 bits."""

    name: str
    """As people are shown it."""
    dtype: ir.DataType
    schema_type: str
    """As ONNX's schemas write a tensor of it."""
    largest: float
    """The largest finite number."""
    smallest: float
    """The smallest number above 0; half of it and less is rounded to 0."""


FP16 = Half("fp16", ir.DataType.FLOAT16, "tensor(float16)", 65504.0, 2.0**-24)
BF16 = Half("bf16", ir.DataType.BFLOAT16, "tensor(bfloat16)", 3.3895313892515355e38, 2.0**-133)
HALVES = {half.name: half for half in (FP16, BF16)}

_RUNTIME = "com.microsoft"

Formal = Any
"""A formal parameter of an operator in onnx, which has no type information."""
Allowed = Callable[[int], bool]
"""Whether the input or output at a position may be narrow."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a node's operator takes and gives."""

    inputs: Allowed
    outputs: Allowed

    def takes_half(self, node: ir.Node) -> bool:
        """Return whether anything that is f32 at this node may be narrow."""
        read = [i for i, value in enumerate(node.inputs) if is_wide(value)]
        given = [i for i, value in enumerate(node.outputs) if is_wide(value)]
        return any(map(self.inputs, read)) or any(map(self.outputs, given))


def is_wide(value: ir.Value | None) -> bool:
    """Return whether a value is an f32 tensor."""
    return value is not None and value.dtype == WIDE and isinstance(value.type, ir.TensorType)


def signature(node: ir.Node, opset: int, half: Half) -> Signature | None:
    """Return which of a node's inputs and outputs may be narrow; None: nothing is known of it."""
    if node.domain == _RUNTIME:
        return Signature(_always, _always)
    if node.domain not in STANDARD_DOMAINS:
        return None
    schema = _schema(node.op_type, opset)
    if schema is None:
        return Signature(_always, _always)  # ONNX Runtime's own in ONNX's domain
    halves = frozenset(
        constraint.type_param_str
        for constraint in schema.type_constraints
        if half.schema_type in constraint.allowed_type_strs
    )
    return Signature(_allowed(schema.inputs, halves, half), _allowed(schema.outputs, halves, half))


def kernel_obstacle(node: ir.Node, target: Target, half: Half) -> str | None:
    """Return why a target runs a node better in f32, as far as the kernel table knows it."""
    narrow = kernels.support(node.op_type, node.domain, half.dtype, target)
    wide = kernels.support(node.op_type, node.domain, WIDE, target)
    provider = kernels.table(target).provider
    if narrow in ("kernel", "cast"):
        return None
    if wide == "kernel":
        return f"{node.op_type} has an f32 kernel and no {half.name} kernel in {provider}"
    if node.domain == _RUNTIME and wide is None:
        return f"{node.op_type} of {_RUNTIME} is not in the table of kernels of {provider}"
    return None


def _always(_position: int) -> bool:
    return True


def _allowed(formals: Formal, halves: frozenset[str], half: Half) -> Allowed:
    kinds = [formal.type_str in halves or formal.type_str == half.schema_type for formal in formals]

    def allowed(position: int) -> bool:
        return bool(kinds) and kinds[min(position, len(kinds) - 1)]

    return allowed


@cache
def _schema(op_type: str, opset: int) -> Formal | None:
    import onnx.defs

    try:
        return onnx.defs.get_schema(op_type, opset)
    except onnx.defs.SchemaError:
        return None
