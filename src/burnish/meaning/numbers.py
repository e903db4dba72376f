"""The numbers that a model is evaluated in.

`Reals` are f64 whatever the model declares: two right forms of one computation agree there to
about 1e-12, and a wrong one stands out at any size. `Noisy` reals disturb each result by a
rounding of the type that the model declares, at random: how far an output then moves is how
far roundings alone can move it (Monte Carlo arithmetic). Integers and truths are exact, in the
types of the model, in all of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from burnish.closeness.tolerance import ROUNDING
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.meaning.steps import Steps
from burnish.tile.functions import FUNCTIONS

Value = Any
"""What a tensor's elements are held in: an array for reals, more than one for a field."""

UNIT_ROUNDOFF = {kind: ROUNDING[kind] for kind in ("f64", "f32", "f16", "bf16")}
"""The largest relative error of one rounding, by the element types that are followed."""

_STORED = {
    "f64": np.dtype(np.float64), "f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
    "bf16": array_type("bf16"),
}  # fmt: skip

_NARROW = frozenset(dtype for name, dtype in _STORED.items() if name != "f64")
LARGE_BYTES = 1 << 24
"""Constants above this size are not made f64 as a whole: a table of words would fill the memory.
What reads them makes the elements f64 that it reads."""

_SHORT = {"f64": 2.0**26, "f32": 2.0**12, "f16": 2.0**5, "bf16": 2.0**4}
"""Two to the number of bits, half of a type's, with which a number counts as a round one."""

LEAST_STEP = {"f16": 2.0**-25}
"""How far a rounding moves at least: numbers far below one have fewer bits, in f16 usual ones."""

_EXACT_AS_F64 = 2**53

