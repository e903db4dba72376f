"""Compare tensors: what is said of how far they are apart."""

from __future__ import annotations

import math

import numpy as np

from burnish.closeness.apart import CHUNK, Apart, apart, index_of, numbers, scale_of
from burnish.closeness.tolerance import Tolerance, is_float
from burnish.core.array_types import name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.units import count, error
from burnish.parity.report import TensorDiff
from burnish.parity.tolerances import Tolerances

__all__ = ["TensorDiff", "compare", "compare_tensor"]

_SCORES_WIDTH = 16
"""Narrower rows are rarely scores of classes, and their largest element is often a tie."""


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
    totals = apart(*_comparable(reference, candidate, dtype), tolerance, scale, slack)
    shape = (*reference.shape, 2) if dtype.startswith("c") else reference.shape
    return TensorDiff(
        name, dtype, reference.size,
        max_abs=totals.max_abs,
        max_rel=totals.max_rel,
        cosine=totals.cosine,
        top1_agreement=_top1_agreement(reference, candidate, dtype),
        worst_index=index_of(totals.worst, shape),
        worst_reference=totals.worst_reference,
        worst_candidate=totals.worst_candidate,
        non_finite_mismatches=totals.non_finite_mismatches,
        passed=not totals.failed,
        reason=_reason(totals, shape, dtype) if totals.failed else "",
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
    rows = max(1, CHUNK // width)
    equal = sum(
        _same_largest(left[at : at + rows], right[at : at + rows])
        for at in range(0, len(left), rows)
    )
    return equal / len(left)


def _same_largest(left: Array, right: Array) -> int:
    first, second = (np.argmax(rows.astype(np.float64), axis=-1) for rows in (left, right))
    return int(np.count_nonzero(first == second))


def _reason(totals: Apart, shape: tuple[int, ...], dtype: str) -> str:
    total = math.prod(shape)
    if totals.non_finite_mismatches:
        amount = f"{totals.non_finite_mismatches:,} of {count(total, 'element')}"
        return f"{amount} NaN or infinite on one side only"
    where = list(index_of(totals.worst, shape))
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
    return numbers(reference), numbers(candidate)
