"""Functions that kernels call by name: how they are called, and what the name says.

A kernel calls `burnish.<function>.<element type>.<lanes>` and so does not know its target; the
definition, which `definitions` makes when a kernel is compiled, does.
"""

from __future__ import annotations

from burnish.codegen.cpu.lanes import Lanes

PREFIX = "burnish."

RESULTS = {"widen": "f32", "narrow_f16": "f16", "narrow_bf16": "bf16"}
"""The element type that comes out, where it is not that of the arguments."""

NEEDS = {
    "dot4_vnni": "avx512vnni", "dot4_sdot": "dotprod", "dot4_usdot": "i8mm",
    "dot2_bf16": "avx512bf16",
}  # fmt: skip
"""What LLVM calls the instructions that an intrinsic needs besides those of its target."""


def needed(ir_text: str) -> tuple[str, ...]:
    """Return the instructions that a kernel needs besides those of its target."""
    return tuple(name for function, name in NEEDS.items() if f"{PREFIX}{function}." in ir_text)


def call(function: str, *arguments: Lanes) -> Lanes:
    """Return the result of an intrinsic."""
    first = arguments[0]
    name = f"{PREFIX}{function}.{first.dtype}.{first.width}"
    return first.calling(name, *arguments[1:], dtype=RESULTS.get(function))


def widened(x: Lanes) -> Lanes:
    """Return a 16-bit float as f32."""
    return call("widen", x)


def narrowed(x: Lanes, dtype: str) -> Lanes:
    """Return an f32 as a 16-bit float."""
    return call(f"narrow_{dtype}", x)
