"""16-bit floats and f32: f16 by instructions of ARM's, or x86's F16C, else in integer arithmetic.

No run-time library of a compiler is needed on either way.
"""

from __future__ import annotations

from llvmlite import ir

from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import LlvmValue, register_type
from burnish.hw.detect import ARM

_INFINITY = 0x7F800000
_LEAST_NORMAL_F16 = 0x38800000
"""2^-14 as bits of an f32."""
_BEYOND_F16 = 0x47800000
"""2^16 as bits of an f32."""


def widen(target: InstructionSet, x: Lanes) -> Lanes:
    """Return a 16-bit float as f32, exactly."""
    bits = cast(x.of(x.value, "u16"), "u32")
    if x.dtype == "bf16":
        return (bits << 16).bits("f32")
    if _has_instructions(target):
        return x.of(x.builder.fpext(_as_half(x), register_type("f32", x.width)), "f32")
    size = (bits & 0x7FFF) << 13
    # the product puts the exponent right, that of subnormals too
    scaled = (size.bits("f32") * 2.0**112).bits("u32")
    beyond = size.less(0x7C00 << 13)
    finite = beyond.choose(scaled, scaled | _INFINITY)
    return (finite | ((bits & 0x8000) << 16)).bits("f32")


def narrow_f16(target: InstructionSet, x: Lanes) -> Lanes:
    """Return an f32 as f16, rounded to the nearest, the even one of two."""
    if _has_instructions(target):
        half = x.builder.fptrunc(x.value, _half_type(x.width))
        return x.of(x.builder.bitcast(half, register_type("f16", x.width)), "f16")
    bits = x.bits("u32")
    size = bits & 0x7FFFFFFF
    odd = (size >> 13) & 1
    normal = (size + odd + (0xFFF - (112 << 23))) >> 13
    # the last bit of numbers near one half is the last bit of subnormal f16
    subnormal = (size.bits("f32") + 0.5).bits("u32") - 0x3F000000
    finite = size.less(_LEAST_NORMAL_F16).choose(subnormal, normal)
    bounded = size.less(_BEYOND_F16).choose(finite, 0x7C00)
    result = x.is_nan().choose(0x7E00, bounded) | ((bits >> 16) & 0x8000)
    return x.of(cast(result, "u16").value, "f16")


def narrow_bf16(target: InstructionSet, x: Lanes) -> Lanes:
    """Return an f32 as bf16, rounded to the nearest, the even one of two."""
    bits = x.bits("u32")
    upper = bits >> 16
    rounded = (bits + (upper & 1) + 0x7FFF) >> 16
    result = x.is_nan().choose(upper | 0x40, rounded)
    return x.of(cast(result, "u16").value, "bf16")


def _has_instructions(target: InstructionSet) -> bool:
    return target.family == ARM or "f16c" in target.required


def _half_type(width: int) -> LlvmValue:
    return ir.HalfType() if width == 1 else ir.VectorType(ir.HalfType(), width)


def _as_half(x: Lanes) -> LlvmValue:
    return x.builder.bitcast(x.value, _half_type(x.width))
