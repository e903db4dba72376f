"""Which element types hold which values."""

from __future__ import annotations

import onnx_ir as ir

_FLOAT_BITS = {
    ir.DataType.DOUBLE: (53, 11),
    ir.DataType.FLOAT: (24, 8),
    ir.DataType.FLOAT16: (11, 5),
    ir.DataType.BFLOAT16: (8, 8),
}
"""Digits of the significand, with the hidden one, and bits of the exponent."""
_INT_BITS = {
    ir.DataType.INT64: (63, True), ir.DataType.INT32: (31, True), ir.DataType.INT16: (15, True),
    ir.DataType.INT8: (7, True), ir.DataType.UINT64: (64, False), ir.DataType.UINT32: (32, False),
    ir.DataType.UINT16: (16, False), ir.DataType.UINT8: (8, False), ir.DataType.BOOL: (1, False),
}  # fmt: skip
"""Digits, and whether there are negative numbers."""


def holds_exactly(container: ir.DataType, content: ir.DataType) -> bool:
    """Return whether every value of one element type is a value of another."""
    if container == content:
        return True
    if container == ir.DataType.BOOL:
        return False
    if content in _FLOAT_BITS:
        mine, theirs = _FLOAT_BITS.get(container), _FLOAT_BITS[content]
        return mine is not None and mine[0] >= theirs[0] and mine[1] >= theirs[1]
    if content not in _INT_BITS:
        return False
    digits, signed = _INT_BITS[content]
    if container in _FLOAT_BITS:
        significand, exponent = _FLOAT_BITS[container]
        return significand >= digits and digits < 1 << (exponent - 1)
    if container not in _INT_BITS:
        return False
    room, has_sign = _INT_BITS[container]
    return room >= digits and (has_sign or not signed)
