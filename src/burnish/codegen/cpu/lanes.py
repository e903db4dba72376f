"""A value in a vector register, with operators: formulas over it read as they are written.

Float sums and products carry the flag `contract` and no other: LLVM may fuse a product into a sum,
but NaN, infinity and the sign of zero stay what they are, and nothing is reordered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from burnish.codegen.cpu.types import (
    FLOATS,
    INTEGERS,
    SIGNED,
    Builder,
    LlvmType,
    LlvmValue,
    Native,
    register_type,
    width_of,
)
from burnish.core.array_types import array_type

Number = bool | int | float

_CONTRACT = ("contract",)


class _Splat(ir.Constant):  # type: ignore[misc]
    """A vector constant with equal lanes, written once."""

    def __init__(self, vector: LlvmType, scalar: LlvmValue) -> None:
        super().__init__(vector, None)
        self._scalar = scalar

    def _get_reference(self) -> str:
        return f"splat ({self._scalar})"


@dataclass(frozen=True, slots=True)
class Lanes:
    """One value per lane; `number` is set where all lanes are this constant."""

    builder: Builder
    value: LlvmValue
    dtype: str
    number: Number | None = None

    @property
    def width(self) -> int:
        """Return the number of lanes."""
        return width_of(self.value)

    @property
    def is_float(self) -> bool:
        """Return whether sums and products are those of floats."""
        return self.dtype in FLOATS

    def like(self, number: Number) -> Lanes:
        """Return a constant of the same type and width."""
        return constant(self.builder, number, self.dtype, self.width)

    def of(self, value: LlvmValue, dtype: str | None = None) -> Lanes:
        """Return another value of the same builder, by default of the same element type."""
        return Lanes(self.builder, value, dtype or self.dtype)

    def __add__(self, other: Lanes | Number) -> Lanes:
        return self._arithmetic("fadd", "add", other)

    def __sub__(self, other: Lanes | Number) -> Lanes:
        return self._arithmetic("fsub", "sub", other)

    def __mul__(self, other: Lanes | Number) -> Lanes:
        return self._arithmetic("fmul", "mul", other)

    def __truediv__(self, other: Lanes | Number) -> Lanes:
        return self.of(self.builder.fdiv(self.value, self._lanes(other).value))

    def __radd__(self, other: Number) -> Lanes:
        return self.like(other) + self

    def __rsub__(self, other: Number) -> Lanes:
        return self.like(other) - self

    def __rmul__(self, other: Number) -> Lanes:
        return self.like(other) * self

    def __rtruediv__(self, other: Number) -> Lanes:
        return self.like(other) / self

    def __neg__(self) -> Lanes:
        if self.is_float:
            return self.of(self.builder.fneg(self.value))
        return self.like(0) - self

    def __and__(self, other: Lanes | Number) -> Lanes:
        return self.of(self.builder.and_(self.value, self._lanes(other).value))

    def __or__(self, other: Lanes | Number) -> Lanes:
        return self.of(self.builder.or_(self.value, self._lanes(other).value))

    def __xor__(self, other: Lanes | Number) -> Lanes:
        return self.of(self.builder.xor(self.value, self._lanes(other).value))

    def __invert__(self) -> Lanes:
        return self ^ (True if self.dtype == "bool" else -1)

    def __lshift__(self, other: Lanes | int) -> Lanes:
        return self.of(self.builder.shl(self.value, self._lanes(other).value))

    def __rshift__(self, other: Lanes | int) -> Lanes:
        """Shift right, with copies of the sign where the type is signed."""
        shift = self.builder.ashr if self.dtype in SIGNED else self.builder.lshr
        return self.of(shift(self.value, self._lanes(other).value))

    def less(self, other: Lanes | Number) -> Lanes:
        """Return `self < other`; false where one is NaN."""
        return self._compare("<", other)

    def less_equal(self, other: Lanes | Number) -> Lanes:
        """Return `self <= other`; false where one is NaN."""
        return self._compare("<=", other)

    def greater(self, other: Lanes | Number) -> Lanes:
        """Return `self > other`; false where one is NaN."""
        return self._compare(">", other)

    def equal(self, other: Lanes | Number) -> Lanes:
        """Return `self == other`; false where one is NaN."""
        return self._compare("==", other)

    def differs(self, other: Lanes | Number) -> Lanes:
        """Return `self != other`; true where one is NaN."""
        if self.is_float:
            found = self.builder.fcmp_unordered("!=", self.value, self._lanes(other).value)
            return self.of(found, "bool")
        return self._compare("!=", other)

    def is_nan(self) -> Lanes:
        """Return whether a float is not a number."""
        return self.of(self.builder.fcmp_unordered("uno", self.value, self.value), "bool")

    def choose(self, yes: Lanes | Number, no: Lanes | Number) -> Lanes:
        """Return `yes` where this bool holds and `no` elsewhere; one of them may be a number."""
        if not isinstance(yes, Lanes):
            assert isinstance(no, Lanes)
            yes = no.like(yes)
        other = yes._lanes(no)
        return yes.of(self.builder.select(self.value, yes.value, other.value))

    def at_least(self, low: float) -> Lanes:
        """Return the float, or `low` where it is less; NaN stays. One instruction."""
        bound = self.like(low)
        return bound.greater(self).choose(bound, self)

    def at_most(self, high: float) -> Lanes:
        """Return the float, or `high` where it is more; NaN stays. One instruction."""
        bound = self.like(high)
        return bound.less(self).choose(bound, self)

    def bits(self, dtype: str) -> Lanes:
        """Return the same bits as another type of the same size."""
        kind = register_type(dtype, self.width)
        return self.of(self.builder.bitcast(self.value, kind), dtype)

    def intrinsic(self, name: str, *others: Lanes) -> Lanes:
        """Return what an LLVM intrinsic gives that is overloaded on this type alone."""
        scalar = register_type(self.dtype)
        letter = {"f32": "f32", "f64": "f64"}.get(self.dtype) or f"i{scalar.width}"
        suffix = letter if self.width == 1 else f"v{self.width}{letter}"
        return self.calling(f"{name}.{suffix}", *others)

    def calling(self, name: str, *others: Lanes, dtype: str | None = None) -> Lanes:
        """Return what a function gives that is defined elsewhere; the first argument is self."""
        arguments = (self, *others)
        result = register_type(dtype or self.dtype, self.width)
        function = declared(
            self.builder.module, name, result, [each.value.type for each in arguments]
        )
        called = self.builder.call(function, [each.value for each in arguments])
        return self.of(called, dtype)

    def any_lane(self) -> Lanes:
        """Return whether a bool holds in some lane, as a scalar."""
        if self.width == 1:
            return self
        bit = register_type("bool")
        name = f"llvm.vector.reduce.or.v{self.width}i1"
        function = declared(self.builder.module, name, bit, [self.value.type])
        return self.of(self.builder.call(function, [self.value]))

    def lane(self, position: int) -> Lanes:
        """Return one lane as a scalar."""
        if self.width == 1:
            return self
        index = ir.Constant(ir.IntType(32), position)
        return self.of(self.builder.extract_element(self.value, index))

    def _lanes(self, other: Lanes | Number) -> Lanes:
        return other if isinstance(other, Lanes) else self.like(other)

    def _arithmetic(self, of_floats: str, of_integers: str, other: Lanes | Number) -> Lanes:
        right = self._lanes(other).value
        if self.is_float:
            return self.of(getattr(self.builder, of_floats)(self.value, right, flags=_CONTRACT))
        return self.of(getattr(self.builder, of_integers)(self.value, right))

    def _compare(self, operator: str, other: Lanes | Number) -> Lanes:
        right = self._lanes(other).value
        if self.is_float:
            compare = self.builder.fcmp_ordered
        elif self.dtype in SIGNED:
            compare = self.builder.icmp_signed
        else:
            compare = self.builder.icmp_unsigned
        return self.of(compare(operator, self.value, right), "bool")


def constant(builder: Builder, number: Number, dtype: str, width: int) -> Lanes:
    """Return a number in all lanes, rounded to the element type where that is needed."""
    scalar = ir.Constant(register_type(dtype), _representable(number, dtype))
    value = scalar if width == 1 else _Splat(register_type(dtype, width), scalar)
    return Lanes(builder, value, dtype, number)


def joined(lanes: Sequence[Lanes]) -> Lanes:
    """Return scalars as the lanes of one vector."""
    if len(lanes) == 1:
        return lanes[0]
    first = lanes[0]
    vector = ir.Constant(register_type(first.dtype, len(lanes)), ir.Undefined)
    for position, lane in enumerate(lanes):
        index = ir.Constant(ir.IntType(32), position)
        vector = first.builder.insert_element(vector, lane.value, index)
    return first.of(vector)


def declared(module: Native, name: str, result: LlvmType, arguments: Sequence[LlvmType]) -> Native:
    """Return the function of this name, declared in the module if it was not yet."""
    existing = module.globals.get(name)
    return existing or ir.Function(module, ir.FunctionType(result, arguments), name)


def _representable(number: Number, dtype: str) -> Number:
    """Return the number as NumPy rounds it to the type, or its bits where LLVM sees bits."""
    if dtype == "f64":
        return float(number)
    if dtype == "bool":
        return int(bool(number))
    if dtype in INTEGERS:
        return int(number) & ((1 << int(dtype[1:])) - 1)
    with np.errstate(over="ignore"):
        rounded = np.asarray(number, dtype=array_type(dtype))
    return float(rounded) if dtype == "f32" else int(rounded.view(np.uint16))
