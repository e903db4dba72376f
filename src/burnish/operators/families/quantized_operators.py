"""Operators from bytes to bytes: QLinearMatMul, QLinearConv, and ONNX Runtime's own of the kind.

Products and convolutions are sums of bytes; all others compute with the numbers that bytes stand
for, as the plain operator does, and round once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from burnish.operators.families.contraction import gemm_work, product_work
from burnish.operators.loops.integer_convolutions import integer_convolution
from burnish.operators.loops.integer_products import ByteOperand, integer_product, one_or_each
from burnish.operators.loops.parameters import required
from burnish.operators.loops.quantising import rounded
from burnish.operators.record import (
    OPERATORS,
    Operands,
    Operator,
    Partial,
    ShapeRule,
    TypeRule,
    WorkRule,
    register,
)
from burnish.operators.rules import broadcast, each_output, first, nothing, shape_of, type_of_input
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, at
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError, axes_for

_WORD = 4
"""Bytes that are multiplied at once; of fewer channels, sums of f32 are faster."""


def qlinear_matmul(builder: NestBuilder, node: Node) -> None:
    """Add round(Σ (a - p)·(b - q) · s·t/u) + zero point, cut at the ends of the type."""
    left = ByteOperand(required(node, 0), required(node, 2))
    right = ByteOperand(required(node, 3), required(node, 5))
    steps = required(node, 1), required(node, 4), required(node, 6)
    _rounded_product(builder, node.outputs[0], (left, right), steps, required(node, 7))


def qgemm(builder: NestBuilder, node: Node) -> None:
    """Add the product of two matrices with a bias in 32 bits; without a scale, as f32."""
    if int(node.attributes.get("transA", 0)):
        raise NotCoveredError("what it multiplies is transposed first")
    if float(node.attributes.get("alpha", 1.0)) != 1.0:
        raise NotCoveredError("it has a factor")
    weight = required(node, 3)
    if int(node.attributes.get("transB", 0)):
        weight = _turned(builder, weight)
    left = ByteOperand(required(node, 0), required(node, 2))
    right = ByteOperand(weight, required(node, 5))
    steps = required(node, 1), required(node, 4), node.input(7)
    _rounded_product(builder, node.outputs[0], (left, right), steps, node.input(8), node.input(6))


def _rounded_product(
    builder: NestBuilder,
    output: str,
    operands: tuple[ByteOperand, ByteOperand],
    steps: tuple[str, str, str | None],
    zero: str | None,
    bias: str | None = None,
) -> None:
    shapes = [builder.type(each.tensor).shape for each in operands]
    axes = Axis("m", shapes[0][-2] if len(shapes[0]) > 1 else 1), Axis("n", shapes[1][-1])

    def finish(total: Expr, beside: Callable[[Read], Expr]) -> Expr:
        def read(tensor: str, along: Axis) -> Expr:
            return beside(Read(tensor, one_or_each(builder.type(tensor).shape, along)))

        if bias is not None:
            total = call("add", total, read(bias, axes[1]))
        factors = [read(step, axis) for step, axis in zip(steps[:2], axes, strict=True)]
        factor = call("multiply", *factors)
        if steps[2] is None or zero is None:
            return call("multiply", cast(total, "f32"), factor)
        factor = call("divide", factor, read(steps[2], axes[1]))
        value = call("multiply", cast(total, "f32"), factor)
        return rounded(value, read(zero, axes[1]), builder.type(zero).dtype)

    _require_f32(builder, steps)
    integer_product(builder, output, *operands, finish)


def qlinear_conv(builder: NestBuilder, node: Node) -> None:
    """Add round((Σ (x - p)·(w - q) + bias) · s·t/u) + zero point, cut at the ends of the type."""
    if int(node.attributes.get("channels_last", 0)):
        raise NotCoveredError("its channels are last")
    weight = required(node, 3)
    if builder.type(weight).shape[1] % _WORD:
        _conv_of_reals(builder, node)
        return
    steps = required(node, 1), required(node, 4), required(node, 6)
    zero, bias = required(node, 7), node.input(8)

    def finish(total: Expr, beside: Callable[[str], Expr]) -> Expr:
        if bias is not None:
            total = call("add", total, beside(bias))
        factor = call("multiply", beside(steps[0]), beside(steps[1]))
        value = call("multiply", cast(total, "f32"), call("divide", factor, beside(steps[2])))
        return rounded(value, beside(zero), builder.type(zero).dtype)

    _require_f32(builder, steps)
    operands = (
        ByteOperand(required(node, 0), required(node, 2)),
        ByteOperand(weight, required(node, 5)),
    )
    integer_convolution(builder, node.outputs[0], operands, node.attributes, finish)


def _conv_of_reals(builder: NestBuilder, node: Node) -> None:
    """Add the convolution of the numbers that bytes stand for, with the bias in their scale."""
    x = _real(builder, node, 0)
    weight = _real(builder, node, 3)
    inputs = [x, weight]
    if (bias := node.input(8)) is not None:
        inputs.append(_real_bias(builder, bias, required(node, 1), required(node, 4)))
    _through(builder, replace(node, op_type="Conv", inputs=tuple(inputs)), (node, 6))


def _real_bias(builder: NestBuilder, bias: str, *steps: str) -> str:
    (axis,) = axes_for(builder.type(bias).shape)
    reads = [Read(bias, (at(axis),))]
    value: Expr = cast(Argument(0, "i32"), "f32")
    for step in steps:
        reads.append(Read(step, one_or_each(builder.type(step).shape, axis)))
        value = call("multiply", value, Argument(len(reads) - 1, "f32"))
    return builder.add(builder.fresh(f"{bias}.real"), (axis,), reads, value)


def _real(builder: NestBuilder, node: Node, position: int) -> str:
    """Add the numbers that bytes stand for; a scale is one for all, or one along the first axis."""
    tensor, step, zero = (
        required(node, position),
        required(node, position + 1),
        node.input(position + 2),
    )
    _require_f32(builder, (step,))
    kind = builder.type(tensor)
    axes = axes_for(kind.shape)
    along = axes[0] if axes else Axis("one", 1)
    reads = [Read(tensor, tuple(map(at, axes)))]
    value = cast(Argument(0, kind.dtype), "i32")
    if zero is not None:
        reads.append(Read(zero, one_or_each(builder.type(zero).shape, along)))
        own = cast(Argument(1, builder.type(zero).dtype), "i32")
        value = call("subtract", value, own)
    reads.append(Read(step, one_or_each(builder.type(step).shape, along)))
    real = call("multiply", cast(value, "f32"), Argument(len(reads) - 1, "f32"))
    return builder.add(builder.fresh(f"{tensor}.real"), axes, reads, real)


def _through(builder: NestBuilder, plain: Node, result: tuple[Node, int]) -> None:
    """Add what a plain operator gives, as bytes in the scale that a node has at a position."""
    node, position = result
    meaning = OPERATORS[plain.op_type].loops
    assert meaning is not None
    found = builder.fresh(f"{node.outputs[0]}.real")
    meaning(builder, replace(plain, outputs=(found,)))
    step, zero = required(node, position), node.input(position + 1)
    _require_f32(builder, (step,))
    axes = axes_for(builder.type(found).shape)
    reads = [Read(found, tuple(map(at, axes))), Read(step, _one(builder, step))]
    dtype, own = builder.type(required(node, 0)).dtype, None
    if zero is not None:
        dtype = builder.type(zero).dtype
        reads.append(Read(zero, _one(builder, zero)))
        own = Argument(2, dtype)
    value = call("divide", Argument(0, "f32"), Argument(1, "f32"))
    builder.add(node.outputs[0], axes, reads, rounded(value, own, dtype))


def _of_numbers(plain: str, *tensors: int, result: int) -> Meaning:
    """Return what an operator means that is a plain one of the numbers that bytes stand for."""

    def meaning(builder: NestBuilder, node: Node) -> None:
        if int(node.attributes.get("channels_last", 0)):
            raise NotCoveredError("its channels are last")
        inputs = tuple(_real(builder, node, position) for position in tensors)
        opset = int(node.attributes.get("opset", node.opset))
        _through(builder, replace(node, op_type=plain, inputs=inputs, opset=opset), (node, result))

    return meaning


def qlinear_concat(builder: NestBuilder, node: Node) -> None:
    """Add tensors one after the other, each brought to the scale of the result."""
    inputs = tuple(_real(builder, node, place) for place in range(2, len(node.inputs), 3))
    _through(builder, replace(node, op_type="Concat", inputs=inputs), (node, 0))


def _turned(builder: NestBuilder, matrix: str) -> str:
    rows, columns = builder.type(matrix).shape
    k, n = Axis("k", columns), Axis("n", rows)
    read = Read(matrix, (at(n), at(k)))
    body = Argument(0, builder.type(matrix).dtype)
    return builder.add(builder.fresh(f"{matrix}.turned"), (k, n), [read], body)


def _one(builder: NestBuilder, tensor: str) -> tuple[Index, ...]:
    shape = builder.type(tensor).shape
    if int(np.prod(shape)) != 1:
        raise NotCoveredError(f"the scale of its result has the shape {tuple(shape)}")
    return tuple(Index() for _ in shape)


def _require_f32(builder: NestBuilder, steps: Sequence[str | None]) -> None:
    if any(step is not None and builder.type(step).dtype != "f32" for step in steps):
        raise NotCoveredError("its scales are not f32")


def _as(rule: ShapeRule, *indices: int) -> ShapeRule:
    """Return a rule for operands among which scales and zero points stand."""
    return lambda at: rule(replace(at, inputs=tuple(at.shape(index) for index in indices)))


def _joined(at: Operands) -> Sequence[Partial | None]:
    tensors = at.inputs[2::3]
    return shape_of("Concat")(replace(at, inputs=tensors, present=(True,) * len(tensors)))


def _convolution_work(at: Operands) -> float:
    return 2.0 * math.prod(at.sizes(3)[1:]) * math.prod(at.out)


def _gemm_type(at: Operands) -> Sequence[str | None]:
    return [at.type(8) if at.given(8) else "f32"]


def _product(shape: ShapeRule, types: TypeRule, work: WorkRule, loops: Meaning) -> Operator:
    return Operator(shape, types, work=work, computes="i8", loops=loops)


def _elementwise(shape: ShapeRule, operations: float, loops: Meaning) -> Operator:
    return Operator(shape, work=each_output(operations), computes="i8", loops=loops)


_PAIR = _as(broadcast, 0, 3)

register({
    "QLinearMatMul": _product(
        _as(shape_of("MatMul"), 0, 3), type_of_input(7), product_work, qlinear_matmul
    ),
    "QLinearConv com.microsoft.QLinearConv": _product(
        _as(shape_of("Conv"), 0, 3), type_of_input(7), _convolution_work, qlinear_conv
    ),
    "com.microsoft.QGemm": _product(_as(shape_of("Gemm"), 0, 3), _gemm_type, gemm_work, qgemm),
    "com.microsoft.QLinearAdd": _elementwise(_PAIR, 1, _of_numbers("Add", 0, 3, result=6)),
    "com.microsoft.QLinearMul": _elementwise(_PAIR, 1, _of_numbers("Mul", 0, 3, result=6)),
    "com.microsoft.QLinearLeakyRelu": _elementwise(
        first, 1, _of_numbers("LeakyRelu", 0, result=3)
    ),
    "com.microsoft.QLinearSigmoid": _elementwise(first, 1, _of_numbers("Sigmoid", 0, result=3)),
    "com.microsoft.QLinearSoftmax": _elementwise(first, 14, _of_numbers("Softmax", 0, result=3)),
    "com.microsoft.QLinearAveragePool": _elementwise(
        shape_of("AveragePool"), 1, _of_numbers("AveragePool", 0, result=3)
    ),
    "com.microsoft.QLinearGlobalAveragePool": _elementwise(
        shape_of("GlobalAveragePool"), 1, _of_numbers("GlobalAveragePool", 0, result=3)
    ),
    "com.microsoft.QLinearConcat": Operator(
        _joined, type_of_input(2), work=nothing, computes="i8", loops=qlinear_concat
    ),
})  # fmt: skip
