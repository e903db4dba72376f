"""One element type into another, as C and ONNX Runtime do it.

A float becomes an integer by dropping its fraction. What an i32 (for 64-bit types an i64) cannot
hold, NaN among it, becomes the least i32 (i64), of which narrower types take the low bits; u32 and
u64 take their upper half by way of the lower one. C leaves all that open; it is what x86 does, and
so what NumPy and ONNX Runtime give there. 16-bit floats pass through f32, from f64 and from
integers too, as in ONNX Runtime.
"""

from __future__ import annotations

from burnish.codegen.cpu import intrinsics
from burnish.codegen.cpu.lanes import Lanes, constant
from burnish.codegen.cpu.types import FLOATS, HALVES, INTEGERS, SIGNED, register_type, size_in_bytes


def cast(x: Lanes, dtype: str) -> Lanes:
    """Return the lanes in another element type."""
    if x.dtype == dtype:
        return x
    if x.number is not None and x.dtype in INTEGERS and dtype in FLOATS:
        return constant(x.builder, x.number, dtype, x.width)
    if x.dtype in HALVES:
        return cast(intrinsics.widened(x), dtype)
    if dtype in HALVES:
        return intrinsics.narrowed(cast(x, "f32"), dtype)
    if dtype == "bool":
        return x.differs(0)
    if dtype in FLOATS:
        return _float(x, dtype)
    return _integer(x, dtype)


def _float(x: Lanes, dtype: str) -> Lanes:
    kind = register_type(dtype, x.width)
    if x.is_float:
        convert = x.builder.fpext if dtype == "f64" else x.builder.fptrunc
    else:
        convert = x.builder.sitofp if x.dtype in SIGNED else x.builder.uitofp
    return x.of(convert(x.value, kind), dtype)


def _integer(x: Lanes, dtype: str) -> Lanes:
    if x.is_float:
        return _integer(_truncated(x, dtype), dtype)
    kind = register_type(dtype, x.width)
    before, after = _bits(x.dtype), _bits(dtype)
    if before == after:
        return x.of(x.value, dtype)
    if before > after:
        return x.of(x.builder.trunc(x.value, kind), dtype)
    extend = x.builder.sext if x.dtype in SIGNED else x.builder.zext
    return x.of(extend(x.value, kind), dtype)


def _truncated(x: Lanes, dtype: str) -> Lanes:
    """Return a float as i32 or i64 whose low bits are those of the result."""
    if dtype not in ("u32", "u64"):
        return _checked(x, "i64" if dtype == "i64" else "i32")
    half = 2 ** (_bits(dtype) - 1)
    upper = x.like(float(half)).less_equal(x)
    low = _checked(upper.choose(x - float(half), x), f"i{_bits(dtype)}")
    return upper.choose(low ^ -half, low)


def _checked(x: Lanes, dtype: str) -> Lanes:
    """Return the float as i32 or i64, the least of them where it does not fit."""
    beyond = 2.0 ** (_bits(dtype) - 1)
    fits = x.intrinsic("llvm.fabs").less(beyond)
    converted = x.builder.fptosi(x.value, register_type(dtype, x.width))
    return fits.choose(x.of(converted, dtype), -int(beyond))


def _bits(dtype: str) -> int:
    return 1 if dtype == "bool" else 8 * size_in_bytes(dtype)
