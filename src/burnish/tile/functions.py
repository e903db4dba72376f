"""The scalar functions that expressions may call, each with its plain NumPy meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from burnish.core.array_types import array_type

Value = Any
"""A NumPy array of any element type."""


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function: how many arguments, what type comes out, what it costs, what it means."""

    arity: int
    numpy: Callable[..., Value]
    weight: int = 1
    """Additions that it costs about as much as, vectorised."""
    result: Literal["same", "bool"] = "same"
    """The type of its last argument, or bool."""


_ERF_STEP = 1 / 64
_ERF_END = 6.0
"""Beyond this, erf is 1 to the last bit of an f64."""
_ERF_TERMS = 9


def _erf_series() -> Value:
    """Return the Taylor coefficients of erf around 0, 1/64, 2/64 … 6, one row each.

    The n-th derivative is 2/√π · e^(-x²) · (-1)^(n-1) · H_(n-1)(x), with Hermite polynomials H.
    """
    x = np.arange(0.0, _ERF_END + _ERF_STEP / 2, _ERF_STEP)
    slope = 2 / math.sqrt(math.pi) * np.exp(-x * x)
    rows = [np.array([math.erf(each) for each in x])]
    before, hermite = np.zeros_like(x), np.ones_like(x)
    for order in range(1, _ERF_TERMS):
        rows.append((-1) ** (order - 1) * slope * hermite / math.factorial(order))
        before, hermite = hermite, 2 * x * hermite - 2 * (order - 1) * before
    return np.stack(rows)


_ERF = _erf_series()


def _erf(x: Value) -> Value:
    """Return erf by the series around the nearest of 385 places: within 2e-16 of `math.erf`."""
    wide = x.astype(np.float64)
    inside = np.where(np.isnan(wide), 0.0, np.minimum(np.abs(wide), _ERF_END))
    place = np.rint(inside / _ERF_STEP).astype(np.intp)
    away = inside - place * _ERF_STEP
    result = _ERF[-1][place]
    for row in _ERF[-2::-1]:
        result = result * away + row[place]
    return np.where(np.isnan(wide), wide, np.copysign(result, wide)).astype(x.dtype)


def _integer_divide(a: Value, b: Value) -> Value:
    """Return the quotient rounded towards zero, as C and ONNX Runtime divide integers."""
    if np.issubdtype(a.dtype, np.floating):
        return a / b
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    down = np.floor_divide(a, safe)
    cut = (down * safe != a) & ((a < 0) != (safe < 0))
    return np.where(b == 0, 0, down + cut).astype(a.dtype)


def _power(a: Value, b: Value) -> Value:
    return np.power(a, b).astype(a.dtype)


def _sigmoid(x: Value) -> Value:
    return (1 / (1 + np.exp(-x))).astype(x.dtype)


FUNCTIONS: Mapping[str, Function] = {
    "add": Function(2, np.add),
    "subtract": Function(2, np.subtract),
    "multiply": Function(2, np.multiply),
    "divide": Function(2, _integer_divide, weight=4),
    "minimum": Function(2, np.minimum),
    "maximum": Function(2, np.maximum),
    "power": Function(2, _power, weight=30),
    "modulo": Function(2, np.mod, weight=8),
    "fmod": Function(2, np.fmod, weight=8),
    "negative": Function(1, np.negative),
    "absolute": Function(1, np.abs),
    "sign": Function(1, np.sign),
    "reciprocal": Function(1, np.reciprocal, weight=4),
    "sqrt": Function(1, np.sqrt, weight=6),
    "exp": Function(1, np.exp, weight=12),
    "log": Function(1, np.log, weight=14),
    "erf": Function(1, _erf, weight=16),
    "sigmoid": Function(1, _sigmoid, weight=16),
    "sin": Function(1, np.sin, weight=20),
    "cos": Function(1, np.cos, weight=20),
    "tan": Function(1, np.tan, weight=24),
    "asin": Function(1, np.arcsin, weight=30),
    "acos": Function(1, np.arccos, weight=30),
    "atan": Function(1, np.arctan, weight=30),
    "sinh": Function(1, np.sinh, weight=24),
    "cosh": Function(1, np.cosh, weight=24),
    "tanh": Function(1, np.tanh, weight=16),
    "asinh": Function(1, np.arcsinh, weight=30),
    "acosh": Function(1, np.arccosh, weight=30),
    "atanh": Function(1, np.arctanh, weight=30),
    "floor": Function(1, np.floor),
    "ceil": Function(1, np.ceil),
    "round": Function(1, np.rint),
    "truncate": Function(1, np.trunc),
    "is_nan": Function(1, np.isnan, result="bool"),
    "is_infinite": Function(1, np.isinf, result="bool"),
    "equal": Function(2, np.equal, result="bool"),
    "less": Function(2, np.less, result="bool"),
    "less_equal": Function(2, np.less_equal, result="bool"),
    "and": Function(2, np.logical_and, result="bool"),
    "or": Function(2, np.logical_or, result="bool"),
    "xor": Function(2, np.logical_xor, result="bool"),
    "not": Function(1, np.logical_not, result="bool"),
    "bit_and": Function(2, np.bitwise_and),
    "bit_or": Function(2, np.bitwise_or),
    "bit_xor": Function(2, np.bitwise_xor),
    "bit_not": Function(1, np.bitwise_not),
    "shift_left": Function(2, np.left_shift),
    "shift_right": Function(2, np.right_shift),
    "where": Function(3, np.where),
    "cast": Function(1, lambda x: x),
}
"""`cast` is done by whoever evaluates, as the target type is the call's own."""


def identity(combine: str, dtype: str) -> bool | int | float:
    """Return what combining starts with."""
    kind: Any = np.dtype(array_type(dtype))
    if combine in ("sum", "prod"):
        return int(combine == "prod")
    if kind == np.bool_:
        return combine == "min"
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return int(limits.min if combine == "max" else limits.max)
    return -math.inf if combine == "max" else math.inf
