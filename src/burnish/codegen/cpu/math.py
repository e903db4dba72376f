"""The functions that are too long to write out in every kernel: which code each one has.

Those of f32 are vector code of our own; those of f64 are the system's, lane by lane. Greatest
distance from the exact result in units in the last place, over every 61st of all f32 numbers
(powers: 200,000 pairs); without FMA is the target `portable`:

=========  ====  ===========      =========  ====  ===========
function   FMA   without FMA      function   FMA   without FMA
=========  ====  ===========      =========  ====  ===========
exp        1.54  1.79             acos       1.24  1.24
sigmoid    2.41  2.41             atan       1.32  1.40
tanh       2.36  2.46             sinh       2.39  3.16
erf        3.08  2.92             cosh       1.69  1.86
log        0.82  0.85             asinh      1.96  1.96
sin        1.55  1.54             acosh      2.24  2.24
cos        1.54  1.58             atanh      2.34  2.34
tan        3.42  3.68             power      0.51  0.51
asin       1.91  1.94             exp with AVX-512: 0.88
=========  ====  ===========      =========  ====  ===========

sigmoid is zero below -88.73 (-88.38 without AVX-512), where e^-x is infinite in f32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType

from llvmlite import ir

from burnish.codegen.cpu import dots, halves, math_exp, math_log, math_power, math_system, math_trig
from burnish.codegen.cpu.intrinsics import PREFIX, RESULTS
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import INTEGERS, register_type

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
        "dot2": dots.by_parts,
        "dot2_bf16": dots.by_twos,
    }
)
"""For f32."""

_OWN_DOUBLE: Mapping[str, Body] = MappingProxyType(
    {"sigmoid": math_system.sigmoid, "modulo": math_system.modulo, "fmod": math_system.fmod}
)

_INTEGER: Mapping[str, Body] = MappingProxyType(
    {
        "power": math_power.integer_power,
        "dot4": dots.by_pairs,
        "dot4_vnni": dots.by_fours,
        "dot4_sdot": dots.by_signed_fours,
        "dot4_usdot": dots.by_fours_of_arm,
    }
)


def body(function: str, dtype: str) -> Body:
    """Return the code of a function for arguments of this element type."""
    if dtype == "f32":
        return SINGLE[function]
    if dtype in INTEGERS:
        return _INTEGER[function]
    if dtype != "f64":
        return {"widen": halves.widen}[function]
    return _OWN_DOUBLE.get(function) or partial(_system, function)


def _system(function: str, target: InstructionSet, *arguments: Lanes) -> Lanes:
    return math_system.each_lane(function, *arguments)


_ARGUMENTS = {
    "power": 2, "modulo": 2, "fmod": 2, "dot4": 3, "dot4_vnni": 3,
    "dot4_sdot": 3, "dot4_usdot": 3,
    "dot2": 3, "dot2_bf16": 3,
}  # fmt: skip
"""How many, where it is not one."""


@lru_cache(maxsize=1000)
def definition(name: str, target: InstructionSet) -> str:
    """Return a module with the function of this full name, as LLVM IR text."""
    function, dtype, lanes = name.removeprefix(PREFIX).split(".")
    width = int(lanes)
    kind = register_type(dtype, width)
    result = register_type(RESULTS.get(function, dtype), width)
    module = ir.Module(name=name)
    signature = ir.FunctionType(result, [kind] * _ARGUMENTS.get(function, 1))
    defined = ir.Function(module, signature, name)
    defined.linkage = "linkonce_odr"
    defined.attributes.add("alwaysinline")
    builder = ir.IRBuilder(defined.append_basic_block())
    arguments = [Lanes(builder, argument, dtype) for argument in defined.args]
    builder.ret(body(function, dtype)(target, *arguments).value)
    return str(module)
