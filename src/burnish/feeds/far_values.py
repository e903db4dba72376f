"""Values that ordinary inputs do not have: far ones, rare ones, and masks of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array

Random = np.random.Generator

ADDED = ", to be added"
"""How kinds of masks end that are added to scores: zero where others have ones."""
_OUT_OF_SIGHT = -1e4
"""What an added mask has where something is hidden; f16 holds it, too."""


def masked(array: Array, kind: str, random: Random) -> Array:
    """Return a mask of the same shape and type, in which ones count."""
    length = array.shape[-1] if array.ndim else 0
    if not length or 0 in array.shape:
        return array
    rows = array.shape[0] if array.ndim > 1 else 1
    kept = MASKS[kind.removesuffix(ADDED)](rows, length, random)
    spread = kept.reshape(rows, *(1,) * (array.ndim - 2), length) if array.ndim > 1 else kept[0]
    whole = np.broadcast_to(spread, array.shape)
    if kind.endswith(ADDED) and array.dtype.kind not in "iub":
        return np.where(whole, 0.0, _OUT_OF_SIGHT).astype(array.dtype)
    return whole.astype(array.dtype)


def numbered(array: Array, kind: str, random: Random) -> Array:
    """Return numbers of the same shape and type.

    `near X` are some around a number, `halves of X` lie just between its multiples.
    """
    plain = array.astype(np.float64)
    if kind.startswith(NEAR):
        found = _near(kind, array, random)
    elif kind.startswith(STEPS):
        found = (np.rint(16 * plain) + 0.5) * float(kind.removeprefix(STEPS))
    else:
        found = NUMBERS[kind](plain, random)
    limit = _largest(array)
    return np.clip(found, -limit, limit).astype(array.dtype)


def counted(array: Array, kind: str, limit: int | None, random: Random) -> Array:
    """Return integers of the same shape and type, below `limit` where there is one.

    `near X` are some around a number, `sweep N` the N-th part of all that are below the limit.
    """
    word, _, number = kind.partition(" ")
    if word == "sweep":
        span = limit or 1
        start = int(number) * array.size
        found: Array = (start + np.arange(array.size)).reshape(array.shape) % span
    elif kind.startswith(NEAR):
        found = np.asarray(int(float(number)) + random.integers(-1, 2, array.shape))
    elif limit is not None:
        found = INDICES[kind if kind in INDICES else "plain"](array, limit, random)
    else:
        found = INTEGERS[kind if kind in INTEGERS else "plain"](array, random)
    return _fitting(found, array, limit)


NEAR = "near "
STEPS = "halves of "


def _fitting(found: Array, array: Array, limit: int | None) -> Array:
    """Return integers as an array's type holds them, and as places in a table of `limit` rows."""
    if limit is not None:
        found = np.clip(found, -limit, max(limit - 1, 0))
    if array.dtype.kind in "iu":
        ends = np.iinfo(np.dtype(array.dtype.str))
        found = np.clip(found, ends.min, ends.max)
    return found.astype(array.dtype)


def _lengths(rows: int, length: int, random: Random) -> NDArray[np.int64]:
    lengths = random.integers(1, max(length, 2), (rows, 1))
    lengths[:1] = length
    return lengths


def _right(rows: int, length: int, random: Random) -> Array:
    return np.asarray(np.arange(length) < _lengths(rows, length, random))


def _left(rows: int, length: int, random: Random) -> Array:
    return np.asarray(np.arange(length) >= length - _lengths(rows, length, random))


def _holes(rows: int, length: int, random: Random) -> Array:
    kept = random.integers(0, 2, (rows, length)).astype(bool)
    kept[np.arange(rows), random.integers(0, length, rows)] = True
    return kept


def _one_key(rows: int, length: int, random: Random) -> Array:
    kept = np.zeros((rows, length), bool)
    kept[np.arange(rows), random.integers(0, length, rows)] = True
    return kept


def _empty_row(rows: int, length: int, random: Random) -> Array:
    kept = _right(rows, length, random)
    kept[-1] = False
    return kept


