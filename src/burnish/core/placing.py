"""Places in one block of memory for what is needed only for a while."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector that a CPU loads at once."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """From which step to which one something is needed, both included."""

    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Say whether both are needed at some step."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class Places:
    """Where each thing begins, and how much memory holds them all."""

    bytes: int
    offsets: Mapping[str, int]


def first_fit(
    lives: Mapping[str, Lifetime], sizes: Mapping[str, int], order: Iterable[str]
) -> Places:
    """Return each thing, in this order, at the lowest place that is free during all of its life."""
    offsets: dict[str, int] = {}
    end = 0
    for name in order:
        rivals = (other for other in offsets if lives[other].overlaps(lives[name]))
        taken = sorted((offsets[each], offsets[each] + aligned(sizes[each])) for each in rivals)
        offsets[name] = _first_gap(taken, aligned(sizes[name]))
        end = max(end, offsets[name] + aligned(sizes[name]))
    return Places(end, offsets)


def aligned(size: int) -> int:
    """Return the bytes of whole cache lines that hold so many."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _first_gap(taken: list[tuple[int, int]], size: int) -> int:
    start = 0
    for low, high in taken:
        if start + size <= low:
            return start
        start = max(start, high)
    return start
