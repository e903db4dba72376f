"""How far two results may be apart, by element type, with the reason for each number.

An element passes when

    |candidate - reference|  <=  absolute + relative * max(|reference|, scale)

where `scale` is the typical magnitude of the whole reference tensor: the root mean square of
its finite values, less those beyond 10,000 times the lower quartile of the non-zero magnitudes
(the -3.4e38 of a masked score says nothing about the scores). So an element near zero, which
is the small difference of large terms, raises no alarm; and a tensor whose values are all
small is judged by its own size, so that a wrong one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a candidate may be from a reference, and why that far."""

    absolute: float
    relative: float
    reason: str

    def __post_init__(self) -> None:
        if not (self.absolute >= 0 and self.relative >= 0):
            raise ValueError(f"a tolerance is not negative: {self.absolute}, {self.relative}")

    def allowance(self, magnitude: float) -> float:
        """Return the largest error allowed where max(|reference|, scale) is `magnitude`."""
        return self.absolute + self.relative * magnitude


EXACT = Tolerance(0.0, 0.0, "indices, masks and text are computed exactly")

OFF_BY_ONE = Tolerance(
    1.0, 0.0, "a value between two quantisation steps may be rounded to either of them"
)

DYNAMIC_INT8 = "i8-dynamic"
"""Not an element type: products of 8-bit integers whose scales are found while running."""

ARITHMETIC: Mapping[str, Tolerance] = {
    # One rounding costs 2^-p of the value, p being the bits of the significand. About 100 of
    # them in a row on the way to an output, in random directions, give 10; the worst of many
    # elements gives 20. f32 and f64 have room for 50 times as many, for kernels approximate
    # exp, tanh and erf, and normalisations magnify what came before them.
    "f64": Tolerance(1e-14, 2e-13, "sums are reassociated: 1,000 times 2^-53 a rounding"),
    "f32": Tolerance(1e-6, 1e-4, "sums are reassociated: 1,000 times 2^-24 a rounding"),
    "tf32": Tolerance(1e-4, 1e-2, "products have 11 significant bits: 2^-11 a rounding"),
    "f16": Tolerance(1e-4, 1e-2, "11 significant bits: 20 times 2^-11 a rounding"),
    # Above 1e-2, because 20 of these roundings are: there is no way to ask bf16 for more.
    "bf16": Tolerance(1e-3, 8e-2, "8 significant bits: 20 times 2^-8 a rounding"),
    "f8e4m3fn": Tolerance(1e-2, 0.25, "4 significant bits: a few times 2^-4 a rounding"),
    "f8e4m3fnuz": Tolerance(1e-2, 0.25, "4 significant bits: a few times 2^-4 a rounding"),
    # Activations share 8 bits per tensor: a step is 2^-8 of its range, 2^-6 of its values.
    DYNAMIC_INT8: Tolerance(1e-2, 0.3, "8 bits for a tensor's range: 20 times 2^-6 a rounding"),
    "f8e5m2": Tolerance(1e-2, 0.5, "3 significant bits: a few times 2^-3 a rounding"),
    "f8e5m2fnuz": Tolerance(1e-2, 0.5, "3 significant bits: a few times 2^-3 a rounding"),
}
"""By the element type that arithmetic is done in, the strictest first."""

ROUNDING: Mapping[str, float] = {
    "f64": 2.0**-53, "f32": 2.0**-24, "tf32": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8,
    "f8e4m3fn": 2.0**-4, "f8e4m3fnuz": 2.0**-4, DYNAMIC_INT8: 2.0**-6, "f8e5m2": 2.0**-3,
    "f8e5m2fnuz": 2.0**-3,
}  # fmt: skip
"""The relative error of a single rounding, by element type."""

SMALLEST: Mapping[str, float] = {
    "f64": 2.0**-1022, "f32": 2.0**-126, "tf32": 2.0**-126, "f16": 2.0**-24, "bf16": 2.0**-126,
}  # fmt: skip
"""Below this an engine may give zero; of f16 even numbers without all their bits are kept."""

_STRICTEST_FIRST = tuple(ARITHMETIC)
_COMPLEX = {"c64": "f32", "c128": "f64"}
_COARSE = {"f8e8m0": "f8e5m2", "f4e2m1": "f8e5m2"}


def weaker(first: str, second: str) -> str:
    """Return the one of two types of arithmetic that rounds more."""
    return max(first, second, key=_STRICTEST_FIRST.index)


def arithmetic_of(dtype: str) -> str:
    """Return the type of arithmetic whose tolerance holds for elements of a float type."""
    return _COARSE.get(dtype, _COMPLEX.get(dtype, dtype))


def is_float(dtype: str) -> bool:
    """Return whether elements of this type are real (or complex) numbers that get rounded."""
    return dtype in ARITHMETIC or dtype in _COMPLEX or dtype in _COARSE
