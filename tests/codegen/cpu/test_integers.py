"""Integer division, remainders, powers and shifts: right for every value, and none traps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import INTEGERS, SIGNED
from burnish.core.array_types import array_type
from burnish.tile.expr import Argument, Constant, call
from codegen.cpu.element_kernels import TARGETS, apply, evaluate, meant, on_each_target, widths

DIVISIONS = ("divide", "modulo", "fmod")


def edges(dtype: str) -> np.ndarray:
    limits = np.iinfo(array_type(dtype))
    near = {limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2}
    small = {number for number in range(-9, 10) if limits.min <= number}
    return np.array(sorted(near | small | {31, 32, 63, 64, 100}), array_type(dtype))


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(edges(dtype), edges(dtype))
    return a.ravel(), b.ravel()


def divided(function: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the result in Python's integers, wrapped; by zero it is zero."""

    def one(x: int, y: int) -> int:
        if y == 0:
            return 0
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return {"divide": quotient, "fmod": x - quotient * y, "modulo": x % y}[function]

    whole = [one(int(x), int(y)) % 2 ** (8 * a.itemsize) for x, y in zip(a, b, strict=True)]
    return np.array(whole, f"u{a.itemsize}").astype(a.dtype)


@on_each_target
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("function", DIVISIONS)
def test_division_is_exact_at_the_edges(function: str, dtype: str, target: InstructionSet) -> None:
    a, b = pairs(dtype)
    for width in widths(target):
        found = apply(function, a, b, target=target, width=width)
        np.testing.assert_array_equal(found, divided(function, a, b))


@on_each_target
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("divisor", [-1, 0, 1, 3, -7, 100])
def test_division_by_a_constant_is_exact(divisor: int, dtype: str, target: InstructionSet) -> None:
    if divisor < 0 and dtype not in SIGNED:
        divisor = -divisor
    a = edges(dtype)
    for function in DIVISIONS:
        expr = call(function, Argument(0, dtype), Constant(divisor, dtype))
        found = evaluate(expr, [a], target)
        expected = divided(function, a, np.full_like(a, divisor))
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), dtype=st.sampled_from(INTEGERS), target=st.sampled_from(TARGETS))
def test_random_numbers_divide_exactly(
    data: st.DataObject, dtype: str, target: InstructionSet
) -> None:
    limits = np.iinfo(array_type(dtype))
    number = st.integers(int(limits.min), int(limits.max))
    rows = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=30))
    a, b = (np.array(column, array_type(dtype)) for column in zip(*rows, strict=True))
    for function in DIVISIONS:
        found = apply(function, a, b, target=target)
        np.testing.assert_array_equal(found, divided(function, a, b))


@on_each_target
@pytest.mark.parametrize("dtype", INTEGERS)
def test_reciprocal_is_the_quotient_of_one(dtype: str, target: InstructionSet) -> None:
    a = edges(dtype)
    expected = divided("divide", np.ones_like(a), a)
    np.testing.assert_array_equal(apply("reciprocal", a, target=target), expected)


@on_each_target
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("function", ["shift_left", "shift_right"])
def test_shifts_beyond_the_width_are_those_of_numpy(
    function: str, dtype: str, target: InstructionSet
) -> None:
    a, b = pairs(dtype)
    found = apply(function, a, b, target=target)
    np.testing.assert_array_equal(found, meant(function, a, b))


@on_each_target
@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap_and_negative_ones_are_those_of_onnx_runtime(
    dtype: str, target: InstructionSet
) -> None:
    a, b = pairs(dtype)
    least = int(np.iinfo(a.dtype).min)

    def one(base: int, exponent: int) -> int:
        if exponent >= 0:
            return pow(base, exponent, 2 ** (8 * a.itemsize))
        parity = base if exponent % 2 else 1
        return {0: least, 1: 1, -1: parity}.get(base, 0) % 2 ** (8 * a.itemsize)

    whole = [one(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    expected = np.array(whole, f"u{a.itemsize}").astype(a.dtype)
    for width in widths(target):
        found = apply("power", a, b, target=target, width=width)
        np.testing.assert_array_equal(found, expected)
