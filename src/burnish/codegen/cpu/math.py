"""The functions that are too long to write out in every kernel: which code each one has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from burnish.codegen.cpu import halves, math_exp, math_log, math_power, math_system, math_trig
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.target import Target
from burnish.codegen.cpu.types import INTEGERS

Body = Callable[..., Lanes]
"""Given the target and the arguments, the result."""

SINGLE: Mapping[str, Body] = MappingProxyType(
    {
        "exp": math_exp.exp,
        "sigmoid": math_exp.sigmoid,
        "tanh": math_exp.tanh,
        "erf": math_exp.erf,
        "log": math_log.log,
        "asinh": math_log.asinh,
        "acosh": math_log.acosh,
        "atanh": math_log.atanh,
        "sin": math_trig.sin,
        "cos": math_trig.cos,
        "tan": math_trig.tan,
        "asin": math_trig.asin,
        "acos": math_trig.acos,
        "atan": math_trig.atan,
        "sinh": math_trig.sinh,
        "cosh": math_trig.cosh,
        "power": math_power.power,
        "modulo": math_system.modulo,
        "fmod": math_system.fmod,
        "narrow_f16": halves.narrow_f16,
        "narrow_bf16": halves.narrow_bf16,
    }
)
"""For f32."""

_OWN_DOUBLE: Mapping[str, Body] = MappingProxyType(
    {"sigmoid": math_system.sigmoid, "modulo": math_system.modulo, "fmod": math_system.fmod}
)


def body(function: str, dtype: str) -> Body:
    """Return the code of a function for arguments of this element type."""
    if dtype == "f32":
        return SINGLE[function]
    if dtype in INTEGERS:
        return {"power": math_power.integer_power}[function]
    if dtype != "f64":
        return {"widen": halves.widen}[function]
    return _OWN_DOUBLE.get(function) or partial(_system, function)


def _system(function: str, target: Target, *arguments: Lanes) -> Lanes:
    return math_system.each_lane(function, *arguments)
