"""Kernels that evaluate one expression for each element of some arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest
from llvmlite import ir

from burnish.codegen.cpu.compile import MachineCode, compile_module
from burnish.codegen.cpu.expression import emit
from burnish.codegen.cpu.target import InstructionSet, available
from burnish.codegen.cpu.types import load, memory_type, store
from burnish.core.array_types import array_type
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.expr import Argument, Expr, call
from burnish.tile.functions import FUNCTIONS

TARGETS = available()

_INDEX = ir.IntType(64)

on_each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def short(array: np.ndarray) -> str:
    """Return our name of the array's element type."""
    return next(name for name in SHORT_NAMES.values() if array_type(name) == array.dtype)


def widths(target: InstructionSet) -> tuple[int, ...]:
    """Return lanes to try: LLVM cuts wide vectors, so twice the register tries that too."""
    return (1, target.lanes) if target is TARGETS[0] else (2 * target.lanes,)


def evaluate(
    expr: Expr, arrays: Sequence[np.ndarray], target: InstructionSet, width: int | None = None
) -> np.ndarray:
    """Return the expression of the arrays' elements, computed `width` at a time."""
    width = width or target.lanes
    size = len(arrays[0])
    padded = -(-size // width) * width
    inputs = [np.resize(np.ascontiguousarray(array), padded) for array in arrays]
    result = np.empty(padded, array_type(expr.dtype))
    pointers = [each.ctypes.data for each in (*inputs, result)]
    compiled = _compiled(expr, len(arrays), target, width)
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers), ctypes.c_int64)
    signature(compiled.address("kernel"))(*pointers, padded)
    return result[:size]


def apply(
    function: str, *arrays: np.ndarray, target: InstructionSet, width: int | None = None
) -> np.ndarray:
    """Return a function of the arrays' elements."""
    arguments = [Argument(place, short(array)) for place, array in enumerate(arrays)]
    return evaluate(call(function, *arguments), arrays, target, width)


def meant(function: str, *arrays: np.ndarray) -> np.ndarray:
    """Return what NumPy says that `apply` should give."""
    with np.errstate(all="ignore"):
        result = np.asarray(FUNCTIONS[function].numpy(*arrays))
    kind = np.bool_ if FUNCTIONS[function].result == "bool" else arrays[-1].dtype
    return result.astype(kind)


def assert_equal(found: np.ndarray, expected: np.ndarray) -> None:
    """Compare; NumPy does not know that NaN of bf16 is NaN."""
    assert found.dtype == expected.dtype
    if found.dtype == array_type("bf16"):
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(found, expected)


def text(expr: Expr, arguments: int, width: int) -> str:
    """Return the kernel of an expression of so many arrays as LLVM IR."""
    pointers = [ir.PointerType()] * (arguments + 1)
    module = ir.Module()
    kernel = ir.Function(module, ir.FunctionType(ir.VoidType(), [*pointers, _INDEX]), "kernel")
    entry, loop, done = (kernel.append_basic_block(name) for name in ("entry", "loop", "done"))
    builder = ir.IRBuilder(entry)
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(_INDEX)

    def address(pointer: ir.Value, dtype: str) -> ir.Value:
        return builder.gep(pointer, [index], source_etype=memory_type(dtype))

    def leaf(part: Expr) -> ir.Value:
        assert isinstance(part, Argument)
        return load(builder, address(kernel.args[part.position], part.dtype), part.dtype, width)

    value = emit(builder, expr, width, leaf)
    store(builder, value, address(kernel.args[arguments], expr.dtype), expr.dtype)
    following = builder.add(index, _INDEX(width))
    index.add_incoming(_INDEX(0), entry)
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, kernel.args[-1]), loop, done)
    builder.position_at_end(done)
    builder.ret_void()
    return str(module)


@lru_cache(maxsize=2000)
def _compiled(expr: Expr, arguments: int, target: InstructionSet, width: int) -> MachineCode:
    return compile_module(text(expr, arguments, width), target)
