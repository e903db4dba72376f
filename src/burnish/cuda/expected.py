"""What outputs must hold, known before they are computed, and how far off they may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from burnish.core.arrays import Array
from burnish.core.units import error as error_text

Box = tuple[tuple[int, int], ...]
"""A half-open range per dimension."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What parts of an output must hold."""

    boxes: tuple[Box, ...]
    arrays: tuple[str, ...]
    """The names of the arrays that hold their values, box by box."""
    relative: float
    """Of an element's size, and of `scale`; 0: elements are exact."""
    scale: float
    """The usual size of an element."""
    ties: float = 0.0
    """The share of elements that may differ."""


def finding(name: str, found: Array, expected: Expected, values: Mapping[str, Array]) -> str:
    """Return what is wrong with an output; empty: nothing."""
    parts = [found[tuple(slice(low, high) for low, high in box)] for box in expected.boxes]
    wanted = [values[each] for each in expected.arrays]
    wrong, worst = _wrong(parts, wanted, expected)
    judged = sum(part.size for part in parts)
    if wrong <= expected.ties * judged:
        return ""
    return f"{name}: {wrong:,} of {judged:,} elements are wrong, by up to {error_text(worst)}"


def _wrong(parts: Sequence[Array], wanted: Sequence[Array], rules: Expected) -> tuple[int, float]:
    """Return how many elements are too far off, and by how much the worst of them is."""
    count, worst = 0, 0.0
    for part, want in zip(parts, wanted, strict=True):
        here, there = part.astype(np.float64), want.astype(np.float64)
        with np.errstate(invalid="ignore"):
            apart = np.abs(here - there)
            bad = apart > rules.relative * (np.abs(there) + rules.scale)
        # infinities and what is no number must be the same on both sides
        odd = ~(np.isfinite(here) & np.isfinite(there))
        bad = np.where(odd, ~((here == there) | (np.isnan(here) & np.isnan(there))), bad)
        count += int(np.count_nonzero(bad))
        worst = max(worst, float(np.nanmax(np.where(bad & ~odd, apart, 0.0), initial=0.0)))
    return count, worst
