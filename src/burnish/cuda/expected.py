"""What outputs must hold, known before they are computed, and how far off they may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.closeness import parts
from burnish.closeness.parts import Allowed, Box
from burnish.closeness.tolerance import Tolerance
from burnish.core.arrays import Array


@dataclass(frozen=True, slots=True)
class Expected:
    """What parts of an output must hold."""

    boxes: tuple[Box, ...]
    arrays: tuple[str, ...]
    """The names of the arrays that hold their values, box by box."""
    relative: float
    """Of the larger of an element and `scale`; 0: elements are exact."""
    scale: float
    """The usual size of an element."""
    ties: float = 0.0
    """The share of elements that may differ."""


def finding(name: str, found: Array, expected: Expected, values: Mapping[str, Array]) -> str:
    """Return what is wrong with an output; empty: nothing."""
    wanted = zip(expected.boxes, (values[each] for each in expected.arrays), strict=True)
    tolerance = Tolerance(0.0, expected.relative, "known where the kernels were written")
    return parts.finding(name, found, wanted, Allowed(tolerance, expected.scale, expected.ties))
