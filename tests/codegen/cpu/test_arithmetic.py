"""The short functions mean what NumPy means, for each element type that has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.expression import EMITTERS
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import ELEMENT_TYPES, FLOATS, HALVES, INTEGERS
from burnish.core.array_types import array_type
from burnish.tile.expr import Argument, Constant, call
from burnish.tile.functions import FUNCTIONS
from codegen.cpu.element_kernels import (
    TARGETS,
    apply,
    assert_equal,
    evaluate,
    meant,
    on_each_target,
    widths,
)

SHORT = (
    "add", "subtract", "multiply", "minimum", "maximum", "negative", "absolute", "sign", "sqrt",
    "floor", "ceil", "round", "truncate", "is_nan", "is_infinite", "equal", "less", "less_equal",
    "and", "or", "xor", "not", "bit_and", "bit_or", "bit_xor", "bit_not",
)  # fmt: skip
FLOAT_EDGES = [
    0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1.0, -1.0, 0.3, -7.7, 8388609.0, 1e30, -1e30, 1e-40,
    math.inf, -math.inf, math.nan,
]  # fmt: skip

cases = pytest.mark.parametrize(
    ("function", "dtype"),
    [(name, dtype) for name in SHORT for dtype in EMITTERS[name].dtypes],
)


def edges(dtype: str) -> np.ndarray:
    kind = array_type(dtype)
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGERS:
        limits = np.iinfo(kind)
        return np.array([limits.min, limits.min + 1, 0, 1, 2, 7, 100, limits.max], kind)
    with np.errstate(all="ignore"):
        return np.array(FLOAT_EDGES).astype(kind)


def reference(function: str, dtype: str, arrays: list[np.ndarray]) -> np.ndarray:
    """Return NumPy's meaning; 16-bit floats are computed in f32 and rounded."""
    if function == "round" and dtype in INTEGERS:
        return arrays[0]  # NumPy goes through f64, which cannot hold all of them
    if dtype not in HALVES:
        return meant(function, *arrays)
    result = meant(function, *(each.astype(np.float32) for each in arrays))
    with np.errstate(all="ignore"):
        return result if result.dtype == np.bool_ else result.astype(array_type(dtype))


@on_each_target
@cases
def test_edges_are_those_of_numpy(function: str, dtype: str, target: InstructionSet) -> None:
    grid = np.meshgrid(*[edges(dtype)] * FUNCTIONS[function].arity)
    arrays = [np.ascontiguousarray(each.ravel()) for each in grid]
    expected = reference(function, dtype, arrays)
    for width in widths(target):
        found = apply(function, *arrays, target=target, width=width)
        assert_equal(found, expected)


@on_each_target
@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES])
def test_quotients_are_correctly_rounded(dtype: str, target: InstructionSet) -> None:
    a, b = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(edges(dtype), edges(dtype)))
    found = apply("divide", a, b, target=target)
    assert_equal(found, reference("divide", dtype, [a, b]))
    found = apply("reciprocal", a, target=target)
    assert_equal(found, reference("reciprocal", dtype, [a]))


@on_each_target
@pytest.mark.parametrize("function", ["minimum", "maximum"])
@pytest.mark.parametrize("bound", [0.0, -1.5, math.inf, math.nan])
def test_bounds_by_a_constant_keep_nan(function: str, bound: float, target: InstructionSet) -> None:
    x = edges("f32")
    expected = meant(function, x, np.float32(bound))
    argument, constant = Argument(0, "f32"), Constant(bound, "f32")
    for order in ((argument, constant), (constant, argument)):
        np.testing.assert_array_equal(evaluate(call(function, *order), [x], target), expected)


@on_each_target
@pytest.mark.parametrize("condition", ELEMENT_TYPES)
def test_where_takes_what_is_not_zero(condition: str, target: InstructionSet) -> None:
    for dtype in ELEMENT_TYPES:
        chosen = np.resize(edges(condition), 36)
        yes, no = np.resize(edges(dtype), 36), np.resize(edges(dtype)[::-1], 36)
        found = apply("where", chosen, yes, no, target=target)
        assert_equal(found, np.where(chosen.astype(bool), yes, no))


@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    case=st.sampled_from([(name, dtype) for name in SHORT for dtype in EMITTERS[name].dtypes]),
    target=st.sampled_from(TARGETS),
)
def test_random_numbers_are_those_of_numpy(
    data: st.DataObject, case: tuple[str, str], target: InstructionSet
) -> None:
    function, dtype = case
    kind = array_type(dtype)
    size = data.draw(st.integers(1, 40))
    seed = data.draw(st.integers(0, 2**32 - 1))
    raw = np.random.default_rng(seed).bytes(size * kind.itemsize * FUNCTIONS[function].arity)
    bits = np.frombuffer(raw, np.uint8) & (1 if dtype == "bool" else 255)
    arrays = list(bits.view(kind).reshape(FUNCTIONS[function].arity, size))
    found = apply(function, *arrays, target=target)
    assert_equal(found, reference(function, dtype, arrays))
