"""Trigonometric functions and their inverses, and sinh and cosh, for f32.

sin, cos and tan take x = n·π/2 + r in f64, where that is exact enough up to |x| = 10⁶; a vector
with a larger number in it goes to the system's library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.math_exp import absolute, half_exp, polynomial, with_sign_of
from burnish.codegen.cpu.math_system import each_lane
from burnish.codegen.cpu.target import InstructionSet

_HALF_PI_HIGH = float.fromhex("0x1.921fb544p+0")
"""33 bits: its product with n is exact in f64 up to n = 2^20."""
_HALF_PI_LOW = float.fromhex("0x1.0b4611a626331p-34")
_SHIFT = 1.5 * 2**52
_FAR = 1e6

_SIN = (-0.16666655242443085, 0.008332187309861183, -0.00019517903274390846)
"""(sin r - r) / r³ in r², |r| ≤ π/4: error of sin r 4.0e-9."""
_COS = (0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05)
"""(cos r - 1 + r²/2) / r⁴ in r², |r| ≤ π/4: error of cos r 1.2e-10."""
_ASIN = (0.16666752099990845, 0.074953094124794, 0.04546914994716644, 0.024184778332710266,
         0.042158305644989014)  # fmt: skip
"""(asin x - x) / x³ in x², |x| ≤ 1/2: error of asin x 4.9e-9."""
_ATAN = (-0.33333298563957214, 0.1999852955341339, -0.14264015853405, 0.10950880497694016,
         -0.08399306237697601, 0.05788138881325722, -0.031096985563635826, 0.010868685320019722,
         -0.0017828206764534116)  # fmt: skip
"""(atan x - x) / x³ in x², |x| ≤ 1: error of atan x 2.6e-9."""
_SINH = (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06)
"""(sinh x - x) / x³ in x², |x| ≤ 1: error of sinh x 3.0e-10."""

_HALF_PI_SINGLE = 1.5707963705062866
_HALF_PI_REST = math.pi / 2 - _HALF_PI_SINGLE


def sin(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the sine; NaN of infinity."""
    near = _unless_far("sin", x, lambda: _wave(x, 0))
    return x.equal(0.0).choose(x, near)


def cos(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the cosine; NaN of infinity."""
    return _unless_far("cos", x, lambda: _wave(x, 1))


def tan(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the tangent; NaN of infinity."""
    near = _unless_far("tan", x, lambda: _slope(x))
    return x.equal(0.0).choose(x, near)


def asin(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the arcsine; NaN beyond ±1."""
    size = absolute(x)
    outer = size.greater(0.5)
    root = ((1.0 - size) * 0.5).intrinsic("llvm.sqrt")
    small = _odd(outer.choose(root, size), _ASIN)
    result = outer.choose((_HALF_PI_SINGLE - small * 2.0) + _HALF_PI_REST, small)
    return with_sign_of(x, result)


def acos(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the arccosine; NaN beyond ±1."""
    size = absolute(x)
    outer = size.greater(0.5)
    root = ((1.0 - size) * 0.5).intrinsic("llvm.sqrt")
    small = _odd(outer.choose(root, x), _ASIN)
    twice = small * 2.0
    beyond = (2 * _HALF_PI_SINGLE - twice) + 2 * _HALF_PI_REST
    inner = (_HALF_PI_SINGLE - small) + _HALF_PI_REST
    return outer.choose(x.less(0.0).choose(beyond, twice), inner)


def atan(target: InstructionSet, x: Lanes) -> Lanes:
    """Return the arctangent; ±π/2 of infinity."""
    size = absolute(x)
    outer = size.greater(1.0)
    small = _odd(outer.choose(1.0 / size, size), _ATAN)
    result = outer.choose((_HALF_PI_SINGLE - small) + _HALF_PI_REST, small)
    return with_sign_of(x, result)


def sinh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return (e^x - e^-x) / 2."""
    size = absolute(x)
    half = half_exp(target, size)
    result = size.less(1.0).choose(_odd(size, _SINH), half - 0.25 / half)
    return with_sign_of(x, result)


def cosh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return (e^x + e^-x) / 2."""
    half = half_exp(target, absolute(x))
    return half + 0.25 / half


def _odd(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """Return x + x³·Σ coefficients[i]·x²ⁱ."""
    square = x * x
    return polynomial(square, coefficients) * (square * x) + x


def _wave(x: Lanes, quarters: int) -> Lanes:
    """Return the sine of x plus so many quarters of a turn."""
    turn, r = _reduced(x)
    turn = turn + quarters if quarters else turn
    size = (turn & 1).equal(0).choose(_odd(r, _SIN), _even(r))
    return (size.bits("i32") ^ ((turn & 2) << 30)).bits("f32")


def _slope(x: Lanes) -> Lanes:
    turn, r = _reduced(x)
    sine, cosine = _odd(r, _SIN), _even(r)
    upright = (turn & 1).equal(0)
    size = upright.choose(sine, cosine) / upright.choose(cosine, sine)
    return (size.bits("i32") ^ (turn << 31)).bits("f32")


def _even(r: Lanes) -> Lanes:
    square = r * r
    return polynomial(square, _COS) * (square * square) + (square * -0.5 + 1.0)


def _reduced(x: Lanes) -> tuple[Lanes, Lanes]:
    """Return n as i32 and r of x = n·π/2 + r."""
    wide = cast(x, "f64")
    shifted = wide * (2 / math.pi) + _SHIFT
    n = shifted - _SHIFT
    r = wide - n * _HALF_PI_HIGH - n * _HALF_PI_LOW
    return cast(shifted.bits("i64"), "i32"), cast(r, "f32")


def _unless_far(function: str, x: Lanes, near: Callable[[], Lanes]) -> Lanes:
    """Return `near()`, or the system's function if the number in some lane is large."""
    builder = x.builder
    far = absolute(x).greater(_FAR).any_lane()
    with builder.if_else(far.value, likely=False) as (then, otherwise):
        with then:
            system = each_lane(function, x)
            system_block = builder.block
        with otherwise:
            computed = near()
            computed_block = builder.block
    result = builder.phi(x.value.type)
    result.add_incoming(system.value, system_block)
    result.add_incoming(computed.value, computed_block)
    return x.of(result)
