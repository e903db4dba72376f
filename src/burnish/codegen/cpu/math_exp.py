"""exp and what is made of it, for f32: no branch, no table, no call.

The argument is x = n·ln 2 + r (n an integer, ln 2 in two parts, so that x - n·ln 2 is exact), then
e^x = 2^n · p(r). The polynomials are minimax fits of the relative error, by Lawson's iteration on
4,000 Chebyshev points, the coefficients rounded to f32 one after the other, lowest power first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir

from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.target import InstructionSet

_LN2_HIGH = 0.693145751953125
"""15 bits: its product with any n of an exponent is exact."""
_LN2_LOW = math.log(2) - _LN2_HIGH
_LOG2_E = 1 / math.log(2)

_LOWEST = -126 * math.log(2)
"""Below, e^x is subnormal in f32."""

_SHIFT = 1.5 * 2**23
"""Added to a small float it leaves the nearest integer in the low bits."""

_EXP_NARROW = (0.4999999403953552, 0.1666652113199234, 0.041668254882097244,
               0.008368661627173424, 0.001382145332172513)  # fmt: skip
"""(e^r - 1 - r) / r² for |r| ≤ ln 2 / 2: error of e^r 3.1e-9."""

_EXP_WIDE = (0.5000003576278687, 0.166666179895401, 0.041661228984594345, 0.008335930295288563,
             0.0014104759320616722, 0.00019630668975878507)  # fmt: skip
"""The same for |r| ≤ ln 2: error of e^r 1.4e-8."""

_EXPM1 = (0.4999999701976776, 0.1666654646396637, 0.04166744276881218,
          0.008366253226995468, 0.0013869948452338576)  # fmt: skip
"""The same for |r| ≤ ln 2 / 2, fitted to e^r - 1: error 1.4e-8 of that."""

_EXP2M1 = (0.6931471824645996, 0.24022649228572845, 0.05550367385149002,
           0.009618311189115047, 0.0013387376675382257, 0.00015382232959382236)  # fmt: skip
"""(2^r - 1) / r for |r| ≤ 1/2: error 1.3e-8 of 2^r - 1."""

_ERF_EXPONENT = (-1.6279070377349854, -0.9184446930885315, -0.14832156896591187,
                 0.02785220928490162, -0.00026511139003559947, -0.0018281667726114392,
                 0.0005573535454459488, -5.975379463052377e-05)  # fmt: skip
"""S in erf(x) = 1 - 2^(x·S(x)), 0 ≤ x ≤ 3.93: error of erf 3.7e-8."""

_SCALEF = {16: ("512", 16), 8: ("256", 8), 4: ("128", 8)}
"""Lanes of AVX-512's `scalef` → suffix of its intrinsic, bits of its mask."""


def polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """Return Σ coefficients[i]·xⁱ by Horner's rule."""
    result = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def exp(target: InstructionSet, x: Lanes) -> Lanes:
    """Return e^x, with infinity above 88.72, and zero where it is less than any normal number.

    Subnormal results would be exact to no more than 1.2e-38, and whatever computes with them takes
    a hundred times as long: softmax with a mask of -100 is full of them.
    """
    return x.less(_LOWEST).choose(0.0, _exp_times(target, x, 1.0))


def half_exp(target: InstructionSet, x: Lanes) -> Lanes:
    """Return e^x / 2, finite wherever it is representable."""
    return _exp_times(target, x, 0.5)


def _exp_times(target: InstructionSet, x: Lanes, factor: float) -> Lanes:
    """Return e^x times a power of two that is 1 or less."""
    x = x.at_least(-105.0).at_most(90.0)
    if target.name == "avx512" and x.width in _SCALEF:
        _, n, r = _reduced(x, 1, 0)
        n = n + math.log2(factor) if factor != 1 else n
        return _scalef(_one_plus(r, _EXP_NARROW), n)
    # from subnormals to infinity 2^n takes two factors; equal ones cost an r twice as wide
    shifted, _, r = _reduced(x, 2, 127)
    scale = (shifted.bits("i32") << 23).bits("f32")
    return _one_plus(r, _EXP_WIDE) * scale * (scale * factor if factor != 1 else scale)


def sigmoid(target: InstructionSet, x: Lanes) -> Lanes:
    """Return 1 / (1 + e^-x); zero where e^-x is infinite."""
    x = (-x).at_least(-87.0).at_most(89.0)
    if target.name == "avx512" and x.width in _SCALEF:
        _, n, r = _reduced(x, 1, 0)
        return 1.0 / (_scalef(_one_plus(r, _EXP_NARROW), n) + 1.0)
    shifted, _, r = _reduced(x, 1, 127)
    scale = (shifted.bits("i32") << 23).bits("f32")
    return 1.0 / (_one_plus(r, _EXP_NARROW) * scale + 1.0)


def tanh(target: InstructionSet, x: Lanes) -> Lanes:
    """Return t / (t + 2) of t = e^(2|x|) - 1, with the sign of x; never beyond ±1."""
    # at 9.02 it rounds to one
    t = expm1(absolute(x).at_most(9.02) * 2.0)
    return with_sign_of(x, t / (t + 2.0))


def erf(target: InstructionSet, x: Lanes) -> Lanes:
    """Return 1 - 2^(|x|·S(|x|)), with the sign of x; never beyond ±1."""
    # at 3.93 it rounds to one
    size = absolute(x).at_most(3.93)
    return with_sign_of(x, exp2m1(size * polynomial(size, _ERF_EXPONENT)))


def exp2m1(x: Lanes) -> Lanes:
    """Return 2^x - 1, small results as precise as large ones, for |x| ≤ 126."""
    shifted = x + (_SHIFT + 127)
    r = x - (shifted - (_SHIFT + 127))
    scale = (shifted.bits("i32") << 23).bits("f32")
    return scale * (r * polynomial(r, _EXP2M1)) + (scale - 1.0)


def expm1(x: Lanes) -> Lanes:
    """Return e^x - 1, small results as precise as large ones, for -87 ≤ x ≤ 88."""
    shifted, _, r = _reduced(x, 1, 127)
    scale = (shifted.bits("i32") << 23).bits("f32")
    return scale * (r * r * polynomial(r, _EXPM1) + r) + (scale - 1.0)


def absolute(x: Lanes) -> Lanes:
    """Return a float without its sign."""
    return x.intrinsic("llvm.fabs")


def with_sign_of(x: Lanes, size: Lanes) -> Lanes:
    """Return a float with the sign of another one."""
    return size.intrinsic("llvm.copysign", x)


def _reduced(x: Lanes, step: int, bias: int) -> tuple[Lanes, Lanes, Lanes]:
    """Return n + bias in the low bits of a float, n, and r, where x = n·step·ln 2 + r."""
    shifted = x * (_LOG2_E / step) + (_SHIFT + bias)
    n = shifted - (_SHIFT + bias)
    return shifted, n, x - n * (step * _LN2_HIGH) - n * (step * _LN2_LOW)


def _one_plus(r: Lanes, coefficients: Sequence[float]) -> Lanes:
    return (polynomial(r, coefficients) * r + 1.0) * r + 1.0


def _scalef(x: Lanes, n: Lanes) -> Lanes:
    suffix, mask_bits = _SCALEF[x.width]
    mask = Lanes(x.builder, ir.Constant(ir.IntType(mask_bits), -1), "i8")
    arguments = [n, x, mask]
    if x.width == 16:
        arguments.append(Lanes(x.builder, ir.Constant(ir.IntType(32), 4), "i32"))
    return x.calling(f"llvm.x86.avx512.mask.scalef.ps.{suffix}", *arguments)