MASKS: Mapping[str, Callable[[int, int, Random], Array]] = {
    "right": _right,
    "full": lambda rows, length, _: np.ones((rows, length), bool),
    "left": _left,
    "with holes": _holes,
    "of one key": _one_key,
    "with an empty row": _empty_row,
}


def _near(kind: str, array: Array, random: Random) -> Array:
    centre = float(kind.removeprefix(NEAR))
    width = max(abs(centre), 1e-3)
    steps = random.choice([0, 1e-7, -1e-7, 1e-2, -1e-2, 1, -1], array.shape)
    return np.asarray(centre + width * steps)


def _largest(array: Array) -> float:
    """Return the largest number that an array's type holds."""
    import ml_dtypes

    limits: Any = ml_dtypes.finfo
    return float(limits(array.dtype).max)


def _wide(x: Array, random: Random) -> Array:
    return np.asarray(np.sign(x) * 10.0 ** random.uniform(-6, 4, x.shape))


def _extreme(x: Array, random: Random) -> Array:
    """Return zeros of both signs, the least numbers there are, and ones around the ends."""
    some = [0.0, -0.0, 1e-45, -1e-42, 1.2e-38, -1e-30, 1e-12, -1e-7, 1.0, -1.0, 30.0, -90.0, 1e4]
    return random.choice(some, x.shape)


def _repeated(x: Array, random: Random) -> Array:
    """Return numbers that are the same in neighbouring places: what compares them finds ties."""
    if x.ndim == 0 or x.shape[-1] < 2:
        return x
    return np.repeat(x[..., ::2], 2, axis=-1)[..., : x.shape[-1]]


NUMBERS: Mapping[str, Callable[[Array, Random], Array]] = {
    "plain": lambda x, _: x,
    "10 times larger": lambda x, _: np.multiply(x, 10.0),
    "1,000 times larger": lambda x, _: np.multiply(x, 1e3),
    "100 times smaller": lambda x, _: np.multiply(x, 1e-2),
    "100,000 times smaller": lambda x, _: np.multiply(x, 1e-5),
    "zero": lambda x, _: np.zeros_like(x),
    "one": lambda x, _: np.ones_like(x),
    "positive": lambda x, _: np.abs(x),
    "negative": lambda x, _: np.negative(np.abs(x)),
    "from 0 to 1": lambda x, random: random.random(x.shape),
    "from 0 to 255": lambda x, random: random.integers(0, 256, x.shape).astype(np.float64),
    "mostly zero": lambda x, random: np.where(random.random(x.shape) < 0.05, x, 0.0),
    "of all magnitudes": _wide,
    "at the ends of the type": _extreme,
    "far from zero, close together": lambda x, _: np.add(1e3, np.multiply(x, 1e-2)),
    "whole": lambda x, _: np.rint(2 * x),
    "halves": lambda x, _: np.rint(x) + 0.5,
    "repeated": _repeated,
}
"""By what they are, from normal numbers."""

INTEGERS: Mapping[str, Callable[[Array, Random], Array]] = {
    "plain": lambda x, random: random.integers(0, 10, x.shape),
    "first": lambda x, _: np.zeros_like(x),
    "one": lambda x, _: np.ones_like(x),
    "of both signs": lambda x, random: random.integers(-12, 13, x.shape),
    "large": lambda x, random: random.integers(1 << 15, 1 << 20, x.shape),
    "huge": lambda x, random: random.integers(1 << 30, 1 << 53, x.shape),
    "far below zero": lambda x, random: -random.integers(1 << 15, 1 << 40, x.shape),
    "few": lambda x, random: random.integers(0, 2, x.shape),
}
"""For integers that index no table."""

INDICES: Mapping[str, Callable[[Array, int, Random], Array]] = {
    "plain": lambda x, limit, random: random.integers(0, max(limit, 1), x.shape),
    "first": lambda x, limit, _: np.zeros_like(x),
    "last": lambda x, limit, _: np.full(x.shape, max(limit - 1, 0)),
    "few": lambda x, limit, random: random.choice(random.integers(0, max(limit, 1), 3), x.shape),
    "from the end": lambda x, limit, random: random.integers(-limit, max(limit, 1), x.shape),
}
"""For integers that index a table of `limit` rows."""
