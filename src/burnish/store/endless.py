"""Loops of which it is plain that they never end."""

from __future__ import annotations

import onnx_ir as ir

_MOST_STEPS = 64
"""How far a condition is followed to what it is a copy of."""
_FOR_EVER = 2**40
"""Turns that nobody waits for: at a microsecond each, twelve days."""
_COPIES = ("Identity", "Cast")


def is_endless(loop: ir.Node) -> bool:
    """Return whether nothing counts the turns of a Loop, and nothing in it can end it."""
    trips, condition = (*loop.inputs, None, None)[:2]
    if trips is not None and (_number(trips) or 0) < _FOR_EVER:
        return False
    if condition is not None and not _number(condition):
        return False
    body = loop.attributes["body"].as_graph()
    if len(body.inputs) < 2 or not body.outputs:
        return False
    value: ir.Value | None = body.outputs[0]
    for _ in range(_MOST_STEPS):
        if value is None or value is body.inputs[1] or _number(value):
            return value is not None
        node = value.producer()
        if node is None or node.op_type not in _COPIES:
            return False
        value = node.inputs[0]
    return False


def _number(value: ir.Value) -> int | None:
    """Return a constant of one whole number; None for all others."""
    tensor = ir.convenience.get_const_tensor(value)
    if tensor is None or tensor.size != 1 or tensor.dtype is ir.DataType.STRING:
        return None
    number = tensor.numpy().reshape(-1)[0]
    return int(number) if number.dtype.kind in "biu" else None
