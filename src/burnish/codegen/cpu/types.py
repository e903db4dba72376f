"""Element types as LLVM sees them: in memory, in registers, and on the way between.

16-bit floats stay 16 bits of an integer in registers, as only casts look inside; a bool is one bit
in registers and one byte in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from llvmlite import ir

from burnish.core.errors import ModelError


class LlvmType(Protocol):
    """An LLVM type: what of llvmlite's, which has no type information, is used here."""

    count: int
    """Lanes of a vector."""
    width: int
    """Bits of an integer."""

    def __call__(self, number: int) -> LlvmValue:
        """Return a constant of the type."""


class LlvmValue(Protocol):
    """An LLVM value."""

    name: str
    type: LlvmType


Builder = Any
"""An `ir.IRBuilder`: all instructions of LLVM are methods of it."""
Native = Any
"""A module, a function or a machine, as llvmlite has them."""


class _BFloatType(ir.Type):  # type: ignore[misc]
    """The type `bfloat` of LLVM, which llvmlite has no class for."""

    def _to_string(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    def __hash__(self) -> int:
        return hash(type(self))


BFLOAT = _BFloatType()
"""For instructions that take bf16; in registers of ours they are 16 bits of an integer."""

FLOATS = ("f32", "f64")
HALVES = ("f16", "bf16")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
ELEMENT_TYPES = (*FLOATS, *HALVES, *INTEGERS, "bool")
"""Every element type that kernels can hold."""

_IN_REGISTER: Mapping[str, Any] = MappingProxyType(
    {
        "f32": ir.FloatType(),
        "f64": ir.DoubleType(),
        "f16": ir.IntType(16),
        "bf16": ir.IntType(16),
        "bool": ir.IntType(1),
        **{name: ir.IntType(int(name[1:])) for name in INTEGERS},
    }
)


def called(value: LlvmValue, name: str) -> LlvmValue:
    """Return a value under a name that people can read, unless it has one or needs none."""
    if isinstance(value, ir.Instruction) and value.name.startswith("."):
        value.name = name
    return value


def register_type(dtype: str, width: int = 1) -> LlvmType:
    """Return the LLVM type of `width` elements in a register; one element is a scalar."""
    if dtype not in _IN_REGISTER:
        raise ModelError(
            f"generated kernels have no element type {dtype!r}",
            hint=f"they have: {', '.join(ELEMENT_TYPES)}; leave the node to ONNX Runtime",
        )
    scalar = _IN_REGISTER[dtype]
    return scalar if width == 1 else ir.VectorType(scalar, width)


def memory_type(dtype: str, width: int = 1) -> LlvmType:
    """Return the LLVM type of `width` neighbouring elements in memory."""
    return register_type("u8" if dtype == "bool" else dtype, width)


def size_in_bytes(dtype: str) -> int:
    """Return the bytes of one element in memory."""
    scalar = memory_type(dtype)
    if isinstance(scalar, ir.IntType):
        return int(scalar.width) // 8
    return 8 if dtype == "f64" else 4


def width_of(value: LlvmValue) -> int:
    """Return the lanes of a value; a scalar has one."""
    return int(value.type.count) if isinstance(value.type, ir.VectorType) else 1


def from_memory(builder: Builder, loaded: LlvmValue, dtype: str) -> LlvmValue:
    """Return what a load of `memory_type` gave, as the register holds it."""
    if dtype != "bool":
        return loaded
    return builder.icmp_unsigned("!=", loaded, ir.Constant(loaded.type, None))


def to_memory(builder: Builder, value: LlvmValue, dtype: str) -> LlvmValue:
    """Return a value as a store of `memory_type` wants it."""
    if dtype != "bool":
        return value
    return builder.zext(value, memory_type("bool", width_of(value)))


def load(builder: Builder, pointer: LlvmValue, dtype: str, width: int = 1) -> LlvmValue:
    """Return `width` neighbouring elements; the pointer is aligned for one element only."""
    loaded = builder.load(pointer, typ=memory_type(dtype, width), align=size_in_bytes(dtype))
    return from_memory(builder, loaded, dtype)


def store(builder: Builder, value: LlvmValue, pointer: LlvmValue, dtype: str) -> None:
    """Store the elements side by side; the pointer is aligned for one element only."""
    builder.store(to_memory(builder, value, dtype), pointer, align=size_in_bytes(dtype))
