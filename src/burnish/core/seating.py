"""Places in a block of a given size for what is needed only for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.core.placing import Lifetime, first_fit

_TRIES = 12
"""Orders that are tried: each time, what found no place comes first."""

Interval = tuple[int, int, int]
"""The first and the last step at which something is needed, and its bytes."""


@dataclass(frozen=True, slots=True)
class Seating:
    """Where each thing begins."""

    offsets: tuple[int, ...]
    homeless: int | None
    """The first thing that ends behind the block; None: there is none."""


def seated(intervals: Sequence[Interval], limit_bytes: int) -> Seating:
    """Return places such that no two of one time overlap, inside of the block if that was found."""
    lives = {str(n): Lifetime(first, last) for n, (first, last, _) in enumerate(intervals)}
    sizes = {str(n): size for n, (_, _, size) in enumerate(intervals)}
    order = sorted(lives, key=lambda n: (-sizes[n], lives[n].first))
    by_time = sorted(lives, key=lambda n: (lives[n].first, -sizes[n]))
    best: Seating | None = None
    for number in range(_TRIES):
        tried = by_time if number == 1 else order
        offsets = first_fit(lives, sizes, tried).offsets
        outside = [n for n in tried if offsets[n] + sizes[n] > limit_bytes]
        places = tuple(offsets[str(n)] for n in range(len(intervals)))
        if not outside:
            return Seating(places, None)
        best = best or Seating(places, int(outside[0]))
        if number != 1:
            order = [*outside, *(n for n in order if n not in set(outside))]
    assert best is not None
    return best
