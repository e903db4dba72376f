"""Vector mathematics: within a few units in the last place, right at the edges, on each target."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.target import InstructionSet
from burnish.tile.expr import Argument, Constant, call
from burnish.tile.functions import FUNCTIONS
from codegen.cpu.element_kernels import TARGETS, apply, evaluate, meant, on_each_target

ULPS = {
    "exp": 2.0, "log": 1.0, "erf": 3.5, "sigmoid": 3.0, "tanh": 3.0, "sin": 2.0, "cos": 2.0,
    "tan": 4.0, "asin": 2.5, "acos": 1.5, "atan": 1.75, "sinh": 3.5, "cosh": 2.25, "asinh": 2.5,
    "acosh": 2.75, "atanh": 3.0,
}  # fmt: skip
"""How far from the exact result f32 may be: what `math` says was seen, and a little more."""

EDGES = np.array(
    [0.0, -0.0, 1e-45, -1e-45, 1.2e-38, -1.2e-38, 1e-20, 0.5, -0.5, 1.0, -1.0, 0.99999994,
     1.0000001, -1.0000001, 2.0, 3.93, 9.02, 87.3, 88.37, 88.7228, 88.73, 89.4, 89.5, -87.4,
     -103.9, -104.1, 1e6, 1000001.0, 1e10, 1e19, 1e20, 3.4e38, -3.4e38, math.inf,
     -math.inf, math.nan],
    np.float32,
)  # fmt: skip

SMALLEST = float(np.finfo(np.float32).smallest_normal)
_STRIDE = 20011
"""A prime: all exponents, and 200,000 of the 2^32 floats."""


@pytest.fixture(scope="module")
def every_magnitude() -> np.ndarray:
    bits = np.arange(0, 2**32, _STRIDE, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([bits.view(np.float32), EDGES])


def exact(function: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[function].numpy(x.astype(np.float64)))


def exact_in_f32(function: str, x: np.ndarray) -> np.ndarray:
    """Return the same with zero for subnormal results of exp, which are zero on purpose."""
    result = exact(function, x)
    return np.where(result < SMALLEST, 0.0, result) if function == "exp" else result


def distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return how many units in the last place f32 results are from exact ones; NaN is equal."""
    with np.errstate(all="ignore"):
        rounded = wanted.astype(np.float32)
        exponent = np.frexp(rounded.astype(np.float64))[1]
        last_place = 2.0 ** (np.maximum(exponent, -125) - 24)
        apart = np.abs(found.astype(np.float64) - wanted) / last_place
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    return np.where(same & ~np.isfinite(apart), 0.0, apart)


@on_each_target
@pytest.mark.parametrize("function", ULPS)
def test_f32_is_precise_over_all_magnitudes(
    function: str, target: InstructionSet, every_magnitude: np.ndarray
) -> None:
    x = every_magnitude
    if function == "sigmoid":
        # below, e^-x is infinite in f32 and the result zero, as FUNCTIONS says
        x = np.where(x < -88, np.float32(0.25), x)
    found, wanted = apply(function, x, target=target), exact_in_f32(function, x)
    apart = distance(found, wanted)
    worst = int(np.argmax(np.where(np.isnan(apart), math.inf, apart)))
    assert apart[worst] <= ULPS[function], f"{function}({x[worst]!r}) is not {found[worst]!r}"
    with np.errstate(over="ignore"):
        zeros = wanted.astype(np.float32) == 0
    assert np.array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))


@on_each_target
@pytest.mark.parametrize("function", ULPS)
def test_any_width_gives_nearly_the_same(function: str, target: InstructionSet) -> None:
    x = np.concatenate([EDGES, np.linspace(-3, 3, 91, dtype=np.float32)])
    wanted = exact_in_f32(function, x)
    for width in (1, 2, target.lanes // 2, 2 * target.lanes):
        apart = distance(apply(function, x, target=target, width=width), wanted)
        if function == "sigmoid":
            apart = apart[x >= -88]
        assert np.all(apart <= ULPS[function])


@on_each_target
def test_saturating_functions_never_leave_their_range(
    target: InstructionSet, every_magnitude: np.ndarray
) -> None:
    x = every_magnitude[~np.isnan(every_magnitude)]
    for function in ("erf", "tanh"):
        found = apply(function, x, target=target)
        assert np.abs(found).max() == 1
        assert np.array_equal(found[np.abs(x) > 10], np.sign(x[np.abs(x) > 10]))
    found = apply("sigmoid", x, target=target)
    assert (found.min(), found.max()) == (0, 1)


@on_each_target
@pytest.mark.parametrize("function", ULPS)
def test_f64_is_that_of_the_system(function: str, target: InstructionSet) -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(size=500) * 3, random.uniform(-1, 1, 500), EDGES])
    found, wanted = apply(function, x, target=target, width=4), exact(function, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=0)


@on_each_target
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_power_is_that_of_c(target: InstructionSet, kind: type) -> None:
    edges = np.array(
        [0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1e-45, 1e-30, 1e30, 1.5, -1.5, 16777217, 33554432,
         math.inf, -math.inf, math.nan, 1.0000001, 0.99999994],
        kind,
    )  # fmt: skip
    a, b = (each.ravel() for each in np.meshgrid(edges, edges))
    found = apply("power", a, b, target=target)
    with np.errstate(all="ignore"):
        wanted = np.power(a.astype(np.float64), b.astype(np.float64)).astype(kind)
    np.testing.assert_array_max_ulp(found, wanted, maxulp=1)
    assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))
    assert np.array_equal(np.isnan(found), np.isnan(wanted))


@on_each_target
def test_power_is_precise_over_all_magnitudes(target: InstructionSet) -> None:
    random = np.random.default_rng(1)
    a = np.exp(random.uniform(-100, 88, 200_000)).astype(np.float32)
    b = (random.normal(size=200_000) * random.choice([0.1, 3, 80], 200_000)).astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = np.power(a.astype(np.float64), b.astype(np.float64))
    assert distance(apply("power", a, b, target=target), wanted).max() <= 0.51


@on_each_target
@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, -1.0, 0.5])
def test_constant_powers_are_products(exponent: float, target: InstructionSet) -> None:
    x = np.concatenate([EDGES, np.linspace(-5, 5, 201, dtype=np.float32)])
    expr = call("power", Argument(0, "f32"), Constant(exponent, "f32"))
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), np.full(x.shape, exponent))
    found = evaluate(expr, [x], target)
    assert distance(found, wanted).max() <= 1.5
    assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@on_each_target
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("function", ["modulo", "fmod"])
def test_remainders_of_floats_are_exact(function: str, kind: type, target: InstructionSet) -> None:
    edges = np.array([0, -0.0, 1, -1, 2.5, -2.5, 7, 1e-30, 1e30, math.inf, -math.inf, math.nan])
    a, b = (each.ravel().astype(kind) for each in np.meshgrid(edges, edges))
    found, wanted = apply(function, a, b, target=target), meant(function, a, b)
    np.testing.assert_array_equal(found, wanted)
    assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))


@settings(max_examples=60, deadline=None)
@given(
    x=st.lists(st.floats(width=32), min_size=1, max_size=40),
    function=st.sampled_from(sorted(ULPS)),
    target=st.sampled_from(TARGETS),
)
def test_random_floats_are_as_precise(
    x: list[float], function: str, target: InstructionSet
) -> None:
    values = np.array(x, np.float32)
    if function == "sigmoid":
        values = np.maximum(values, np.float32(-88))
    apart = distance(apply(function, values, target=target), exact(function, values))
    assert apart.max() <= ULPS[function]
