"""Which inputs and outputs of a node may be f16: what ONNX's schemas and the kernel tables say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite import kernels
from burnish.rewrite.options import Target

WIDE, NARROW = ir.DataType.FLOAT, ir.DataType.FLOAT16

_HALF = "tensor(float16)"
_RUNTIME = "com.microsoft"

Formal = Any
"""A formal parameter of an operator in onnx, which has no type information."""
Allowed = Callable[[int], bool]
"""Whether the input or output at a position may be f16."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a node's operator takes and gives."""

    inputs: Allowed
    outputs: Allowed

    def takes_half(self, node: ir.Node) -> bool:
        """Return whether anything that is f32 at this node may be f16."""
        read = [i for i, value in enumerate(node.inputs) if is_wide(value)]
        given = [i for i, value in enumerate(node.outputs) if is_wide(value)]
        return any(map(self.inputs, read)) or any(map(self.outputs, given))


def is_wide(value: ir.Value | None) -> bool:
    """Return whether a value is an f32 tensor."""
    return value is not None and value.dtype == WIDE and isinstance(value.type, ir.TensorType)


def signature(node: ir.Node, opset: int) -> Signature | None:
    """Return which of a node's inputs and outputs may be f16; None: nothing is known of it."""
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
        if _HALF in constraint.allowed_type_strs
    )
    return Signature(_allowed(schema.inputs, halves), _allowed(schema.outputs, halves))


def kernel_obstacle(node: ir.Node, target: Target) -> str | None:
    """Return why a target runs a node better in f32, as far as the kernel table knows it."""
    narrow = kernels.support(node.op_type, node.domain, NARROW, target)
    wide = kernels.support(node.op_type, node.domain, WIDE, target)
    provider = kernels.table(target).provider
    if narrow in ("kernel", "cast"):
        return None
    if wide == "kernel":
        return f"{node.op_type} has an f32 kernel and no f16 kernel in {provider}"
    if node.domain == _RUNTIME and wide is None:
        return f"{node.op_type} of {_RUNTIME} is not in the table of kernels of {provider}"
    return None


def _always(_position: int) -> bool:
    return True


def _allowed(formals: Formal, halves: frozenset[str]) -> Allowed:
    kinds = [formal.type_str in halves or formal.type_str == _HALF for formal in formals]

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
