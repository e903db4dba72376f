"""Where intermediate tensors lie in one block of memory: dead ones make room for later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core.placing import Lifetime, Places, aligned, first_fit

SLACK_BYTES = 256
"""Behind every buffer: a kernel may load whole vectors, also with a stride, where it ends."""


@dataclass(frozen=True, slots=True)
class Uses:
    """What one step reads and writes of the tensors that share memory."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def arena(steps: Sequence[Uses], sizes: Mapping[str, int]) -> Places:
    """Return places for the tensors in `sizes` (bytes) such that no two overlap while both live.

    What a step writes never lies where something lies that it reads.
    """
    lives = lifetimes(steps, sizes)
    needed = {name: padded(sizes[name]) for name in lives}
    orders = (
        sorted(lives, key=lambda each: (-needed[each], lives[each].first, each)),
        sorted(lives, key=lambda each: (lives[each].first, -needed[each], each)),
    )
    return min((first_fit(lives, needed, order) for order in orders), key=lambda one: one.bytes)


def lifetimes(steps: Sequence[Uses], sizes: Mapping[str, int]) -> dict[str, Lifetime]:
    """Return from which step to which each tensor is needed; one that is never used needs none."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        for name in (*step.reads, *step.writes):
            first.setdefault(name, number)
            last[name] = number
    return {name: Lifetime(first[name], last[name]) for name in sizes if name in first}


def padded(size: int) -> int:
    """Return the bytes to keep for a buffer: its own, the slack, and up to a whole line."""
    return aligned(size + SLACK_BYTES)
