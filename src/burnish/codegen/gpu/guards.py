"""Conditions of reads over a kernel's own axes: those that need not be tested are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from burnish.tile.expr import Guard
from burnish.tile.graph import Read
from burnish.tile.index import Axis, Index, bounds, substitute

Bind = Mapping[Axis, Index]
"""What the axes of a nest are, over the blocks of the kernel."""


def bound_guards(guards: Iterable[Guard], bind: Bind) -> tuple[Guard, ...] | None:
    """Return guards over the kernel's axes, but those that always hold; None: one never does."""
    result = []
    for guard in guards:
        index = substitute(guard.index, bind)
        low, high = bounds(index)
        if high < guard.low or low >= guard.high:
            return None
        if low < guard.low or high >= guard.high:
            result.append(Guard(index, guard.low, guard.high))
    return tuple(result)


def ranges(read: Read, shape: tuple[int, ...]) -> Iterator[Guard]:
    """Yield the conditions that keep an index inside of its tensor, where nothing else does."""
    for index, extent in zip(read.index, shape, strict=True):
        low, high = bounds(index)
        if (low < 0 or high >= extent) and not any(
            _holds(guard, index, extent) for guard in read.guards
        ):
            yield Guard(index, 0, extent)


def _holds(guard: Guard, index: Index, extent: int) -> bool:
    """Say whether a guard keeps an index inside of a dimension."""
    shift = index - guard.index
    low, high = guard.low + shift.constant, guard.high + shift.constant
    return not shift.terms and low >= 0 and high <= extent
