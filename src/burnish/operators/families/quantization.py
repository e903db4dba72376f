"""QuantizeLinear and DequantizeLinear: 8- and 16-bit integers with scales, per tensor or finer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators.families.contraction import product_work
from burnish.operators.loops.integer_products import ByteOperand, integer_product, scaled_product
from burnish.operators.loops.parameters import required
from burnish.operators.loops.quantising import quantise_dynamically, rounded
from burnish.operators.record import (
    Operands,
    Operator,
    Partial,
    ShapeRule,
    TypeRule,
    WorkRule,
    register,
)
from burnish.operators.rules import (
    always,
    each_input,
    each_output,
    first,
    shape_of,
    type_of_input,
)
from burnish.tile.expr import Argument, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at, floor_divide
from burnish.tile.pointwise import positive_axis, wide, wide_type
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError, axes_for

_INTEGERS = ("i8", "u8", "i16", "u16")


def quantize(builder: NestBuilder, node: Node) -> None:
    """Add round(x / scale) + zero point, halves to even, cut at the ends of the type."""
    dtype = _quantized_type(builder, node)
    if dtype not in _INTEGERS:
        raise NotCoveredError(f"it quantizes to {dtype}")
    axes, reads = _reads(builder, node)
    scale = wide(Argument(1, builder.type(reads[1].tensor).dtype))
    common = scale.dtype
    quotient = call("divide", cast(Argument(0, builder.type(reads[0].tensor).dtype), common), scale)
    zero = Argument(2, dtype) if len(reads) > 2 else None
    builder.add(node.outputs[0], axes, reads, rounded(quotient, zero, dtype))


def dequantize(builder: NestBuilder, node: Node) -> None:
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


def quantize_dynamically(builder: NestBuilder, node: Node) -> None:
    """Add bytes, their step and their zero point, found from the span of the elements."""
    outputs = (node.output(0), node.output(1), node.output(2))
    quantise_dynamically(builder, required(node, 0), outputs)


def matmul_integer(builder: NestBuilder, node: Node) -> None:
    """Add the product of bytes less their zero points, in 32 bits."""
    left = ByteOperand(required(node, 0), node.input(2))
    right = ByteOperand(required(node, 1), node.input(3))
    integer_product(builder, node.outputs[0], left, right, lambda total, _: total)


def matmul_integer_to_float(builder: NestBuilder, node: Node) -> None:
    """Add the product of bytes in the scale of both, and a bias."""
    left = ByteOperand(required(node, 0), node.input(4))
    right = ByteOperand(required(node, 1), node.input(5))
    scales = required(node, 2), required(node, 3)
    scaled_product(builder, node.outputs[0], (left, right), scales, node.input(6))


def dynamic_quantize_matmul(builder: NestBuilder, node: Node) -> None:
    """Add the product of a tensor that is quantised as it comes with quantised weights."""
    source = required(node, 0)
    data, step, zero = quantise_dynamically(builder, source, (None, None, None))
    operands = ByteOperand(data, zero), ByteOperand(required(node, 1), node.input(3))
    scaled_product(builder, node.outputs[0], operands, (step, required(node, 2)), node.input(4))


def _reads(builder: NestBuilder, node: Node) -> tuple[tuple[Axis, ...], list[Read]]:
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


def _quantized_type(builder: NestBuilder, node: Node) -> str:
    zero_point = node.input(2)
    if zero_point is not None:
        return builder.type(zero_point).dtype
    return _output_type(node) or "u8"


def _output_type(node: Node) -> str | None:
    wanted = int(node.attributes.get("output_dtype", 0))
    names = {int(data_type): short for data_type, short in ONNX_NUMBERS.items()}
    return names[wanted] if wanted else None


def _stored_type(at: Operands) -> Sequence[str | None]:
    wanted = at.number("output_dtype", 0)
    return [at.type(2) if at.given(2) else ONNX_NUMBERS.get(wanted) if wanted else "u8"]


def _read_type(at: Operands) -> Sequence[str | None]:
    wanted = at.number("output_dtype", 0)
    return [ONNX_NUMBERS.get(wanted) if wanted else at.type(1)]


def _with_scale(at: Operands) -> Sequence[Partial | None]:
    return [at.shape(0), (), ()]


def _by_blocks(at: Operands) -> Sequence[Partial | None]:
    source = at.shape(0)
    return [None if source is None else (*source[:-1], at.number("N", 0))]


def _product(
    shape: ShapeRule, types: TypeRule, work: WorkRule = product_work, loops: Meaning | None = None
) -> Operator:
    return Operator(shape, types, work=work, computes="i8", loops=loops)


register({
    "QuantizeLinear com.microsoft.QuantizeLinear": Operator(
        first, _stored_type, work=each_output(3), loops=quantize
    ),
    "DequantizeLinear com.microsoft.DequantizeLinear": Operator(
        first, _read_type, work=each_output(3), loops=dequantize
    ),
    "DynamicQuantizeLinear": Operator(
        _with_scale, always("u8", "f32", "u8"), work=each_input(2), loops=quantize_dynamically
    ),
    "MatMulInteger": _product(shape_of("MatMul"), always("i32"), loops=matmul_integer),
    "com.microsoft.DynamicQuantizeMatMul": _product(
        shape_of("MatMul"), type_of_input(0), loops=dynamic_quantize_matmul
    ),
    "com.microsoft.MatMulIntegerToFloat": replace(
        _product(shape_of("MatMul"), type_of_input(2), loops=matmul_integer_to_float), computes=None
    ),
    "com.microsoft.MatMulNBits": Operator(shape=_by_blocks, work=product_work),
})  # fmt: skip
