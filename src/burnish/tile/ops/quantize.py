"""QuantizeLinear and DequantizeLinear: 8- and 16-bit integers with scales, per tensor or finer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.store.element_types import SHORT_NAMES, numpy_type
from burnish.tile.expr import Argument, Constant, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide
from burnish.tile.ops.parameters import required
from burnish.tile.pointwise import positive_axis, wide, wide_type
from burnish.tile.semantics import SEMANTICS, Builder, Node, NotCoveredError, axes_for

_INTEGERS = ("i8", "u8", "i16", "u16")


@SEMANTICS.register("QuantizeLinear")
def quantize(builder: Builder, node: Node) -> None:
    """Add round(x / scale) + zero point, halves to even, cut at the ends of the type."""
    dtype = _quantized_type(builder, node)
    if dtype not in _INTEGERS:
        raise NotCoveredError(f"it quantizes to {dtype}")
    axes, reads = _reads(builder, node)
    scale = wide(Argument(1, builder.type(reads[1].tensor).dtype))
    common = scale.dtype
    quotient = call("divide", cast(Argument(0, builder.type(reads[0].tensor).dtype), common), scale)
    value: Expr = call("round", quotient)
    if len(reads) > 2:
        value = call("add", value, cast(Argument(2, dtype), common))
    limits = np.iinfo(np.dtype(str(numpy_type(dtype))))
    value = call("maximum", value, Constant(float(limits.min), common))
    value = call("minimum", value, Constant(float(limits.max), common))
    builder.add(node.outputs[0], axes, reads, cast(value, dtype))


@SEMANTICS.register("DequantizeLinear")
def dequantize(builder: Builder, node: Node) -> None:
    """Add (x - zero point) · scale, in the scale's type."""
    axes, reads = _reads(builder, node)
    source = builder.type(reads[0].tensor).dtype
    if source not in (*_INTEGERS, "i32"):
        raise NotCoveredError(f"it dequantizes from {source}")
    dtype = builder.type(reads[1].tensor).dtype
    value = cast(Argument(0, source), "i32")
    if len(reads) > 2:
        value = call("subtract", value, cast(Argument(2, source), "i32"))
    scaled = call("multiply", cast(value, wide_type(dtype)), wide(Argument(1, dtype)))
    builder.add(node.outputs[0], axes, reads, cast(scaled, _output_type(node) or dtype))


def _reads(builder: Builder, node: Node) -> tuple[tuple[Axis, ...], list[Read]]:
    """Return the axes of the data, and how data, scale and zero point are read."""
    axes = axes_for(builder.type(required(node, 0)).shape)
    block = int(node.attributes.get("block_size", 0))
    reads = [Read(required(node, 0), tuple(map(at, axes)))]
    for name in (required(node, 1), node.input(2)):
        if name is not None:
            shape = builder.type(name).shape
            axis = int(node.attributes.get("axis", 1))
            reads.append(Read(name, _scale_index(shape, axes, axis, block)))
    return axes, reads


def _scale_index(
    shape: Sequence[int], axes: Sequence[Axis], axis: int, block: int
) -> tuple[Index, ...]:
    if not shape or tuple(shape) == (1,):
        return tuple(Index() for _ in shape)
    place = positive_axis(axis, len(axes))
    if not block:
        return (at(axes[place]),)
    index = [at(each) for each in axes]
    index[place] = floor_divide(index[place], block)
    return tuple(index)


def _quantized_type(builder: Builder, node: Node) -> str:
    zero_point = node.input(2)
    if zero_point is not None:
        return builder.type(zero_point).dtype
    return _output_type(node) or "u8"


def _output_type(node: Node) -> str | None:
    wanted = int(node.attributes.get("output_dtype", 0))
    names = {int(data_type): short for data_type, short in SHORT_NAMES.items()}
    return names[wanted] if wanted else None
