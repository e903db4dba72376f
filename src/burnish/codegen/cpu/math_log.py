"""log, and the inverse hyperbolic functions that are made of it, for f32.

The argument is x = 2^e · (1 + f) with 1 + f between √½ and √2; then log x = e·ln 2 + log(1 + f).
"""

from __future__ import annotations

import math

from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.math_exp import absolute, polynomial, with_sign_of
from burnish.codegen.cpu.target import InstructionSet

_LN2_HIGH = 0.693145751953125
_LN2_LOW = math.log(2) - _LN2_HIGH

_SQRT_HALF = 0x3F3504F3
"""√½ as bits of an f32."""

_LOG = (0.3333333134651184, -0.2500081956386566, 0.2000124156475067, -0.166234090924263,
        0.14201579988002777, -0.13159610331058502, 0.12762217223644257,
        -0.07636439055204391)  # fmt: skip
"""(log(1 + f) - f + f²/2) / f³: error of log(1 + f) 5.8e-9."""

_LARGE = 1e10
"""From here on 1 is lost beside x²."""


def log(target: InstructionSet, x: Lanes) -> Lanes:
    """Return log x: -∞ of zero, NaN of what is negative."""
    exponent, f = split(x)
    square = f * f
    fine = polynomial(f, _LOG) * (square * f) + exponent * _LN2_LOW
    result = (fine - square * 0.5 + f) + exponent * _LN2_HIGH
    # infinity and NaN are their own logarithms
    result = x.less(math.inf).choose(result, x)
    return x.greater(0.0).choose(result, x.equal(0.0).choose(-math.inf, x.like(math.nan)))


def split(x: Lanes) -> tuple[Lanes, Lanes]:
    """Return e and f of x = 2^e · (1 + f), for positive finite x, subnormal ones too."""
    subnormal = x.less(2.0**-126)
    bits = subnormal.choose(x * 2.0**23, x).bits("i32") - _SQRT_HALF
    exponent = cast(bits >> 23, "f32") - subnormal.choose(x.like(23.0), 0.0)
    mantissa = ((bits & 0x7FFFFF) + _SQRT_HALF).bits("f32")
    return exponent, mantissa - 1.0


def asinh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return log(|x| + √(x² + 1)), with the sign of x."""
    size = absolute(x)
    square = size * size
    near = size + square / ((square + 1.0).intrinsic("llvm.sqrt") + 1.0)
    return with_sign_of(x, _log_of_one_plus(target, size, near))


def acosh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return log(x + √(x² - 1)); NaN below one."""
    above = x - 1.0
    near = above + (above * above + above * 2.0).intrinsic("llvm.sqrt")
    result = _log_of_one_plus(target, x, near)
    return x.less(1.0).choose(math.nan, result)


def atanh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return log((1 + x) / (1 - x)) / 2; infinite at ±1 and NaN beyond."""
    size = absolute(x)
    return with_sign_of(x, log1p(target, size * 2.0 / (1.0 - size)) * 0.5)


def log1p(target: InstructionSet, u: Lanes) -> Lanes:
    """Return log(1 + u), precise for small u too."""
    whole = u + 1.0
    result = log(target, whole) + (u - (whole - 1.0)) / whole
    return u.equal(math.inf).choose(u, result)


def _log_of_one_plus(target: InstructionSet, x: Lanes, near: Lanes) -> Lanes:
    """Return log(1 + near), or log(2·x) where x is large."""
    large = x.greater(_LARGE)
    return log1p(target, large.choose(x, near)) + large.choose(x.like(math.log(2)), 0.0)
