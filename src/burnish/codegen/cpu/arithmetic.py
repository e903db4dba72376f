"""The short functions: a few instructions each, written out where they are used."""

from __future__ import annotations

import math

from burnish.codegen.cpu import integers, intrinsics
from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.types import SIGNED, UNSIGNED


def add(a: Lanes, b: Lanes) -> Lanes:
    """Return the sum; of bools, whether either holds."""
    return a | b if a.dtype == "bool" else a + b


def subtract(a: Lanes, b: Lanes) -> Lanes:
    """Return the difference."""
    return a - b


def multiply(a: Lanes, b: Lanes) -> Lanes:
    """Return the product; of bools, whether both hold."""
    return a & b if a.dtype == "bool" else a * b


def divide(a: Lanes, b: Lanes) -> Lanes:
    """Return the quotient; of integers, rounded towards zero."""
    return a / b if a.is_float else integers.divide(a, b)


def minimum(a: Lanes, b: Lanes) -> Lanes:
    """Return the lesser; NaN where one is NaN."""
    if a.dtype == "bool":
        return a & b
    if not a.is_float:
        return a.less(b).choose(a, b)
    if _is_plain_number(a):
        return a.less(b).choose(a, b)
    if _is_plain_number(b):
        return b.less(a).choose(b, a)
    return a.is_nan().choose(a, a.less(b).choose(a, b))


def maximum(a: Lanes, b: Lanes) -> Lanes:
    """Return the greater; NaN where one is NaN."""
    if a.dtype == "bool":
        return a | b
    if not a.is_float:
        return a.greater(b).choose(a, b)
    if _is_plain_number(a):
        return a.greater(b).choose(a, b)
    if _is_plain_number(b):
        return b.greater(a).choose(b, a)
    return a.is_nan().choose(a, a.greater(b).choose(a, b))


def power(a: Lanes, b: Lanes) -> Lanes:
    """Return a to the power of b; common constant powers as products."""
    match b.number if a.is_float else None:
        case 1:
            return a
        case 2:
            return a * a
        case 3:
            return a * a * a
        case -1:
            return 1.0 / a
        case 0.5:
            # unlike the square root of them, these powers of -0 and -∞ are positive
            root = (a + 0.0).intrinsic("llvm.sqrt")
            return a.equal(-math.inf).choose(math.inf, root)
    return intrinsics.call("power", a, b)


def modulo(a: Lanes, b: Lanes) -> Lanes:
    """Return the remainder with the sign of the divisor."""
    return intrinsics.call("modulo", a, b) if a.is_float else integers.modulo(a, b)


def fmod(a: Lanes, b: Lanes) -> Lanes:
    """Return the remainder with the sign of the dividend."""
    return intrinsics.call("fmod", a, b) if a.is_float else integers.remainder(a, b)


def absolute(x: Lanes) -> Lanes:
    """Return the number without its sign; the least integer stays what it is."""
    if x.is_float:
        return x.intrinsic("llvm.fabs")
    return x.less(0).choose(-x, x) if x.dtype in SIGNED else x


def sign(x: Lanes) -> Lanes:
    """Return -1, 0 or 1; NaN stays."""
    above = x.greater(0)
    if x.dtype in UNSIGNED:
        return above.choose(x.like(1), 0)
    return above.choose(1, x.less(0).choose(-1, x))


def reciprocal(x: Lanes) -> Lanes:
    """Return one divided by the number."""
    return divide(x.like(1), x)


def sqrt(x: Lanes) -> Lanes:
    """Return the square root, correctly rounded."""
    return x.intrinsic("llvm.sqrt")


def floor(x: Lanes) -> Lanes:
    """Return the number rounded down."""
    return x.intrinsic("llvm.floor") if x.is_float else x


def ceil(x: Lanes) -> Lanes:
    """Return the number rounded up."""
    return x.intrinsic("llvm.ceil") if x.is_float else x


def round_half_to_even(x: Lanes) -> Lanes:
    """Return the nearest whole number, the even one of two."""
    return x.intrinsic("llvm.roundeven") if x.is_float else x


def truncate(x: Lanes) -> Lanes:
    """Return the number without its fraction."""
    return x.intrinsic("llvm.trunc") if x.is_float else x


def is_nan(x: Lanes) -> Lanes:
    """Return whether it is not a number."""
    return x.is_nan() if x.is_float else _never(x)


def is_infinite(x: Lanes) -> Lanes:
    """Return whether it is infinite, of either sign."""
    return x.intrinsic("llvm.fabs").equal(math.inf) if x.is_float else _never(x)


def logical_and(a: Lanes, b: Lanes) -> Lanes:
    """Return whether neither is zero."""
    return cast(a, "bool") & cast(b, "bool")


def logical_or(a: Lanes, b: Lanes) -> Lanes:
    """Return whether one is not zero."""
    return cast(a, "bool") | cast(b, "bool")


def logical_xor(a: Lanes, b: Lanes) -> Lanes:
    """Return whether exactly one is not zero."""
    return cast(a, "bool") ^ cast(b, "bool")


def logical_not(x: Lanes) -> Lanes:
    """Return whether it is zero."""
    return ~cast(x, "bool")


def where(condition: Lanes, yes: Lanes, no: Lanes) -> Lanes:
    """Return `yes` where the condition is not zero, and `no` elsewhere."""
    return cast(condition, "bool").choose(yes, no)


def _is_plain_number(x: Lanes) -> bool:
    """Return whether it is a constant other than NaN: then one instruction is right for NaN."""
    return x.number is not None and not math.isnan(x.number)


def _never(x: Lanes) -> Lanes:
    return x.differs(x)
