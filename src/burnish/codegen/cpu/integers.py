"""Division, remainder and shifts of integers, for every value: nothing here traps.

Division rounds towards zero; by zero it gives zero, and so do the remainders. Numbers of up to 32
bits are divided as floats that hold them exactly, which vectorises; 64 bits are divided one by one.
"""

from __future__ import annotations

from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.types import SIGNED, register_type, size_in_bytes


def divide(a: Lanes, b: Lanes) -> Lanes:
    """Return the quotient rounded towards zero; the least number by -1 is itself."""
    if b.number is not None:
        return _by_number(a, b)
    zero = b.equal(0)
    divisor = zero.choose(1, b)
    divided = _by_nonzero if size_in_bytes(a.dtype) == 8 else _as_floats
    return zero.choose(0, divided(a, divisor))


def remainder(a: Lanes, b: Lanes) -> Lanes:
    """Return what the division leaves, with the sign of `a`."""
    return b.equal(0).choose(0, a - divide(a, b) * b)


def modulo(a: Lanes, b: Lanes) -> Lanes:
    """Return what the division rounded down leaves, with the sign of `b`."""
    rest = remainder(a, b)
    if a.dtype not in SIGNED:
        return rest
    crossed = rest.differs(0) & (rest ^ b).less(0)
    return crossed.choose(rest + b, rest)


def shift_left(a: Lanes, count: Lanes) -> Lanes:
    """Return the bits moved up; zero where the count is negative or the width or more."""
    fits = _as_unsigned(count).less(_bits(a))
    return fits.choose(a << fits.choose(count, 0), 0)


def shift_right(a: Lanes, count: Lanes) -> Lanes:
    """Return the bits moved down; only the sign is left where the count is out of range."""
    fits = _as_unsigned(count).less(_bits(a))
    if a.dtype in SIGNED:
        return a >> fits.choose(count, _bits(a) - 1)
    return fits.choose(a >> fits.choose(count, 0), 0)


def _by_number(a: Lanes, b: Lanes) -> Lanes:
    if b.number == 0:
        return a.like(0)
    if b.number == -1 and a.dtype in SIGNED:
        return -a
    return _quotient(a, b)


def _by_nonzero(a: Lanes, b: Lanes) -> Lanes:
    if a.dtype not in SIGNED:
        return _quotient(a, b)
    minus_one = b.equal(-1)
    return minus_one.choose(-a, _quotient(a, minus_one.choose(1, b)))


def _quotient(a: Lanes, b: Lanes) -> Lanes:
    divide_ = a.builder.sdiv if a.dtype in SIGNED else a.builder.udiv
    return a.of(divide_(a.value, b.value))


def _as_floats(a: Lanes, b: Lanes) -> Lanes:
    kind = "f64" if size_in_bytes(a.dtype) == 4 else "f32"
    quotient = cast(a, kind) / cast(b, kind)
    if a.dtype == "u32":
        whole = a.builder.fptoui(quotient.value, register_type("u32", a.width))
        return a.of(whole)
    return cast(quotient, a.dtype)


def _as_unsigned(x: Lanes) -> Lanes:
    return x.of(x.value, "u" + x.dtype[1:])


def _bits(x: Lanes) -> int:
    return 8 * size_in_bytes(x.dtype)
