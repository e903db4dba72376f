"""Rules that many operators share: shapes like an operand's, counts per element, plain types."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import ONNX_NUMBERS
from burnish.operators import size
from burnish.operators.record import (
    OPERATORS,
    Elements,
    Operands,
    Partial,
    ShapeRule,
    TypeRule,
    WorkRule,
)
from burnish.operators.size import Size


def first(at: Operands) -> Sequence[Partial | None]:
    """Return the first input's shape, for the first output."""
    return [at.shape(0)]


def all_first(at: Operands) -> Sequence[Partial | None]:
    """Return the first input's shape, for every output."""
    return [at.shape(0)] * at.wanted


def broadcast(at: Operands) -> Sequence[Partial | None]:
    """Return the shape that all operands have together."""
    result: Partial | None = at.shape(0)
    if at.number("broadcast", 0):  # as before opset 7: the second operand fits into the first
        return [result]
    for index in range(1, len(at.inputs)):
        other = at.shape(index)
        result = None if result is None or other is None else stretched(result, other)
    return [result]


def stretched(left: Partial, right: Partial) -> Partial:
    """Return the shape that two operands give together."""
    missing = len(left) - len(right)
    left, right = (1,) * -missing + left, (1,) * missing + right
    return tuple(
        [
            None if a is None or b is None else size.broadcast(a, b)
            for a, b in zip(left, right, strict=True)
        ]
    )


def agreed(found: Sequence[Size]) -> Size:
    """Return what sizes that must be equal are: a number, if one is."""
    return next((item for item in found if isinstance(item, int)), found[0])


def all_first_type(at: Operands) -> Sequence[str | None]:
    """Return the first input's element type, for every output."""
    return [at.type(0)] * at.wanted


def shape_of(name: str) -> ShapeRule:
    """Return the shape rule of another operator, which may be filed later."""

    def rule(at: Operands) -> Sequence[Partial | None]:
        plain = OPERATORS[name].shape
        assert plain is not None
        return plain(at)

    return rule


def type_of_input(index: int) -> TypeRule:
    """Return the rule that the result has the type of an input."""
    return lambda at: [at.type(index)]


def always(*types: str) -> TypeRule:
    """Return the rule that outputs have these types, whatever the operands are."""
    return lambda _: types


def then(*types: str) -> TypeRule:
    """Return the rule that the first output has the first input's type, the others these."""
    return lambda at: (at.type(0), *types)


def named_type(attribute: str) -> TypeRule:
    """Return the rule that an attribute names the result's type; without: that of the input."""

    def rule(at: Operands) -> Sequence[str | None]:
        number = at.number(attribute, 0)
        return [ONNX_NUMBERS.get(number) if number else at.type(0)]

    return rule


def each_output(operations: float) -> WorkRule:
    """Return the count of an operator that spends so much on every element it gives."""
    return lambda at: operations * math.prod(at.out)


def each_input(operations: float) -> WorkRule:
    """Return the count of an operator that spends so much on every element it reads."""
    return lambda at: operations * math.prod(at.sizes(0))


def nothing(_: Operands) -> float:
    """Return no work: elements are moved, or not even that."""
    return 0.0


def defined(_: Operands, __: Sequence[Array | None]) -> bool:
    """Return that ONNX says what comes out, whatever the constants are."""
    return True


def no_zero_below(_: Operands, arrays: Sequence[Array | None]) -> bool:
    """Return whether whole numbers are not divided by zero."""
    divisor = arrays[1]
    return divisor is not None and (divisor.dtype.kind not in "iu" or bool(np.all(divisor)))


def same_elements(at: Operands) -> Elements | None:
    """Return the first operand's elements, of a rank that has a row of them."""
    return at.elements(0)


def long(items: Elements, length: int) -> Elements:
    """Return a row that is broadcast to a length."""
    return items * length if len(items) == 1 else items
