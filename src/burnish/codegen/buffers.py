"""Where intermediate tensors lie in one block of memory: dead ones make room for later ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""A cache line, and the widest vector."""

SLACK_BYTES = 256
"""Behind every buffer: a kernel may load whole vectors, also with a stride, where it ends."""


@dataclass(frozen=True, slots=True)
class Uses:
    """What one step reads and writes of the tensors that share memory."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """A buffer that is needed from one step to another, both included."""

    name: str
    bytes: int
    """With its slack, in whole cache lines."""
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Arena:
    """Where each buffer begins, and how much memory holds them all."""

    offsets: Mapping[str, int]
    bytes: int


def arena(steps: Sequence[Uses], sizes: Mapping[str, int]) -> Arena:
    """Return places for the tensors in `sizes` (bytes) such that no two overlap while both live.

    What a step writes never lies where something lies that it reads.
    """
    lives = lifetimes(steps, sizes)
    by_size = sorted(lives, key=lambda life: (-life.bytes, life.first, life.name))
    by_time = sorted(lives, key=lambda life: (life.first, -life.bytes, life.name))
    return min((first_fit(by_size), first_fit(by_time)), key=lambda found: found.bytes)


def lifetimes(steps: Sequence[Uses], sizes: Mapping[str, int]) -> tuple[Life, ...]:
    """Return from which step to which each tensor is needed; one that is never used needs none."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        for name in (*step.reads, *step.writes):
            first.setdefault(name, number)
            last[name] = number
    return tuple(
        Life(name, padded(size), first[name], last[name])
        for name, size in sizes.items()
        if name in first
    )


def padded(size: int) -> int:
    """Return the bytes to keep for a buffer: its own, the slack, and up to a whole line."""
    return -(-(size + SLACK_BYTES) // ALIGNMENT) * ALIGNMENT


def first_fit(lives: Iterable[Life]) -> Arena:
    """Return each buffer at the lowest place that is free during all of its life, in this order."""
    placed: list[tuple[int, Life]] = []
    end = 0
    for life in lives:
        offset = 0
        for start, other in placed:
            if life.first > other.last or other.first > life.last:
                continue
            if offset + life.bytes <= start:
                break
            offset = max(offset, start + other.bytes)
        placed.append((offset, life))
        placed.sort(key=lambda pair: pair[0])
        end = max(end, offset + life.bytes)
    return Arena({life.name: offset for offset, life in placed}, end)


def most_live(lives: Sequence[Life]) -> int:
    """Return the bytes that are needed at once at the worst step: no arena can be smaller."""
    steps = {life.first for life in lives}
    alive = (sum(life.bytes for life in lives if life.first <= step <= life.last) for step in steps)
    return max(alive, default=0)
