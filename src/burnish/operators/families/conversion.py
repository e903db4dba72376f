"""What leaves values as they are, or only changes their element type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array
from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators.record import Elements, Movement, Operands, Operator, register
from burnish.operators.rules import (
    all_first,
    defined,
    first,
    named_type,
    nothing,
    same_elements,
    then,
    type_of_input,
)
from burnish.tile.expr import Argument, Constant, cast
from burnish.tile.graph import Read
from burnish.tile.index import at
from burnish.tile.semantics import ELEMENT_TYPES, NestBuilder, Node, NotCoveredError, axes_for


def identity(builder: NestBuilder, node: Node) -> None:
    """Add the copy."""
    copy(builder, node.outputs[0], node.inputs[0])


def cast_to(builder: NestBuilder, node: Node) -> None:
    """Add the conversion to the type that the node names."""
    if isinstance(node.attributes["to"], str):
        raise NotCoveredError("the type is named by text, as before opset 6")
    kind = ONNX_NUMBERS.get(node.attributes["to"], "unknown")
    _convert(builder, node, kind)


def cast_like(builder: NestBuilder, node: Node) -> None:
    """Add the conversion to the second operand's type."""
    _convert(builder, node, builder.type(node.inputs[1]).dtype)


def dropout(builder: NestBuilder, node: Node) -> None:
    """Add the copy that is left of it when nothing is trained, and a mask that keeps everything."""
    if node.opset < 7 and not node.attributes.get("is_test", 0):
        raise NotCoveredError("it drops at random: the node is in training mode")
    training = node.input(2)
    if training is not None and bool(builder.constant(training, "its training mode")):
        ratio = node.input(1)
        if ratio is None or float(builder.constant(ratio, "its ratio").reshape(()).item()):
            raise NotCoveredError("it drops at random: the node is in training mode")
    copy(builder, node.outputs[0], node.inputs[0])
    mask = node.output(1)
    if mask is not None:
        source = builder.type(node.inputs[0])
        kept = Constant(1, source.dtype) if node.opset < 10 else Constant(True, "bool")
        builder.add(mask, axes_for(source.shape), [], kept)


def constant(builder: NestBuilder, node: Node) -> None:
    """Add the copy of a constant, for those who read it from outside."""
    held = builder.add_constant(_value(node), f"{node.outputs[0]}.value")
    copy(builder, node.outputs[0], held)


def copy(builder: NestBuilder, output: str, source: str) -> str:
    """Add the nest `output = source`."""
    axes = axes_for(builder.type(source).shape)
    return builder.view(output, source, [at(axis) for axis in axes], axes)


def copy_as(builder: NestBuilder, output: str, source: str, dtype: str) -> str:
    """Add the nest `output = source`, in another element type."""
    kind = builder.type(source)
    axes = axes_for(kind.shape)
    read = Read(source, tuple(at(axis) for axis in axes))
    return builder.add(output, axes, [read], cast(Argument(0, kind.dtype), dtype))


def _convert(builder: NestBuilder, node: Node, kind: str) -> None:
    if kind not in ELEMENT_TYPES:
        raise NotCoveredError(f"the conversion to {kind}")
    copy_as(builder, node.outputs[0], node.inputs[0], kind)


def _value(node: Node) -> Array:
    for name, value in node.attributes.items():
        match name:
            case "value":
                return np.asarray(value)
            case "value_int" | "value_ints":
                return np.asarray(value, np.int64)
            case "value_float" | "value_floats":
                return np.asarray(value, np.float32)
    raise NotCoveredError("a constant that is text or sparse")


_SUB_BYTE = ("f8", "f4", "i4", "u4", "i2", "u2")
"""How the names of types begin whose rounding is left open."""


def _is_defined(at: Operands, arrays: Sequence[Array | None]) -> bool:
    """Return whether ONNX says what a conversion gives: not for numbers beyond the type."""
    source, target = arrays[0], ONNX_NUMBERS.get(at.number("to", 0), "str")
    if source is None or any(
        kind == "str" or kind.startswith(_SUB_BYTE) for kind in (target, name_of(source))
    ):
        return False
    if target[0] not in "iu" or source.dtype.kind in "iub":
        return True
    limits, wide = np.iinfo(array_type(target)), source.astype(np.float64)  # type: ignore[type-var]
    # 2**63 is not below the limit, though its neighbour below it is the greatest f64 that fits
    return bool(((wide >= float(limits.min)) & (wide < float(limits.max) + 1)).all())


def _converted(at: Operands) -> Elements | None:
    items = at.elements(0)
    if items is None or ONNX_NUMBERS.get(at.number("to", 0)) != "bool":
        return items
    return tuple(int(item != 0) if isinstance(item, int) else None for item in items)


_VIEW = Operator(shape=first, work=nothing, traffic=Movement.VIEW)

register({
    "Identity": replace(_VIEW, value=same_elements, folds=defined, loops=identity),
    "Cast": Operator(first, named_type("to"), _converted, nothing, folds=_is_defined,
                     loops=cast_to),
    "CastLike": Operator(first, type_of_input(1), work=nothing, loops=cast_like),
    "Dropout": replace(_VIEW, shape=all_first, types=then("bool"), loops=dropout),
    "Constant": Operator(work=nothing, traffic=Movement.NOTHING, loops=constant),
    "Memcpy MemcpyFromHost MemcpyToHost": Operator(shape=first, work=nothing),
    "com.microsoft.nchwc.ReorderInput": Operator(shape=first, work=nothing),
    "com.microsoft.nchwc.ReorderOutput": Operator(shape=first, work=nothing),
})  # fmt: skip
