"""What leaves values as they are, or only changes their element type."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.expr import Argument, Constant, cast
from burnish.tile.graph import Read
from burnish.tile.index import at
from burnish.tile.lower import ELEMENT_TYPES
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError, axes_for


@SEMANTICS.register("Identity")
def identity(builder: Builder, node: Node) -> None:
    """Add the copy."""
    copy(builder, node.outputs[0], node.inputs[0])


@SEMANTICS.register("Cast")
def cast_to(builder: Builder, node: Node) -> None:
    """Add the conversion to the type that the node names."""
    if isinstance(node.attributes["to"], str):
        raise NotCoveredError("the type is named by text, as before opset 6")
    kind = SHORT_NAMES.get(ir.DataType(node.attributes["to"]), "unknown")
    _convert(builder, node, kind)


@SEMANTICS.register("CastLike")
def cast_like(builder: Builder, node: Node) -> None:
    """Add the conversion to the second operand's type."""
    _convert(builder, node, builder.type(node.inputs[1]).dtype)


@SEMANTICS.register("Dropout")
def dropout(builder: Builder, node: Node) -> None:
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


@SEMANTICS.register("Constant")
def constant(builder: Builder, node: Node) -> None:
    """Add the copy of a constant, for those who read it from outside."""
    held = builder.add_constant(_value(node), f"{node.outputs[0]}.value")
    copy(builder, node.outputs[0], held)


def copy(builder: Builder, output: str, source: str) -> str:
    """Add the nest `output = source`."""
    axes = axes_for(builder.type(source).shape)
    return builder.view(output, source, [at(axis) for axis in axes], axes)


def copy_as(builder: Builder, output: str, source: str, dtype: str) -> str:
    """Add the nest `output = source`, in another element type."""
    kind = builder.type(source)
    axes = axes_for(kind.shape)
    read = Read(source, tuple(at(axis) for axis in axes))
    return builder.add(output, axes, [read], cast(Argument(0, kind.dtype), dtype))


def _convert(builder: Builder, node: Node, kind: str) -> None:
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
