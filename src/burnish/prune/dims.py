"""Sizes that must stay equal, as a partition that gets finer and joins as a graph is followed.

An axis of a tensor is a row of dims whose product is its size. A reshape that takes heads apart
splits the dim of an axis into two, in every tensor that has it; an addition joins the dims of its
operands. What remains in the end are the things that can be cut independently of one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Dim:
    """A size; others may have turned out to be the same, or it to be a product of parts."""

    __slots__ = ("joined", "parts", "pinned", "size")

    def __init__(self, size: int, pinned: str = "") -> None:
        self.size = size
        self.pinned = pinned
        """Why it must stay as it is; empty: nothing is known against cutting it."""
        self.joined: Dim | None = None
        self.parts: tuple[Dim, ...] = ()

    def __repr__(self) -> str:
        return f"Dim({self.size}{', pinned' if self.pinned else ''})"


Axis = Sequence[Dim]


def axis_of(size: int, pinned: str = "") -> list[Dim]:
    """Return a new axis; one of size 1 has no dims, so that nothing is joined by stretching it."""
    return [] if size == 1 else [Dim(size, pinned)]


def leaves(axis: Iterable[Dim]) -> list[Dim]:
    """Return what an axis consists of, as finely as is known by now, outermost first."""
    found: list[Dim] = []
    for dim in axis:
        own = dim
        while own.joined is not None:
            own = own.joined
        found.extend(leaves(own.parts) if own.parts else [own])
    return found


def size_of(axis: Iterable[Dim]) -> int:
    """Return how long an axis is."""
    product = 1
    for dim in axis:
        product *= dim.size
    return product


def pin(axis: Iterable[Dim], why: str) -> None:
    """Say that an axis must stay as it is; the first reason is kept."""
    for dim in leaves(axis):
        dim.pinned = dim.pinned or why


def join(left: Axis, right: Axis, why: str) -> None:
    """Say that two axes are the same; where their parts do not fit, pin both for this reason."""
    if not _joined(left, right):
        pin((*left, *right), why)


def parted(axis: Axis, sizes: Sequence[int]) -> list[list[Dim]] | None:
    """Return the axis as consecutive axes of these sizes, split where need be; None: no such."""
    result: list[list[Dim]] = []
    taken = 0
    if _repeats(axis):
        return None
    for size in sizes:
        own, needed = 0, size
        while needed > 1:
            found = leaves(axis)
            if taken + own >= len(found):
                return None
            dim = found[taken + own]
            if needed % dim.size == 0:
                needed //= dim.size
                own += 1
            elif dim.size % needed == 0:
                _split(dim, needed)
            else:
                return None
        result.append(leaves(axis)[taken : taken + own])
        taken += own
    return result if taken == len(leaves(axis)) else None


def _repeats(axis: Axis) -> bool:
    """Return whether splitting a dim of an axis would split another one of it, too."""
    found = leaves(axis)
    return len(set(found)) < len(found)


def _joined(left: Axis, right: Axis) -> bool:
    if _repeats(left) or _repeats(right):
        return leaves(left) == leaves(right)
    done = 0
    while True:
        ours, theirs = leaves(left), leaves(right)
        if done >= min(len(ours), len(theirs)):
            return len(ours) == len(theirs)
        one, other = ours[done], theirs[done]
        if one.size == other.size:
            _merge(one, other)
            done += 1
        elif not _split_larger(one, other):
            return False


def _split_larger(one: Dim, other: Dim) -> bool:
    small, large = (one, other) if one.size < other.size else (other, one)
    if large.size % small.size:
        return False
    _split(large, small.size)
    return True


def _split(dim: Dim, outer: int) -> None:
    dim.parts = (Dim(outer, dim.pinned), Dim(dim.size // outer, dim.pinned))


def _merge(one: Dim, other: Dim) -> None:
    if one is not other:
        one.pinned = one.pinned or other.pinned
        other.joined = one
