"""Tensors made from sizes and places: Range, ConstantOfShape, EyeLike, OneHot, Trilu, Shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators.loops.parameters import integers, required
from burnish.operators.record import Elements, Movement, Operands, Operator, Partial, register
from burnish.operators.rules import always, defined, first, named_type, nothing, type_of_input
from burnish.operators.size import is_countable, subtract, total
from burnish.tile.expr import Argument, Constant, Coordinate, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Index, at, number
from burnish.tile.pointwise import element_of_constant, positive_axis
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


def constant_of_shape(builder: NestBuilder, node: Node) -> None:
    """Add one value in all places; without a value, f32 zeros."""
    shape = integers(builder, node, 0, "shape")
    value = np.asarray(node.attributes.get("value", np.zeros(1, np.float32))).reshape(-1)
    number_of = Constant(value[0].item(), name_of(value))
    builder.add(node.outputs[0], axes_for(shape or ()), [], number_of)


def number_range(builder: NestBuilder, node: Node) -> None:
    """Add start, start + delta, … up to the limit, which must be known."""
    start, limit, delta = (
        np.asarray(builder.constant(required(node, place), f"its {what}")).reshape(())
        for place, what in enumerate(("start", "limit", "delta"))
    )
    count = max(math.ceil((limit.item() - start.item()) / delta.item()), 0)
    (axis,) = axes_for((count,))
    dtype = name_of(start)
    steps = call("multiply", cast(Coordinate(at(axis)), dtype), Constant(delta.item(), dtype))
    body = call("add", Constant(start.item(), dtype), steps)
    builder.add(node.outputs[0], (axis,), [], body)


def eye_like(builder: NestBuilder, node: Node) -> None:
    """Add ones on a diagonal of a matrix, zeros elsewhere."""
    kind = builder.type(required(node, 0))
    wanted = node.attributes.get("dtype")
    dtype = kind.dtype if wanted is None else ONNX_NUMBERS[int(wanted)]
    rows, columns = axes_for(kind.shape)
    diagonal = int(node.attributes.get("k", 0))
    on = Inside((Guard(at(columns) - at(rows), diagonal, diagonal + 1),))
    body = call("where", on, Constant(1, dtype), Constant(0, dtype))
    builder.add(node.outputs[0], (rows, columns), [], body)


def triangle(builder: NestBuilder, node: Node) -> None:
    """Add the upper or lower triangle of matrices, with zeros in the other."""
    source = required(node, 0)
    kind = builder.type(source)
    shifts = integers(builder, node, 1, "k") or (0,)
    axes = axes_for(kind.shape)
    right = at(axes[-1]) - at(axes[-2])
    beyond = sum(kind.shape[-2:])
    upper = bool(node.attributes.get("upper", 1))
    low, high = (shifts[0], beyond) if upper else (-beyond, shifts[0] + 1)
    guards = (Guard(right, low, max(high, low)),)
    read = Read(source, tuple(map(at, axes)), guards)
    builder.add(node.outputs[0], axes, [read], Argument(0, kind.dtype))


def one_hot(builder: NestBuilder, node: Node) -> None:
    """Add a dimension in which one value stands where the index says, another elsewhere."""
    places, values = required(node, 0), required(node, 2)
    depth = integers(builder, node, 1, "depth")
    if depth is None:
        raise NotCoveredError("it has no depth")
    kind = builder.type(places)
    rank = len(kind.shape) + 1
    place = positive_axis(int(node.attributes.get("axis", -1)), rank)
    axes = axes_for((*kind.shape[:place], depth[0], *kind.shape[place:]))
    index = [at(axis) for position, axis in enumerate(axes) if position != place]
    reads = [Read(places, tuple(index)), Read(values, (number(1),)), Read(values, (number(0),))]
    named = cast(Argument(0, kind.dtype), "i64")
    negative = call("less", named, Constant(0, "i64"))
    named = call("where", negative, call("add", named, Constant(depth[0], "i64")), named)
    dtype = builder.type(values).dtype
    on = call("equal", named, Coordinate(at(axes[place])))
    body = call("where", on, Argument(1, dtype), Argument(2, dtype))
    builder.add(node.outputs[0], axes, reads, body)


def shape_of(builder: NestBuilder, node: Node) -> None:
    """Add the sizes of the dimensions from `start` to `end`."""
    shape = builder.type(required(node, 0)).shape
    part = shape[node.attributes.get("start", 0) : node.attributes.get("end")]
    _add_known(builder, node, np.asarray(part, np.int64))


def size_of(builder: NestBuilder, node: Node) -> None:
    """Add the number of elements."""
    _add_known(builder, node, np.asarray(builder.type(required(node, 0)).size, np.int64))


def _add_known(builder: NestBuilder, node: Node, value: Array) -> None:
    """Add the copy of a value that is known: a node's output is always written by a nest."""
    held = builder.add_constant(value, f"{node.outputs[0]}.value")
    axes = axes_for(value.shape)
    found = element_of_constant(builder, held)
    if found is not None:
        builder.add(node.outputs[0], axes, [], found)
        return
    index: list[Index] = [at(axis) for axis in axes]
    body: Expr = Argument(0, name_of(value))
    builder.add(node.outputs[0], axes, [Read(held, tuple(index))], body)