_GROWING = frozenset({"exp", "sinh", "cosh"})
"""Functions that leave f64's range at arguments that others have."""
_STEPS = frozenset({"floor", "ceil", "truncate"})
_STEP_BLUR, _OWN_STEP_BLUR = 0.01, 0.001
"""How far, in steps, what is about to be rounded to whole ones may be off: where constants may have
been rounded to other steps, and where the steps are the model's own, whatever runs it."""
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

    def opened(self, value: Value) -> Value:
        """Return elements in the form that is computed with; large constants wait for it."""

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

    overflowed = False
    """Whether some real result was beyond f64's range, so that what follows tells nothing."""
    steps: Steps | None = None
    """Sees what is about to be cut to whole steps."""

    def held(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64."""
        return array.astype(np.float64) if dtype in FLOATS else array

    def weight(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64, but those of large tensors as they are stored."""
        is_large = array.nbytes > LARGE_BYTES and dtype in _STORED
        return array if is_large else self.held(array, dtype)

    def loose(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64, but those of large tensors as they are stored."""
        return self.weight(array, dtype)

    def opened(self, value: Value) -> Value:
        """Return the elements; floats as f64."""
        return value.astype(np.float64, copy=False) if value.dtype in _NARROW else value

    def number(self, number: float, dtype: str) -> Value:
        """Return the number."""
        return np.asarray(number, np.float64 if dtype in FLOATS else array_type(dtype))

    def each(self, move: Callable[[Array], Array], value: Value) -> Value:
        """Return the elements moved."""
        return move(value)

    def merged(self, target: Value, where: tuple[slice, ...], part: Value) -> Value:
        """Return `target` with `part` put in."""
        target[where] = part
        return target

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return NumPy's value of the function."""
        if function == "round" and self.steps is not None:
            arguments = [self.steps.taken(np.asarray(arguments[0]))]
        found = np.asarray(FUNCTIONS[function].numpy(*arguments))
        if function in _GROWING and not self.overflowed:
            self.overflowed = bool((np.isinf(found) & np.isfinite(arguments[0])).any())
        return found.astype(_type(dtype), copy=False)

    def cast(self, value: Value, source: str, dtype: str) -> Value:
        """Return the elements in another type: from float to float that is nothing."""
        if dtype in FLOATS and dtype not in UNIT_ROUNDOFF:
            # What stores numbers in 8 bits or less is a choice of the model, not an accident.
            return np.asarray(value).astype(array_type(dtype)).astype(np.float64)
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
        self,
        seed: int,
        *,
        constants_only: bool = False,
        least: float = 0.0,
        alike: bool = False,
        factors: float = 0.0,
        least_step: float = 0.0,
    ) -> None:
        """Start with a seed; no rounding of a float is below `least`.

        `factors`: those of products are rounded by so much, too; with results that are rounded as
        far, whatever is stored is, weights and inputs among it. `least_step`: numbers next to
        nothing are off by so much, whatever type the model says that they have.

        Seeds 1 and 2, 3 and 4 … are opposite: what lies on a border between two steps by chance
        falls on one side of it with the one, and on the other with the other.
        `constants_only`: loose constants are off by that much, results by what f64 rounds.
        """
        random = np.random.default_rng((seed + 1) // 2)
        # Uniform within one rounding, as the error of a rounding is.
        self._pool = random.uniform(-1.0, 1.0, _POOL) * (1.0 if seed % 2 else -1.0)
        self._random = random
        self._constants_only, self._least, self._alike = constants_only, least, alike
        self._factors, self._least_step = factors, least_step
        self._stores = bool(factors) and least >= factors
        self._step_blur = _STEP_BLUR if constants_only else _OWN_STEP_BLUR

    def with_steps_of_the_data(self) -> Self:
        """Return the same numbers for operators whose steps nobody can have rounded anew.

        A scale that is found from the data while running is no constant that a rewrite stores in
        steps of its own: what is rounded to such steps is off by its own roundings only.
        """
        other = copy.copy(self)
        other._step_blur = 0.0
        return other

    def loose(self, array: Array, dtype: str) -> Value:
        """Return the elements, each off by at most one rounding; round numbers stay as they are.

        A 2 or a 0.5 was written by somebody: what comes of rounding has bits to its end. (And
        what is raised to a power of 2.0000001 is NaN.)
        """
        value = self.held(array, dtype)
        if dtype not in UNIT_ROUNDOFF:
            return value
        fractions, _ = np.frexp(value)
        few = fractions * _SHORT[dtype]
        with np.errstate(invalid="ignore"):
            is_round = few == np.rint(few)
        return np.where(is_round, value, self._moved(value, max(UNIT_ROUNDOFF[dtype], self._least)))

    def rounded(self, value: Value, dtype: str) -> Value:
        """Return the elements, each off by at most one rounding, but for those that fit exactly."""
        unit = self._unit(dtype)
        if unit is None or not value.size:
            return value
        if self._constants_only:
            unit = UNIT_ROUNDOFF["f64"] * _F64_ROUNDINGS
        with np.errstate(invalid="ignore", over="ignore"):
            fits = value.astype(_STORED[dtype]).astype(np.float64) == value
        least_step = max(LEAST_STEP.get(dtype, 0.0), self._least_step)
        return np.where(fits, value, self._moved(value, unit, least_step))

    def held(self, array: Array, dtype: str) -> Value:
        """Return the elements; floats as f64, rounded where all that is stored is."""
        value = super().held(array, dtype)
        return self._shortened(value) if self._stores and dtype in UNIT_ROUNDOFF else value

    def product(self, left: Value, right: Value, dtype: str) -> Value:
        """Return the matrix products, of factors that may be rounded before."""
        if self._factors and dtype in FLOATS:
            left, right = (
                # what is stored was rounded when it was read, but for large constants
                self._shortened(side) if not self._stores or side.dtype in _NARROW else side
                for side in (left, right)
            )
        found = super().product(left, right, dtype)
        if dtype not in UNIT_ROUNDOFF or self._constants_only or not found.size:
            return found
        rows, columns = (np.square(self.opened(side)) for side in (left, right))
        lengths = np.sqrt(rows.sum(axis=-1)), np.sqrt(columns.sum(axis=-2))
        terms = lengths[0][..., :, None] * lengths[1][..., None, :]
        return self._summed_up(found, terms, dtype, whole=_are_whole(left) and _are_whole(right))

    def reduced(self, combine: str, value: Value, axes: tuple[int, ...], dtype: str) -> Value:
        """Return the elements combined; sums are off by roundings of what was added up."""
        found = super().reduced(combine, value, axes, dtype)
        if combine != "sum" or dtype not in UNIT_ROUNDOFF or self._constants_only or not found.size:
            return found
        return self._summed_up(found, np.abs(value).sum(axis=axes), dtype, whole=_are_whole(value))

    def _summed_up(self, total: Value, terms: Value, dtype: str, *, whole: bool) -> Value:
        """Return sums, each off by a rounding of its terms' sizes: these may cancel each other.

        They are added up in f32 where they have fewer bits. Of whole numbers nothing is lost.
        """
        unit = min(UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF["f32"])
        with np.errstate(invalid="ignore", over="ignore"):
            off = terms * (self._noise_of(total) * unit)
            if whole:
                off = np.where(terms * unit < 1, 0.0, off)
            return total + off

    def within(self, value: Value, dtype: str) -> Value:
        """Return what an operator reads whose steps are not seen, off as these would be.

        Each of them rounds: so every number that it reads is off, even one that its type holds.
        """
        unit = self._unit(dtype)
        if unit is None or self._constants_only:
            return value
        return self._moved(value, max(unit, self._factors))

    def call(self, function: str, arguments: Sequence[Value], dtype: str) -> Value:
        """Return NumPy's value of the function; near a step, either side of it."""
        if function == "round" and self.steps is None:
            arguments = [self._blurred(arguments[0])]
        elif function in _STEPS and not self._constants_only:
            unit = max(UNIT_ROUNDOFF["f32"], self._least) * _BEFORE_A_STEP
            arguments = [self._moved(arguments[0], unit)]
        return super().call(function, arguments, dtype)

    def _unit(self, dtype: str) -> float | None:
        unit = UNIT_ROUNDOFF.get(dtype)
        return None if unit is None else max(unit, self._least)

    def _shortened(self, value: Value) -> Value:
        """Return factors, each off by at most one rounding, but for those of few bits."""
        value = self.opened(value)
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.frexp(value)[0] / self._factors
            fits = steps == np.rint(steps)
            if self._least_step:
                steps = value / (2 * self._least_step)
                fits &= steps == np.rint(steps)
            return np.where(fits, value, self._moved(value, self._factors, self._least_step))

    def _blurred(self, value: Value) -> Value:
        """Return numbers of steps, off by a little; what lies just between two steps stays there.

        Quantised models are rewritten with biases and scales rounded to steps of their own, so
        what is near the border between two steps may fall on either side.
        """
        with np.errstate(invalid="ignore"):
            moved = value + self._noise_of(value) * self._step_blur
            return np.where(value - np.floor(value) == 0.5, value, moved)

    def _moved(self, value: Value, unit: float, least: float = 0.0) -> Value:
        """Return numbers that are off by `unit` of their size, or by `least` where that is more."""
        with np.errstate(invalid="ignore", over="ignore"):
            sizes = np.maximum(np.abs(value) * unit, least) if least else value * unit
            return value + sizes * self._noise_of(value)

    def _noise_of(self, value: Value) -> NDArray[np.float64]:
        noise = self._noise_by_value(value) if self._alike else self._noise(value.size)
        return noise.reshape(value.shape)

    def _noise(self, size: int) -> NDArray[np.float64]:
        """Return noise from another place of the pool on: two tensors must not agree in it."""
        shift = int(self._random.integers(_POOL))
        return np.resize(np.roll(self._pool, shift), size)

    def _noise_by_value(self, value: Array) -> NDArray[np.float64]:
        bits = np.ascontiguousarray(value).reshape(-1).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        return self._pool[(mixed >> np.uint64(64 - _POOL_BITS)).astype(np.intp)]


def _are_whole(value: Value) -> bool:
    """Return whether all elements are whole numbers."""
    return bool((np.rint(value) == value).all())


_POOL_BITS = 16
_POOL = 1 << _POOL_BITS


def _type(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype in FLOATS else array_type(dtype)


def _fits(left: Array, right: Array) -> bool:
    """Return whether sums of products of these integers are exact as f64."""
    if not left.size or not right.size or left.dtype.kind not in "iub":
        return False
    largest = [int(np.abs(side.astype(np.float64)).max()) for side in (left, right)]
    return largest[0] * largest[1] * int(left.shape[-1]) < _EXACT_AS_F64


_REDUCTIONS: dict[str, Callable[..., Value]] = {
    "sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod,
}  # fmt: skip
