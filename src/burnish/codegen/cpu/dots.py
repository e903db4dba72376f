"""What is added to a sum for a word of products, by instruction set.

Four products of an unsigned and a signed byte give the same number everywhere: two of them fit 17
bits, and nothing here adds them in 16. Two products of bf16 are added one after the other, the
upper one first, as the instruction does; that takes numbers below 2⁻¹²⁶ for zeros, and rounds no
product, where targets without FMA round each.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from burnish.codegen.cpu.lanes import Lanes, declared
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import BFLOAT, register_type
from burnish.hw.detect import ARM, X86

_PAIRS = {
    4: "llvm.x86.sse2.pmadd.wd",
    8: "llvm.x86.avx2.pmadd.wd",
    16: "llvm.x86.avx512.pmaddw.d.512",
}
"""Sums of two products of 16-bit integers, by lanes of the result."""

_ARM_LANES = (2, 4)
"""Of half registers and whole ones: instructions of NEON have both."""

_BITS = {4: 128, 8: 256, 16: 512}
"""Of the registers that instructions for words have, by lanes."""

_LOW = 0x00FF00FF
_SIGNS = 0x80808080
"""The upper bit of each byte: -128 of a signed one, and what takes 128 from an unsigned one."""
_UPPER = 0xFFFF0000
"""The upper one of two bf16 in a word, which are the upper bits of an f32."""


def by_fours(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum with one instruction (VNNI)."""
    if total.width not in _BITS:
        return by_pairs(target, total, left, right)
    bytes_ = register_type("u8", 4 * total.width)
    quads = [each.builder.bitcast(each.value, bytes_) for each in (left, right)]
    kind, name = total.value.type, f"llvm.x86.avx512.vpdpbusd.{_BITS[total.width]}"
    function = declared(total.builder.module, name, kind, [kind, *(each.type for each in quads)])
    return total.of(total.builder.call(function, [total.value, *quads]))


def by_fours_of_arm(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum with one instruction (USDOT)."""
    if total.width not in _ARM_LANES:
        return by_pairs(target, total, left, right)
    return _dot_of_arm("usdot", total, left, right)


def by_signed_fours(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum where both bytes must be signed (SDOT): u·s = (u - 128)·s + 128·s.

    What is added last is the same for all rows of a block, and computed once for them.
    """
    if total.width not in _ARM_LANES:
        return by_pairs(target, total, left, right)
    found = _dot_of_arm("sdot", total, left ^ _SIGNS, right)
    return found - _dot_of_arm("sdot", total.like(0), left.like(_SIGNS), right)


def _dot_of_arm(name: str, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    bytes_ = register_type("u8", 4 * total.width)
    quads = [each.builder.bitcast(each.value, bytes_) for each in (left, right)]
    kind = total.value.type
    full = f"llvm.aarch64.neon.{name}.v{total.width}i32.v{4 * total.width}i8"
    function = declared(total.builder.module, full, kind, [kind, *(each.type for each in quads)])
    return total.of(total.builder.call(function, [total.value, *quads]))


def by_twos(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum of f32 with one instruction (AVX-512 BF16)."""
    if total.width not in _BITS:
        return by_parts(target, total, left, right)
    pairs = ir.VectorType(BFLOAT, 2 * total.width)
    halves = [each.builder.bitcast(each.value, pairs) for each in (left, right)]
    kind, name = total.value.type, f"llvm.x86.avx512bf16.dpbf16ps.{_BITS[total.width]}"
    function = declared(total.builder.module, name, kind, [kind, pairs, pairs])
    return total.of(total.builder.call(function, [total.value, *halves]))


def by_parts(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum of f32 by products of f32, each half of the words in turn."""
    upper = [(each.bits("u32") & _UPPER).bits("f32") for each in (left, right)]
    lower = [(each.bits("u32") << 16).bits("f32") for each in (left, right)]
    return total + upper[0] * upper[1] + lower[0] * lower[1]


def by_pairs(target: InstructionSet, total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    """Return the sum by products of 16 bits: bytes 0 and 2 of each four, then 1 and 3."""
    sums = _pair_sums_of(target, total.width)
    if sums is None:
        return _one_by_one(total, left, right)
    even = sums(left & _LOW, _halves(right << 8))
    odd = sums(left.of(left.value, "u32") >> 8 & _LOW, _halves(right))
    return total + even + odd


def _pair_sums_of(target: InstructionSet, width: int) -> Callable[[Lanes, Lanes], Lanes] | None:
    """Return what adds two products of 16 bits each; None: nothing here does so."""
    if target.family == ARM and width in _ARM_LANES:
        return _pair_sums_of_arm
    return _pair_sums if target.family == X86 and width in _PAIRS else None


def _halves(right: Lanes) -> Lanes:
    """Return the upper byte of each 16 bits with its sign, as 16 bits."""
    builder, width = right.builder, 2 * right.width
    halves = Lanes(builder, builder.bitcast(right.value, register_type("i16", width)), "i16")
    shifted = halves >> 8
    return right.of(builder.bitcast(shifted.value, right.value.type))


def _pair_sums(left: Lanes, right: Lanes) -> Lanes:
    builder, width = right.builder, right.width
    pairs = [builder.bitcast(each.value, register_type("i16", 2 * width)) for each in (left, right)]
    kinds = [each.type for each in pairs]
    function = declared(builder.module, _PAIRS[width], right.value.type, kinds)
    return right.of(builder.call(function, pairs))


def _pair_sums_of_arm(left: Lanes, right: Lanes) -> Lanes:
    """Return sums of products that 16 bits hold: those of an unsigned and a signed byte.

    Neighbours are added in 32 bits; with the addition to a sum, one instruction (SADALP).
    """
    builder, kind = right.builder, register_type("i16", 2 * right.width)
    pairs = [builder.bitcast(each.value, kind) for each in (left, right)]
    name = f"llvm.aarch64.neon.saddlp.v{right.width}i32.v{2 * right.width}i16"
    function = declared(builder.module, name, right.value.type, [kind])
    return right.of(builder.call(function, [builder.mul(*pairs)]))


def _one_by_one(total: Lanes, left: Lanes, right: Lanes) -> Lanes:
    unsigned = left.of(left.value, "u32")
    for byte in range(4):
        a = (unsigned >> 8 * byte) & 0xFF
        b = (right << 24 - 8 * byte) >> 24
        total = total + total.of(a.value) * b
    return total
