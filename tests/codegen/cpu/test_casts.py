"""Casts between all element types give what NumPy gives, out of range too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import ELEMENT_TYPES, FLOATS, HALVES, INTEGERS
from burnish.core.array_types import array_type
from burnish.tile.expr import Argument, Call, Constant
from burnish.tile.group import Group
from burnish.tile.parse import parse
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel
from codegen.cpu.element_kernels import TARGETS, assert_equal, evaluate, on_each_target, widths

REALS = (*FLOATS, *HALVES)
NUMBERS = [
    0.0, -0.0, 0.4, -0.9, 1.5, 2.5, -2.5, 100.7, 127.9, 128.0, 200.0, 255.9, 256.0, 300.0, -1.0,
    -129.0, 32767.5, 40000.0, 65504.0, 65519.9, 65520.0, 70000.0, -70000.0, 2147483520.0, 2.0**31,
    -(2.0**31), 3e9, 2.0**32, 5e9, -3e9, 2.0**53 + 2, 2.0**62, -(2.0**63), 1e-8, 5.97e-8, 6.1e-5,
    1.17e-38, 1e-45, 3.4e38, math.inf, -math.inf, math.nan,
]  # fmt: skip


def values(dtype: str) -> np.ndarray:
    kind = array_type(dtype)
    if dtype == "bool":
        return np.array([True, False, True])
    if dtype in INTEGERS:
        limits = np.iinfo(kind)
        edges = [limits.min, limits.min + 1, limits.max - 1, limits.max]
        return np.array([*edges, 0, 1, 2, 3, 100, limits.max // 3, limits.max // 2], kind)
    with np.errstate(all="ignore"):
        return np.array(NUMBERS).astype(kind)


def wanted(x: np.ndarray, source: str, dtype: str) -> np.ndarray:
    """Return NumPy's cast, 16-bit floats through f32."""
    with np.errstate(all="ignore"):
        if source in HALVES or dtype in HALVES:
            x = x if dtype == "bool" else x.astype(np.float32)
        return x.astype(array_type(dtype))


def cast(x: np.ndarray, source: str, dtype: str, target: InstructionSet, width: int) -> np.ndarray:
    return evaluate(Call("cast", (Argument(0, source),), dtype), [x], target, width)


@on_each_target
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("source", ELEMENT_TYPES)
def test_every_cast_is_that_of_numpy(source: str, dtype: str, target: InstructionSet) -> None:
    x = values(source)
    if dtype in ("u32", "u64") and source in REALS:
        # of the rest C says nothing, and NumPy one thing in a loop's body and another at its end
        x = x[(x.astype(np.float64) > -1) & (x.astype(np.float64) < 2.0 ** int(dtype[1:]))]
    for width in widths(target):
        found = cast(x, source, dtype, target, width)
        assert_equal(found, wanted(x, source, dtype))


@on_each_target
def test_all_16_bit_floats_become_f32_and_come_back(target: InstructionSet) -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    for dtype in HALVES:
        x = bits.view(array_type(dtype))
        wide = cast(x, dtype, "f32", target, target.lanes)
        np.testing.assert_array_equal(wide, x.astype(np.float32))
        back = cast(wide, "f32", dtype, target, target.lanes)
        np.testing.assert_array_equal(back.astype(np.float32), wide)
        assert np.array_equal(np.signbit(wide[wide == 0]), np.signbit(x[wide == 0]))


@on_each_target
def test_rounding_to_16_bits_takes_the_even_neighbour(target: InstructionSet) -> None:
    bits = np.arange(0, 2**32, 65521, dtype=np.uint64).astype(np.uint32)
    ties = (np.arange(2**16, dtype=np.uint32) << 16) | 0x8000
    f16_ties = (np.arange(2**16, dtype=np.uint32) << 13) + (0x38800000 | 0x1000)
    x = np.concatenate([bits, ties, f16_ties]).view(np.float32)
    for dtype in HALVES:
        found = cast(x, "f32", dtype, target, target.lanes)
        assert_equal(found, wanted(x, "f32", dtype))


@settings(max_examples=100, deadline=None)
@given(
    x=st.lists(st.floats(-(2.0**31), 2.0**31 - 256, width=32), min_size=1, max_size=40),
    dtype=st.sampled_from(("i8", "i16", "i32", "i64", "u8", "u16", "bool", "f64", "f16", "bf16")),
    target=st.sampled_from(TARGETS),
)
def test_random_floats_are_cast_as_in_numpy(
    x: list[float], dtype: str, target: InstructionSet
) -> None:
    array = np.array(x, np.float32)
    found = cast(array, "f32", dtype, target, target.lanes)
    assert_equal(found, wanted(array, "f32", dtype))


@on_each_target
def test_constants_are_rounded_as_numpy_rounds_them(target: InstructionSet) -> None:
    for dtype in REALS:
        for number in (0.1, 1e39, -1e39, 65519.9, 65520.0, 1e-45, math.nan, -0.0):
            with np.errstate(all="ignore"):
                expected = np.asarray(number, array_type(dtype)).astype(np.float64)
            for width in (1, 4):
                expr = Call("cast", (Constant(number, dtype),), "f64")
                found = evaluate(expr, [np.zeros(1)], target, width)
                np.testing.assert_array_equal(found, [expected])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("size", [9, 17])
@pytest.mark.parametrize(
    ("long", "short"),
    [(a, b) for a in ("i64", "i32", "i16") for b in ("u8", "i8", "i16", "u16", "i32") if a != b],
)
def test_the_last_of_shortened_numbers_is_written_alone(
    long: str, short: str, size: int, target: InstructionSet
) -> None:
    graph = parse(f"in x: {long}[{size}]\nout y\ny: {short}[i0={size}] = {short}(x[i0])", {})
    kernel = generate(Group(graph.ops, ("y",)), Schedule((size,)), graph, target)
    numbers = -np.arange(1, size + 1).astype(array_type(long))
    written = np.full(64, 90, array_type(short))
    load_kernel(kernel, target).bound({"x": numbers, "y": written}).run()
    np.testing.assert_array_equal(written[:size], numbers.astype(array_type(short)))
    np.testing.assert_array_equal(written[size:], 90)
