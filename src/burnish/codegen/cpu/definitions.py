"""Definitions of what kernels call of `intrinsics`, made for one target when a kernel is compiled.

LLVM inlines them and drops what is left.
"""

from __future__ import annotations

from functools import lru_cache

from llvmlite import ir

from burnish.codegen.cpu import math
from burnish.codegen.cpu.intrinsics import PREFIX, RESULTS
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.target import Target
from burnish.codegen.cpu.types import register_type

_ARGUMENTS = {"power": 2, "modulo": 2, "fmod": 2}
"""How many, where it is not one."""


@lru_cache(maxsize=1000)
def definition(name: str, target: Target) -> str:
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
    builder.ret(math.body(function, dtype)(target, *arguments).value)
    return str(module)
