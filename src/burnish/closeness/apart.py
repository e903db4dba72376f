"""How far apart two arrays are, element by element, in pieces that keep the memory small."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.closeness.tolerance import Tolerance
from burnish.core.arrays import Array

CHUNK = 1 << 18
"""Elements compared at a time: 2 MiB for each array of f64 at work."""

_QUARTILE_SAMPLE = 1 << 16
"""Elements that the quartile of a tensor is estimated from."""

_FILL_FACTOR = 1e4
"""How far beyond the lower quartile a value says nothing about the tensor's typical magnitude."""

Floats = NDArray[np.float64]


def scale_of(reference: Array) -> float:
    """Return the typical magnitude of a tensor: see the module `tolerance`."""
    flat = numbers(reference).reshape(-1)
    limit = _limit(flat)
    squares, counted = 0.0, 0
    for piece in _pieces(flat):
        values = np.abs(piece)
        values = values[values <= limit] / limit
        squares += float(np.dot(values, values))
        counted += values.size
    return limit * math.sqrt(squares / counted) if counted else 0.0


def _limit(flat: Array) -> float:
    """Return the magnitude beyond which values do not count; 1 when there are only zeros."""
    # An odd step does not fall on the same column of a table of even width again and again.
    drawn = _magnitudes(flat[:: flat.size // _QUARTILE_SAMPLE | 1])
    if drawn.size == 0:
        drawn = np.concatenate([np.zeros(0), *map(_magnitudes, _pieces(flat))])
    if drawn.size == 0:
        return 1.0
    return min(_FILL_FACTOR * float(np.quantile(drawn, 0.25)), float(np.finfo(np.float64).max))


def _magnitudes(values: Array) -> Floats:
    """Return the finite magnitudes above zero."""
    magnitudes = np.abs(values.astype(np.float64))
    return magnitudes[np.isfinite(magnitudes) & (magnitudes > 0)]


@dataclass(slots=True)
class Apart:
    """How far two arrays are apart, of which some pieces are known; starts as an empty one's."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    severity: float = 0.0
    violation: float = -math.inf
    violations: int = 0
    worst: int = -1
    worst_reference: float = 0.0
    worst_candidate: float = 0.0
    non_finite_mismatches: int = 0
    non_finite_shared: int = 0
    product: float = 0.0
    reference_square: float = 0.0
    candidate_square: float = 0.0

    @property
    def failed(self) -> bool:
        """Return whether an element is further off than it may be."""
        return self.non_finite_mismatches > 0 or self.severity > 1

    @property
    def cosine(self) -> float:
        """Return the cosine of the angle between the two tensors; two of zeros have 1."""
        norms = math.sqrt(self.reference_square) * math.sqrt(self.candidate_square)
        if norms == 0:
            return float(self.reference_square == self.candidate_square)
        if not math.isfinite(norms):
            return math.nan
        return max(-1.0, min(1.0, self.product / norms))


def apart(
    reference: Array,
    candidate: Array,
    tolerance: Tolerance,
    scale: float,
    slack: Array | None = None,
) -> Apart:
    """Return how far a candidate is from a reference of the same shape, in pieces.

    `slack` is an error that each element may have, if that is more than the tolerance allows.
    """
    totals = Apart()
    left, right = reference.reshape(-1), candidate.reshape(-1)
    more = None if slack is None else slack.reshape(-1)
    for start in range(0, left.size, CHUNK):
        pair = left[start : start + CHUNK], right[start : start + CHUNK]
        extra = None if more is None else more[start : start + CHUNK]
        _add(totals, start, pair, (tolerance, scale, extra))
    return totals


def _add(
    totals: Apart,
    start: int,
    pair: tuple[Array, Array],
    terms: tuple[Tolerance, float, Array | None],
) -> None:
    tolerance, scale, slack = terms
    reference, candidate = (part.astype(np.float64) for part in pair)
    finite = np.isfinite(reference) & np.isfinite(candidate)
    same = (reference == candidate) | (np.isnan(reference) & np.isnan(candidate))
    totals.non_finite_mismatches += int(np.count_nonzero(~finite & ~same))
    totals.non_finite_shared += int(np.count_nonzero(~finite & same))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        distance = np.where(finite, np.abs(candidate - reference), np.where(same, 0.0, np.inf))
        if pair[0].dtype.kind in "iu":
            # Large integers that differ may be equal as f64.
            distance = np.where(pair[0] != pair[1], np.maximum(distance, 1.0), distance)
        magnitude = np.where(finite, np.maximum(np.abs(reference), scale), scale)
        allowed = tolerance.absolute + tolerance.relative * magnitude
        if slack is not None:
            allowed = np.maximum(allowed, slack)
        totals.max_rel = max(totals.max_rel, _largest_ratio(distance, magnitude))
        totals.severity = max(totals.severity, _largest_ratio(distance, allowed))
        violation = distance - allowed
    totals.max_abs = max(totals.max_abs, float(distance.max()))
    totals.violations += int(np.count_nonzero(violation > 0))
    at = int(violation.argmax())
    if violation[at] > totals.violation:
        totals.violation, totals.worst = float(violation[at]), start + at
        totals.worst_reference = float(reference[at])
        totals.worst_candidate = float(candidate[at])
    kept_reference, kept_candidate = reference[finite], candidate[finite]
    with np.errstate(over="ignore", invalid="ignore"):
        totals.product += float(np.dot(kept_reference, kept_candidate))
    totals.reference_square += _sum_of_squares(kept_reference)
    totals.candidate_square += _sum_of_squares(kept_candidate)


def _largest_ratio(distance: Floats, unit: Floats) -> float:
    """Return the largest distance / unit, where 0 / 0 is 0."""
    ratio = np.divide(distance, unit, out=np.full_like(distance, np.inf), where=unit > 0)
    return float(np.where(distance == 0, 0.0, ratio).max())


def numbers(array: Array) -> Array:
    """Return complex numbers as pairs of real ones, everything else as it is."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array).view(array.real.dtype)
    return array


def _pieces(flat: Array) -> Iterator[Floats]:
    for start in range(0, flat.size, CHUNK):
        yield flat[start : start + CHUNK].astype(np.float64)


def _sum_of_squares(values: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(values, values))


def index_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return where the element of this number lies; empty: there is none, or only one."""
    if flat < 0:
        return ()
    index: tuple[Any, ...] = np.unravel_index(flat, shape)
    return tuple(int(axis) for axis in index)
