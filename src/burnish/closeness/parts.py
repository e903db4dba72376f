"""Outputs of which parts are known beforehand: what is wrong with one that was computed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from burnish.closeness.apart import apart, index_of
from burnish.closeness.tolerance import Tolerance
from burnish.core.arrays import Array
from burnish.core.units import error as error_text

Box = tuple[tuple[int, int], ...]
"""A half-open range per dimension."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """How far the elements of an output may be from what is known of them."""

    tolerance: Tolerance
    scale: float
    """The usual size of an element."""
    ties: float = 0.0
    """The share of elements that may differ: of whole numbers that hang on roundings."""


def finding(
    name: str, found: Array, expected: Iterable[tuple[Box, Array]], allowed: Allowed
) -> str:
    """Return what is wrong with an output, of which these parts are known; empty: nothing."""
    off, judged, most, off_by = 0, 0, -math.inf, 0.0
    where: tuple[int, ...] = ()
    for box, values in expected:
        part = found[tuple(slice(low, high) for low, high in box)]
        here = apart(values, part, allowed.tolerance, allowed.scale)
        judged += values.size
        off += here.violations
        if here.violation > most:
            most = here.violation
            place = index_of(here.worst, values.shape)
            where = tuple(low + at for (low, _), at in zip(box, place, strict=True))
            off_by = abs(here.worst_candidate - here.worst_reference)
    if off <= allowed.ties * judged:
        return ""
    return (
        f"{name}: {off:,} of {judged:,} elements are wrong, the worst at {list(where)}, "
        f"by {error_text(off_by if math.isfinite(off_by) else math.inf)}"
    )
