"""Powers: of f32 through f64, of integers by repeated squaring."""

from __future__ import annotations

import math

from burnish.codegen.cpu.casts import cast
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.math_exp import absolute, polynomial
from burnish.codegen.cpu.math_log import split
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import SIGNED, size_in_bytes

_SHIFT = 1.5 * 2**52

_LOG2 = (2.88539008177785, 0.9617966941131858, 0.5770779424050194, 0.4122092486725564,
         0.3199058436713203, 0.2828980981703687)  # fmt: skip
"""log2((1 + s) / (1 - s)) / s in s², for values between √½ and √2: error 2.7e-14."""
_EXP2 = (0.9999999999616814, 0.6931471807284499, 0.24022651198162143, 0.05550410353440817,
         0.009618027253064865, 0.0013333922567939013, 0.00015469291336845766,
         1.520192090332922e-05)  # fmt: skip
"""2^f, |f| ≤ 1/2: error 4.0e-11."""


def power(target: InstructionSet, a: Lanes, b: Lanes) -> Lanes:
    """Return a to the power of b in f32, with C's answers for zeros, infinities and NaN."""
    size = absolute(a)
    result = _power_of_positive(size, b)
    whole = b.intrinsic("llvm.trunc").equal(b)
    halved = b * 0.5
    odd = whole & halved.intrinsic("llvm.trunc").differs(halved)
    negative = a.bits("i32").less(0)
    result = (negative & odd).choose(-result, result)
    undefined = a.less(0.0) & size.less(math.inf) & ~whole
    result = undefined.choose(math.nan, result)
    return (a.equal(1.0) | b.equal(0.0)).choose(1.0, result)


def _power_of_positive(size: Lanes, b: Lanes) -> Lanes:
    exponent, f = split(size)
    f_wide = cast(f, "f64")
    s = f_wide / (f_wide + 2.0)
    logarithm = cast(exponent, "f64") + s * polynomial(s * s, _LOG2)
    logarithm = size.equal(0.0).choose(-math.inf, logarithm)
    logarithm = size.less(math.inf).choose(logarithm, cast(size, "f64"))
    product = cast(b, "f64") * logarithm
    # one to an infinite power is one, not NaN
    endless = size.equal(1.0) & absolute(b).equal(math.inf)
    product = endless.choose(0.0, product).at_least(-200.0).at_most(200.0)
    shifted = product + _SHIFT
    scale = ((shifted.bits("i64") + 1023) << 52).bits("f64")
    return cast(polynomial(product - (shifted - _SHIFT), _EXP2) * scale, "f32")


def integer_power(target: InstructionSet, a: Lanes, b: Lanes) -> Lanes:
    """Return a to the power of b, modulo 2^bits.

    A negative power is zero but for the bases 1, -1, and 0, which gives the least integer, as in
    ONNX Runtime.
    """
    result = _by_squaring(a, b)
    if a.dtype not in SIGNED:
        return result
    least = -(2 ** (8 * size_in_bytes(a.dtype) - 1))
    parity = (b & 1).equal(0).choose(1, a)
    is_unit = a.equal(1) | a.equal(-1)
    inverse = a.equal(0).choose(least, is_unit.choose(parity, 0))
    return b.less(0).choose(inverse, result)


def _by_squaring(a: Lanes, b: Lanes) -> Lanes:
    builder = a.builder
    before = builder.block
    loop, after = builder.append_basic_block("square"), builder.append_basic_block("squared")
    unsigned = b.of(b.value, "u" + b.dtype[1:])
    builder.branch(loop)
    builder.position_at_end(loop)
    phis = [builder.phi(a.value.type) for _ in range(3)]
    result, base, rest = a.of(phis[0]), a.of(phis[1]), unsigned.of(phis[2])
    following = (
        (rest & 1).equal(0).choose(result, result * base),
        base * base,
        rest >> 1,
    )
    for phi, start, then in zip(phis, (a.like(1), a, unsigned), following, strict=True):
        phi.add_incoming(start.value, before)
        phi.add_incoming(then.value, loop)
    remaining = following[2].differs(0).any_lane()
    builder.cbranch(remaining.value, loop, after)
    builder.position_at_end(after)
    return following[0]
