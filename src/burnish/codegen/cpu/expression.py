"""Scalar expressions as vector code: the same formula in every lane.

Functions of 16-bit floats are computed in f32 and rounded, each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from burnish.codegen.cpu import arithmetic, integers, intrinsics
from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes, constant
from burnish.codegen.cpu.types import (
    ELEMENT_TYPES,
    FLOATS,
    HALVES,
    INTEGERS,
    Builder,
    LlvmValue,
    called,
)
from burnish.core.errors import ModelError
from burnish.tile.expr import Call, Constant, Expr, walk
from burnish.tile.functions import FUNCTIONS

Leaf = Callable[[Expr], LlvmValue]
"""What an argument, accumulated value, coordinate or guard is, as `width` lanes of its type."""

_NUMBERS = (*FLOATS, *HALVES, *INTEGERS)
_REALS = (*FLOATS, *HALVES)
_BITS = (*INTEGERS, "bool")


@dataclass(frozen=True, slots=True)
class Emitter:
    """How a function is written, and for which element types of its last argument."""

    emit: Callable[..., Lanes]
    dtypes: tuple[str, ...]


def _library(name: str) -> Emitter:
    return Emitter(partial(intrinsics.call, name), _REALS)


EMITTERS: Mapping[str, Emitter] = MappingProxyType(
    {
        "add": Emitter(arithmetic.add, ELEMENT_TYPES),
        "subtract": Emitter(arithmetic.subtract, _NUMBERS),
        "multiply": Emitter(arithmetic.multiply, ELEMENT_TYPES),
        "divide": Emitter(arithmetic.divide, _NUMBERS),
        "minimum": Emitter(arithmetic.minimum, ELEMENT_TYPES),
        "maximum": Emitter(arithmetic.maximum, ELEMENT_TYPES),
        "power": Emitter(arithmetic.power, _NUMBERS),
        "modulo": Emitter(arithmetic.modulo, _NUMBERS),
        "fmod": Emitter(arithmetic.fmod, _NUMBERS),
        "negative": Emitter(Lanes.__neg__, _NUMBERS),
        "absolute": Emitter(arithmetic.absolute, _NUMBERS),
        "sign": Emitter(arithmetic.sign, _NUMBERS),
        "reciprocal": Emitter(arithmetic.reciprocal, _NUMBERS),
        "sqrt": Emitter(arithmetic.sqrt, _REALS),
        **{
            name: _library(name)
            for name in (
                "exp", "log", "erf", "sigmoid", "sin", "cos", "tan", "asin", "acos", "atan",
                "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
            )
        },
        "floor": Emitter(arithmetic.floor, _NUMBERS),
        "ceil": Emitter(arithmetic.ceil, _NUMBERS),
        "round": Emitter(arithmetic.round_half_to_even, _NUMBERS),
        "truncate": Emitter(arithmetic.truncate, _NUMBERS),
        "is_nan": Emitter(arithmetic.is_nan, ELEMENT_TYPES),
        "is_infinite": Emitter(arithmetic.is_infinite, ELEMENT_TYPES),
        "equal": Emitter(Lanes.equal, ELEMENT_TYPES),
        "less": Emitter(Lanes.less, ELEMENT_TYPES),
        "less_equal": Emitter(Lanes.less_equal, ELEMENT_TYPES),
        "and": Emitter(arithmetic.logical_and, ELEMENT_TYPES),
        "or": Emitter(arithmetic.logical_or, ELEMENT_TYPES),
        "xor": Emitter(arithmetic.logical_xor, ELEMENT_TYPES),
        "not": Emitter(arithmetic.logical_not, ELEMENT_TYPES),
        "bit_and": Emitter(Lanes.__and__, _BITS),
        "bit_or": Emitter(Lanes.__or__, _BITS),
        "bit_xor": Emitter(Lanes.__xor__, _BITS),
        "bit_not": Emitter(Lanes.__invert__, _BITS),
        "shift_left": Emitter(integers.shift_left, INTEGERS),
        "shift_right": Emitter(integers.shift_right, INTEGERS),
        "where": Emitter(arithmetic.where, ELEMENT_TYPES),
        "cast": Emitter(cast, ELEMENT_TYPES),
    }
)  # fmt: skip


def emit(builder: Builder, expr: Expr, width: int, leaf: Leaf) -> LlvmValue:
    """Return the `width` lanes of an expression as an `ir.Value`; one lane is a scalar."""
    refused = refusal(expr)
    if refused is not None:
        raise ModelError(
            f"generated kernels have no {refused}", hint="leave the node to ONNX Runtime"
        )
    return _Emission(builder, width, leaf).lanes(expr).value


def refusal(expr: Expr) -> str | None:
    """Return what in the expression cannot be generated ("exp of i64"); None: nothing."""
    for part in walk(expr):
        if part.dtype not in ELEMENT_TYPES:
            return f"element type {part.dtype}"
        if isinstance(part, Call):
            dtype = part.arguments[-1].dtype
            if dtype not in EMITTERS[part.function].dtypes:
                return f"{part.function} of {dtype}"
    return None


class _Emission:
    """Writes an expression once, however often its parts occur in it."""

    def __init__(self, builder: Builder, width: int, leaf: Leaf) -> None:
        self._builder = builder
        self._width = width
        self._leaf = leaf
        self._done: dict[int, Lanes] = {}

    def lanes(self, expr: Expr) -> Lanes:
        if id(expr) not in self._done:
            self._done[id(expr)] = self._emitted(expr)
        return self._done[id(expr)]

    def _emitted(self, expr: Expr) -> Lanes:
        match expr:
            case Constant(number, dtype):
                return constant(self._builder, number, dtype, self._width)
            case Call("cast", (inner,), dtype):
                return cast(self.lanes(inner), dtype)
            case Call(function, arguments, _):
                found = _called(function, [self.lanes(each) for each in arguments])
                called(found.value, function)
                return found
            case _:
                return Lanes(self._builder, self._leaf(expr), expr.dtype)


def _called(function: str, arguments: list[Lanes]) -> Lanes:
    emitter = EMITTERS[function].emit
    dtype = arguments[-1].dtype
    if dtype not in HALVES or function == "where":
        return emitter(*arguments)
    result = emitter(*(cast(each, "f32") for each in arguments))
    return result if FUNCTIONS[function].result == "bool" else cast(result, dtype)
