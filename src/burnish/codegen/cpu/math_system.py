"""Functions of the system's mathematical library, called lane by lane: f64, and rare cases of f32.

They are as accurate as that library, and take 5 to 14 ns per element where vector code takes 0.3.
"""

from __future__ import annotations

from llvmlite import ir

from burnish.codegen.cpu.lanes import Lanes, declared, joined
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import register_type

_C_NAMES = {
    "exp": "exp", "log": "log", "erf": "erf", "tanh": "tanh", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "power": "pow", "fmod": "fmod",
}  # fmt: skip

SYSTEM_FUNCTIONS = tuple(name + suffix for name in _C_NAMES.values() for suffix in ("", "f"))
"""The symbols that must be in the process."""


def each_lane(function: str, *arguments: Lanes) -> Lanes:
    """Return the system's function of each lane, by a call that is kept out of line."""
    first = arguments[0]
    symbol = _C_NAMES[function] + ("f" if first.dtype == "f32" else "")
    name = f"burnish_{symbol}_{first.width}"
    if name not in first.builder.module.globals:
        _define(name, symbol, arguments)
    return first.calling(name, *arguments[1:])


def sigmoid(target: InstructionSet, x: Lanes) -> Lanes:
    """Return 1 / (1 + e^-x) in f64."""
    return 1.0 / (each_lane("exp", -x) + 1.0)


def fmod(target: InstructionSet, a: Lanes, b: Lanes) -> Lanes:
    """Return the remainder with the sign of the dividend, exactly."""
    return each_lane("fmod", a, b)


def modulo(target: InstructionSet, a: Lanes, b: Lanes) -> Lanes:
    """Return the remainder with the sign of the divisor; a zero has it too."""
    rest = each_lane("fmod", a, b)
    crossed = rest.less(0.0).differs(b.less(0.0))
    whole = rest.like(0.0).intrinsic("llvm.copysign", b)
    return rest.equal(0.0).choose(whole, crossed.choose(rest + b, rest))


def _define(name: str, symbol: str, arguments: tuple[Lanes, ...]) -> None:
    module = arguments[0].builder.module
    dtype, width = arguments[0].dtype, arguments[0].width
    scalar, vector = register_type(dtype), register_type(dtype, width)
    called = declared(module, symbol, scalar, [scalar] * len(arguments))
    function = declared(module, name, vector, [vector] * len(arguments))
    function.linkage = "internal"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block())
    inner = [Lanes(builder, argument, dtype) for argument in function.args]
    results = [
        Lanes(builder, builder.call(called, [each.lane(position).value for each in inner]), dtype)
        for position in range(width)
    ]
    builder.ret(joined(results).value)
