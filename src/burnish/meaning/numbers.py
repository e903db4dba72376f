"""The numbers that a model is evaluated in.

`Reals` are f64 whatever the model declares: two right forms of one computation agree there to
about 1e-12, and a wrong one stands out at any size. `Noisy` reals disturb each result by a
rounding of the type that the model declares, at random: how far an output then moves is how
far roundings alone can move it (Monte Carlo arithmetic). Integers and truths are exact, in the
types of the model, in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.store.element_types import numpy_type
from burnish.tile.functions import FUNCTIONS

Value = Any
"""What a tensor's elements are held in: an array for reals, more than one for a field."""

UNIT_ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
"""The largest relative error of one rounding, by element type."""

_STORED = {
    "f64": np.dtype(np.float64), "f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
    "bf16": numpy_type("bf16"),
}  # fmt: skip

_EXACT_AS_F64 = 2**53

_STEPS = frozenset({"round", "floor", "ceil", "truncate"})
_F64_ROUNDINGS = 8.0
"""How often f64 may round within one operator, for instance in a long sum."""
_BEFORE_A_STEP = 64.0
"""Roundings that what is about to be cut to a whole number may be off: few runs of noise must
show what many runs of an engine would."""


class Numbers(Protocol):
    """Arithmetic on whole tensors; the names of types are those that the model declares."""

    def held(self, array: Array, dtype: str) -> Value:
        """Return the elements of an input of the model."""

    def weight(self, array: Array, dtype: str) -> Value:
        """Return the elements of a constant of the model."""

    def loose(self, array: Array, dtype: str) -> Value:
        """Return the elements of a constant that may be another one rounded anew."""

    def number(self, number: float, dtype: str) -> Value:
        """Return a single number of an operator's own."""

    def each(self, move: Callable[[Array], Array], value: Value) -> Value:
        """Return the elements after `move`, which only chooses and arranges them."""

    def merged(self, target: Value, where: tuple[slice, ...], part: Value) -> Value:
        """Return `target` with `part` in place of what stands at `where`."""

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return a scalar function of the elements, which is of type `dtype`."""

    def cast(self, value: Value, source: str, dtype: str) -> Value:
        """Return the elements in another type."""

    def reduced(self, combine: str, value: Value, axes: tuple[int, ...], dtype: str) -> Value:
        """Return the elements combined over some axes, which go."""

    def product(self, left: Value, right: Value, dtype: str) -> Value:
        """Return the matrix products of two stacks of matrices."""

    def rounded(self, value: Value, dtype: str) -> Value:
        """Return what is left of a result of type `dtype` after it was rounded."""

    def array(self, value: Value) -> Array:
        """Return the elements as a plain array."""


class Reals:
    """Real numbers as f64, which stand for every floating type."""

    def held(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64."""
        return array.astype(np.float64) if dtype in FLOATS else array

    def weight(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64."""
        return self.held(array, dtype)

    def loose(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64."""
        return self.weight(array, dtype)

    def number(self, number: float, dtype: str) -> Value:
        """Return the number."""
        return np.asarray(number, np.float64 if dtype in FLOATS else numpy_type(dtype))

    def each(self, move: Callable[[Array], Array], value: Value) -> Value:
        """Return the elements moved."""
        return move(value)

    def merged(self, target: Value, where: tuple[slice, ...], part: Value) -> Value:
        """Return `target` with `part` put in."""
        target[where] = part
        return target

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return NumPy's value of the function."""
        found = FUNCTIONS[function].numpy(*arguments)
        return np.asarray(found).astype(_type(dtype), copy=False)

    def cast(self, value: Value, source: str, dtype: str) -> Value:
        """Return the elements in another type: from float to float that is nothing."""
        if dtype in FLOATS and dtype not in UNIT_ROUNDOFF:
            # What stores numbers in 8 bits or less is a choice of the model, not an accident.
            return np.asarray(value).astype(numpy_type(dtype)).astype(np.float64)
        if source in FLOATS and dtype in FLOATS:
            return value
        return np.asarray(value).astype(_type(dtype))

    def reduced(self, combine: str, value: Value, axes: tuple[int, ...], dtype: str) -> Value:
        """Return the elements combined."""
        return _REDUCTIONS[combine](value, axis=axes).astype(_type(dtype), copy=False)

    def product(self, left: Value, right: Value, dtype: str) -> Value:
        """Return the matrix products; of integers too through f64 where that is exact."""
        if dtype in FLOATS or _fits(left, right):
            wide = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
            return np.matmul(*wide).astype(_type(dtype), copy=False)
        return np.matmul(left.astype(_type(dtype)), right.astype(_type(dtype)))

    def rounded(self, value: Value, dtype: str) -> Value:
        """Return it as it is: nothing is rounded."""
        return value

    def array(self, value: Value) -> Array:
        """Return the elements."""
        return np.asarray(value)


class Noisy(Reals):
    """Real numbers of which every result is disturbed by a rounding of its declared type.

    What the type holds exactly is not rounded, and so not disturbed. With `alike`, equal numbers
    are disturbed equally: a tie stays a tie, as it does where both are computed in the same way.
    """

    def __init__(
        self, seed: int, *, constants_only: bool = False, least: float = 0.0, alike: bool = False
    ) -> None:
        """Start with a seed; no rounding of a float is below `least`.

        `constants_only`: loose constants are off by that much, results by what f64 rounds.
        """
        random = np.random.default_rng(seed)
        # Uniform within one rounding, as the error of a rounding is.
        self._pool = random.uniform(-1.0, 1.0, _POOL)
        self._random = random
        self._constants_only, self._least, self._alike = constants_only, least, alike

    def loose(self, array: Array, dtype: str) -> Value:
        """Return the elements, each off by at most one rounding."""
        return self._disturbed(super().weight(array, dtype), dtype, exact=False)

    def rounded(self, value: Value, dtype: str) -> Value:
        """Return the elements, each off by at most one rounding."""
        if self._constants_only:
            return self._disturbed(value, "f64", _F64_ROUNDINGS) if dtype in FLOATS else value
        return self._disturbed(value, dtype)

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return NumPy's value of the function; near a step, either side of it."""
        if function in _STEPS and not self._constants_only:
            arguments = [self._disturbed(arguments[0], "f32", _BEFORE_A_STEP)]
        return super().call(function, arguments, dtype)

    def _disturbed(
        self, value: Value, dtype: str, times: float = 1.0, *, exact: bool = True
    ) -> Value:
        unit = UNIT_ROUNDOFF.get(dtype)
        if unit is None or not value.size:
            return value
        unit = max(unit, 0.0 if dtype == "f64" else self._least) * times
        noise = self._noise_by_value(value) if self._alike else self._noise(value.size)
        with np.errstate(invalid="ignore", over="ignore"):
            moved = value + value * (noise.reshape(value.shape) * unit)
            if exact and dtype != "f64":
                held = value.astype(_STORED[dtype]).astype(np.float64) == value
                moved = np.where(held, value, moved)
        return moved

    def _noise(self, size: int) -> Array:
        """Return noise from another place of the pool on: two tensors must not agree in it."""
        shift = int(self._random.integers(_POOL))
        return np.resize(np.roll(self._pool, shift), size)

    def _noise_by_value(self, value: Array) -> Array:
        bits = np.ascontiguousarray(value).reshape(-1).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        return self._pool[(mixed >> np.uint64(64 - _POOL_BITS)).astype(np.intp)]


_POOL_BITS = 16
_POOL = 1 << _POOL_BITS


def _type(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype in FLOATS else numpy_type(dtype)


def _fits(left: Array, right: Array) -> bool:
    """Return whether sums of products of these integers are exact as f64."""
    if not left.size or not right.size or left.dtype.kind not in "iub":
        return False
    largest = [int(np.abs(side.astype(np.float64)).max()) for side in (left, right)]
    return largest[0] * largest[1] * int(left.shape[-1]) < _EXACT_AS_F64


_REDUCTIONS: dict[str, Callable[..., Value]] = {
    "sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod,
}  # fmt: skip
