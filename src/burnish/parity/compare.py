"""Compare tensors, element by element, in pieces that keep the memory small."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.array_types import name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.units import count, error
from burnish.parity.report import TensorDiff
from burnish.parity.tolerances import Tolerance, Tolerances, is_float

__all__ = ["TensorDiff", "compare", "compare_tensor"]

_CHUNK = 1 << 18
"""Elements compared at a time: 2 MiB for each array of f64 at work."""

_QUARTILE_SAMPLE = 1 << 16
"""Elements that the quartile of a tensor is estimated from."""

_FILL_FACTOR = 1e4
"""How far beyond the lower quartile a value says nothing about the tensor's typical magnitude."""

_SCORES_WIDTH = 16
"""Narrower rows are rarely scores of classes, and their largest element is often a tie."""

Floats = NDArray[np.float64]


def compare(reference: Arrays, candidate: Arrays, tolerances: Tolerances) -> tuple[TensorDiff, ...]:
    """Return one diff for each reference tensor; one that the candidate lacks does not pass."""
    return tuple(
        compare_tensor(name, array, candidate[name], tolerances)
        if name in candidate
        else _failed(name, array, "the candidate has no output of this name")
        for name, array in reference.items()
    )


def compare_tensor(
    name: str,
    reference: Array,
    candidate: Array,
    tolerances: Tolerances | Tolerance,
    *,
    dtype: str | None = None,
    slack: Array | None = None,
) -> TensorDiff:
    """Return how far one tensor is from its reference.

    `dtype` is what the candidate must be, where the reference is held in a wider type; `slack`
    is an error that each element may have, if that is more than the tolerance allows.
    """
    dtype = dtype or name_of(reference)
    other = _other_kind(reference, candidate, dtype)
    if other:
        return _failed(name, reference, other)
    tolerance = tolerances if isinstance(tolerances, Tolerance) else tolerances.of(name, dtype)
    scale = scale_of(reference) if is_float(dtype) else 0.0
    totals = _totals(*_comparable(reference, candidate, dtype), tolerance, scale, slack)
    shape = (*reference.shape, 2) if dtype.startswith("c") else reference.shape
    failed = totals.non_finite_mismatches > 0 or totals.severity > 1
    return TensorDiff(
        name, dtype, reference.size,
        max_abs=totals.max_abs,
        max_rel=totals.max_rel,
        cosine=totals.cosine,
        top1_agreement=_top1_agreement(reference, candidate, dtype),
        worst_index=_index(totals.worst, shape),
        worst_reference=totals.worst_reference,
        worst_candidate=totals.worst_candidate,
        non_finite_mismatches=totals.non_finite_mismatches,
        passed=not failed,
        reason=_reason(totals, shape, dtype) if failed else "",
        severity=totals.severity,
        non_finite_shared=totals.non_finite_shared,
        scale=scale,
        tolerance=tolerance,
    )  # fmt: skip


def _other_kind(reference: Array, candidate: Array, dtype: str) -> str:
    """Return why a tensor cannot even be compared; empty: it can."""
    if name_of(candidate) != dtype:
        return f"the element type is {name_of(candidate)}, the reference has {dtype}"
    if candidate.shape != reference.shape:
        return f"the shape is {list(candidate.shape)}, the reference has {list(reference.shape)}"
    return ""


def scale_of(reference: Array) -> float:
    """Return the typical magnitude of a tensor: see the module `tolerances`."""
    flat = _numbers(reference).reshape(-1)
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
class _Totals:
    """What is known after some pieces; starts as what an empty tensor has."""

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
    def cosine(self) -> float:
        """Return the cosine of the angle between the two tensors; two of zeros have 1."""
        norms = math.sqrt(self.reference_square) * math.sqrt(self.candidate_square)
        if norms == 0:
            return float(self.reference_square == self.candidate_square)
        if not math.isfinite(norms):
            return math.nan
        return max(-1.0, min(1.0, self.product / norms))


def _totals(
    reference: Array, candidate: Array, tolerance: Tolerance, scale: float, slack: Array | None
) -> _Totals:
    totals = _Totals()
    left, right = reference.reshape(-1), candidate.reshape(-1)
    more = None if slack is None else slack.reshape(-1)
    for start in range(0, left.size, _CHUNK):
        pair = left[start : start + _CHUNK], right[start : start + _CHUNK]
        extra = None if more is None else more[start : start + _CHUNK]
        _add(totals, start, pair, (tolerance, scale, extra))
    return totals


def _add(
    totals: _Totals,
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


def _top1_agreement(reference: Array, candidate: Array, dtype: str) -> float | None:
    """Return in how many rows the largest element is the same one.

    Scores are tensors of floats with at least two axes, the last of them at least 16 wide;
    rows of hidden states are of this form too, where the figure does no harm.
    """
    wide = reference.ndim >= 2 and reference.shape[-1] >= _SCORES_WIDTH
    if not wide or reference.size == 0 or not is_float(dtype) or dtype.startswith("c"):
        return None
    width = reference.shape[-1]
    left, right = reference.reshape(-1, width), candidate.reshape(-1, width)
    rows = max(1, _CHUNK // width)
    equal = sum(
        _same_largest(left[at : at + rows], right[at : at + rows])
        for at in range(0, len(left), rows)
    )
    return equal / len(left)


def _same_largest(left: Array, right: Array) -> int:
    first, second = (np.argmax(rows.astype(np.float64), axis=-1) for rows in (left, right))
    return int(np.count_nonzero(first == second))


def _reason(totals: _Totals, shape: tuple[int, ...], dtype: str) -> str:
    total = math.prod(shape)
    if totals.non_finite_mismatches:
        amount = f"{totals.non_finite_mismatches:,} of {count(total, 'element')}"
        return f"{amount} NaN or infinite on one side only"
    where = list(_index(totals.worst, shape))
    amount = f"{totals.violations:,} of {count(total, 'element')} out of tolerance"
    if dtype == "str":
        return f"{amount}, the first at {where}"
    found = f"{totals.worst_candidate:.6g}, the reference has {totals.worst_reference:.6g}"
    return f"{amount}, the worst at {where}: {found} (off by {error(totals.max_abs)} at most)"


def _failed(name: str, reference: Array, reason: str) -> TensorDiff:
    """Return the diff of a tensor that cannot be compared element by element."""
    return TensorDiff(
        name=name, dtype=name_of(reference), elements=reference.size, max_abs=math.inf,
        max_rel=math.inf, cosine=math.nan, top1_agreement=None, worst_index=(),
        worst_reference=math.nan, worst_candidate=math.nan, non_finite_mismatches=0,
        passed=False, reason=reason, severity=math.inf,
    )  # fmt: skip


def _comparable(reference: Array, candidate: Array, dtype: str) -> tuple[Array, Array]:
    """Return two arrays that NumPy can subtract; texts become 0, and 1 where they differ."""
    if dtype == "str":
        differs = (reference != candidate).astype(np.int8)
        return np.zeros_like(differs), differs
    return _numbers(reference), _numbers(candidate)


def _numbers(array: Array) -> Array:
    """Return complex numbers as pairs of real ones, everything else as it is."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array).view(array.real.dtype)
    return array


def _pieces(flat: Array) -> Iterator[Floats]:
    for start in range(0, flat.size, _CHUNK):
        yield flat[start : start + _CHUNK].astype(np.float64)


def _sum_of_squares(values: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(values, values))


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    if flat < 0:
        return ()
    index: tuple[Any, ...] = np.unravel_index(flat, shape)
    return tuple(int(axis) for axis in index)