def _filled_shape(at: Operands) -> Sequence[Partial | None]:
    return [at.elements(0)]


def _filled_type(at: Operands) -> Sequence[str | None]:
    value = at.attributes.get("value")
    return ["f32" if value is None else name_of(value)]


def _filled_elements(at: Operands) -> Elements | None:
    length, value = at.integers(0), at.attributes.get("value")
    if length is None or len(length) != 1 or length[0] > 16 or value is None:
        return None
    return (int(value.reshape(-1)[0]),) * length[0] if value.dtype.kind in "iub" else None


def _counted_shape(at: Operands) -> Sequence[Partial | None]:
    bounds = [at.elements(index) for index in range(3)]
    if any(bound is None or len(bound) != 1 for bound in bounds):
        return [(None,)]
    start, limit, delta = (bound[0] for bound in bounds if bound is not None)
    if isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int):
        return [(len(range(start, limit, delta)),)]
    if delta != 1 or start is None or limit is None:
        return [(None,)]
    length = subtract(limit, start)
    return [(length if is_countable(length) else None,)]


def _steps(_: Operands, arrays: Sequence[Array | None]) -> bool:
    """Return whether a range takes steps, and comes to an end before memory does."""
    start, limit, delta = (float(array.reshape(())) for array in arrays if array is not None)
    return bool(delta) and (limit - start) / delta <= 1 << 24


def _one_hot_shape(at: Operands) -> Sequence[Partial | None]:
    source, depth = at.shape(0), at.elements(1)
    if source is None or depth is None or len(depth) != 1:
        return [None]
    place = positive_axis(at.number("axis", -1), len(source) + 1)
    return [(*source[:place], depth[0], *source[place:])]


def _measured(at: Operands) -> Elements | None:
    found = at.shape(0)
    return None if found is None else found[at.number("start", 0) : at.attributes.get("end")]


def _measured_shape(at: Operands) -> Sequence[Partial | None]:
    found = _measured(at)
    return [(None if found is None else len(found),)]


def _total(at: Operands) -> Elements | None:
    found = at.shape(0)
    return None if found is None else (total(found),)


def _number_shape(_: Operands) -> Sequence[Partial | None]:
    return [()]


register({
    "ConstantOfShape": Operator(
        _filled_shape, _filled_type, _filled_elements, nothing, folds=defined,
        loops=constant_of_shape,
    ),
    "Range": Operator(_counted_shape, work=nothing, folds=_steps, loops=number_range),
    "EyeLike": Operator(first, named_type("dtype"), work=nothing, loops=eye_like),
    "Trilu": Operator(first, work=nothing, folds=defined, loops=triangle),
    "OneHot": Operator(
        _one_hot_shape, type_of_input(2), work=nothing, folds=defined, loops=one_hot
    ),
    "Shape": Operator(
        _measured_shape, always("i64"), _measured, nothing, Movement.NOTHING, folds=defined,
        loops=shape_of,
    ),
    "Size": Operator(
        _number_shape, always("i64"), _total, nothing, Movement.NOTHING, folds=defined,
        loops=size_of,
    ),
})  # fmt: skip
