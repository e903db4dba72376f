"""How large an input's values may be: the rows of the tables in the graph that it indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.tensors import Dim

_CARRIED_OPERANDS: Mapping[str, tuple[int, ...]] = {
    "Cast": (0,), "CastLike": (0,), "Identity": (0,), "Reshape": (0,), "Unsqueeze": (0,),
    "Squeeze": (0,), "Flatten": (0,), "Transpose": (0,), "Expand": (0,), "Tile": (0,),
    "Slice": (0,), "Split": (0,), "Gather": (0,), "Clip": (0,), "Pad": (0,), "Sub": (0,),
    "Add": (0, 1), "Max": (0, 1), "Min": (0, 1), "Where": (1, 2), "Concat": tuple(range(64)),
}  # fmt: skip
"""Operators whose output holds the values of these operands, perhaps shifted by a constant."""
_TRUTHS = frozenset(
    {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or", "Xor"}
)
"""Operators that give true or false; a product with that holds the other factor's values."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Values in operand `indices` pick along an axis of operand `table`."""

    indices: int
    table: int
    axis_attribute: str | None = None


_LOOKS: Mapping[str, tuple[_Look, ...]] = {
    "Gather": (_Look(1, 0, "axis"),),
    "GatherElements": (_Look(1, 0, "axis"),),
    "ScatterElements": (_Look(1, 0, "axis"),),
    "RoiAlign": (_Look(2, 0),),
    "GatherBlockQuantized": (_Look(1, 0, "gather_axis"),),
    "EmbedLayerNormalization": (_Look(0, 2), _Look(1, 4), _Look(7, 3)),
}
_PLACES = frozenset({"GatherND", "ScatterND"})
"""Operators whose second operand holds places: a number for each of the first's axes."""
_MOST_AXES = 64
"""What an array can have; a file may claim any number."""


@dataclass(frozen=True, slots=True, eq=False)  # told apart by identity: callers go deep
class _Call:
    """Being inside a model-local function that a node called."""

    node: ir.Node
    function: ir.Function
    caller: _Call | None


@dataclass(frozen=True, slots=True)
class ShiftedInput:
    """A value that holds the input's values plus `shift`."""

    value: ir.Value
    shift: int
    call: _Call | None


def smallest_table(value: ir.Value, model: ir.Model) -> Dim | None:
    """Return how many rows the smallest table has that `value` picks from; None: no table.

    A name instead of a number is a symbolic size; it is returned only if no number is known.
    """
    rows: list[int] = []
    symbols: list[str] = []
    for found, node, operand in uses(value, model):
        for size in _rows(found, node, operand):
            if isinstance(size, int):
                # Shifted by all rows: indices below zero are made to count from the end.
                if found.shift != size:
                    rows.append(max(size - found.shift, 1))
            elif found.shift == 0:
                symbols.append(size)
    return min(rows) if rows else next(iter(symbols), None)


def uses(value: ir.Value, model: ir.Model) -> Iterator[tuple[ShiftedInput, ir.Node, int]]:
    """Yield every use of a value, and of values that carry it on."""
    seen = set()
    waiting = [ShiftedInput(value, 0, None)]
    while waiting:
        found = waiting.pop()
        if found in seen:
            continue
        seen.add(found)
        for node, operand in found.value.uses():
            yield found, node, operand
            waiting += _carried(found, node, operand, model)
        waiting += _returned(found)


def _carried(
    found: ShiftedInput, node: ir.Node, operand: int, model: ir.Model
) -> Iterator[ShiftedInput]:
    function = model.functions.get(node.op_identifier())
    if function is not None:
        call = _Call(node, function, found.call)
        yield ShiftedInput(function.inputs[operand], found.shift, call)
    elif operand in _CARRIED_OPERANDS.get(node.op_type, ()) or _is_masked(node, operand):
        shift = found.shift + _constant_shift(node, operand)
        for output in node.outputs:
            yield ShiftedInput(output, shift, found.call)


