"""Inputs that are made where they are needed: the same elements from the same recipe, anywhere.

NumPy does not promise that its generators give the same numbers in every version; a bundle is made
in one place and timed in another, so the numbers come from a few whole-number operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS

_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of SplitMix64, which turns a count into bits that look drawn."""
_PIECE = 1 << 22
"""Elements that are made at once: what they need meanwhile stays small."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Elements drawn evenly from `low` to `high`; whole numbers without `high` itself."""

    dtype: str
    shape: tuple[int, ...]
    seed: int
    low: float = -1.0
    high: float = 1.0


def made(recipe: Recipe) -> Array:
    """Return the array that a recipe stands for."""
    found = np.empty(math.prod(recipe.shape), array_type(recipe.dtype))
    for begin in range(0, found.size, _PIECE):
        end = min(begin + _PIECE, found.size)
        found[begin:end] = _elements(recipe, _bits(recipe.seed, begin, end))
    return found.reshape(recipe.shape)


def _elements(recipe: Recipe, bits: NDArray[np.uint64]) -> Array:
    if recipe.dtype == "bool":
        return (bits & np.uint64(1)).astype(bool)
    # 53 bits are as many as a double holds
    share = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    values = recipe.low + share * (recipe.high - recipe.low)
    return values if recipe.dtype in FLOATS else np.floor(values)


def _bits(seed: int, begin: int, end: int) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        state = np.arange(begin + 1, end + 1, dtype=np.uint64) * np.uint64(_STEP)
        state += np.uint64((seed * 0xD1342543DE82EF95 + 1) % (1 << 64))
        state = (state ^ (state >> np.uint64(30))) * np.uint64(_FIRST)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(_SECOND)
        return state ^ (state >> np.uint64(31))