def _is_masked(node: ir.Node, operand: int) -> bool:
    """Return whether a node multiplies an operand by zeros and ones."""
    other = node.inputs[1 - operand] if node.op_type == "Mul" else None
    cast = None if other is None else other.producer()
    if cast is None or cast.op_type != "Cast" or cast.inputs[0] is None:
        return False
    truth = cast.inputs[0].producer()
    return truth is not None and truth.op_type in _TRUTHS


def _returned(found: ShiftedInput) -> Iterator[ShiftedInput]:
    """Yield what a call gives back, if the value is an output of the function it is in."""
    if found.call is None:
        return
    for output, given in zip(found.call.function.outputs, found.call.node.outputs, strict=False):
        if output is found.value:
            yield ShiftedInput(given, found.shift, found.call.caller)


def _constant_shift(node: ir.Node, operand: int) -> int:
    if node.op_type not in ("Add", "Sub"):
        return 0
    other = constant(node.inputs[1 - operand])
    if other is None or other.size == 0 or other.dtype.kind not in "iu":
        return 0
    return int(other.max()) if node.op_type == "Add" else -int(other.min())


def _rows(found: ShiftedInput, node: ir.Node, operand: int) -> Iterator[Dim]:
    if node.op_type == "OneHot" and operand == 0:
        depth = constant(node.inputs[1])
        if depth is not None:
            yield int(depth.reshape(-1)[0])
    if node.op_type in _PLACES and operand == 1:
        yield from _axes_of_places(found, node)
    for look in _LOOKS.get(node.op_type, ()):
        if operand != look.indices:
            continue
        attribute = node.attributes.get(look.axis_attribute or "")
        axis = attribute.as_int() if attribute is not None else 0
        size = size_along(node.inputs[look.table], axis, found.call)
        if size is not None:
            yield size


def _axes_of_places(found: ShiftedInput, node: ir.Node) -> Iterator[Dim]:
    """Yield the sizes of all axes that places pick along; of the first where their rank is open."""
    many = size_along(node.inputs[1], -1, found.call)
    attribute = node.attributes.get("batch_dims")
    first = 0 if attribute is None else attribute.as_int()
    columns = min(many, _MOST_AXES) if isinstance(many, int) else 1
    for axis in range(first, first + columns):
        size = size_along(node.inputs[0], axis, found.call)
        if size is not None:
            yield size


def size_along(table: ir.Value | None, axis: int, call: _Call | None = None) -> Dim | None:
    """Return the size of a table along an axis, from its shape or from what it was made of."""
    while table is not None:
        shape = table.const_value.shape if table.const_value is not None else table.shape
        if shape is not None and -len(shape) <= axis < len(shape):
            dim = shape[axis]
            return dim if isinstance(dim, int) else dim.value
        producer = table.producer()
        if producer is None:
            table, call = _outside(table, call)
        elif producer.op_type in ("Identity", "Cast", "DequantizeLinear"):
            table = producer.inputs[0]
        elif producer.op_type == "Transpose" and "perm" in producer.attributes:
            perm = producer.attributes["perm"].as_ints()
            if not -len(perm) <= axis < len(perm):
                return None
            table, axis = producer.inputs[0], perm[axis]
        else:
            known = constant(table)
            fits = known is not None and -known.ndim <= axis < known.ndim
            return known.shape[axis] if known is not None and fits else None
    return None


def _outside(table: ir.Value, call: _Call | None) -> tuple[ir.Value | None, _Call | None]:
    """Return what the caller passed for an input of a function, and the call that that is in."""
    if call is not None:
        for parameter, given in zip(call.function.inputs, call.node.inputs, strict=False):
            if parameter is table:
                return given, call.caller
    return None, None


def constant(value: ir.Value | None) -> np.ndarray | None:
    """Return the value of a constant; None: it is none."""
    tensor = ir.convenience.get_const_tensor(value) if value is not None else None
    return None if tensor is None else np.asarray(tensor.numpy())
