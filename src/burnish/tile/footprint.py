"""Where a group's intermediate tiles lie in a thread's scratch memory, and how much it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from burnish.core.tensors import BITS
from burnish.tile.group import Group
from burnish.tile.region import TileMap

ALIGNMENT = 64
"""Bytes: a cache line, and the longest vector that a CPU loads at once."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """The scratch memory of one thread: its size, and where each tensor's tile starts."""

    bytes: int
    offsets: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Lifetime:
    """From which nest of a group to which one a tensor is needed, both included."""

    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Say whether both are needed at some nest."""
        return self.first <= other.last and other.first <= self.last


def footprint(group: Group, sizes: Mapping[str, int], kept: Collection[str] = ()) -> Footprint:
    """Return where a group's scratch tensors lie.

    `sizes` has the bytes of every scratch tensor's tile, as `scratch_sizes` or a back end that
    pads rows tells them. `kept` tensors are needed from one tile to the next.
    """
    return placed(lifetimes(group, kept), sizes)


def placed(lives: Mapping[str, Lifetime], sizes: Mapping[str, int]) -> Footprint:
    """Return offsets such that no two tensors share bytes while both are needed."""
    offsets: dict[str, int] = {}
    # the largest first: small ones then fill what lies between
    for name in sorted(lives, key=lambda each: (-sizes[each], lives[each].first)):
        rivals = [other for other in offsets if lives[other].overlaps(lives[name])]
        taken = sorted((offsets[each], offsets[each] + _aligned(sizes[each])) for each in rivals)
        offsets[name] = _first_gap(taken, _aligned(sizes[name]))
    end = max((offsets[name] + _aligned(sizes[name]) for name in offsets), default=0)
    return Footprint(end, {name: offsets[name] for name in lives})


def lifetimes(group: Group, kept: Collection[str] = ()) -> dict[str, Lifetime]:
    """Return when each scratch tensor of a group is needed, in order of the nests."""
    scratch = set(group.scratch)
    last: dict[str, int] = {}
    for position, op in enumerate(group.ops):
        last[op.output] = position
        last |= {name: position for name in op.inputs if name in scratch}
    always = Lifetime(0, len(group.ops) - 1)
    return {
        op.output: always if op.output in kept else Lifetime(position, last[op.output])
        for position, op in enumerate(group.ops)
        if op.output in scratch
    }


def scratch_sizes(group: Group, tile_map: TileMap) -> dict[str, int]:
    """Return the bytes of every scratch tensor's tile, elements densely packed."""
    scratch = set(group.scratch)
    return {
        op.output: element_bytes(op.dtype, tile_map.elements(op.output))
        for op in group.ops
        if op.output in scratch
    }


def element_bytes(dtype: str, elements: int) -> int:
    """Return the bytes of this many elements."""
    return -(-elements * BITS[dtype] // 8)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _first_gap(taken: list[tuple[int, int]], size: int) -> int:
    start = 0
    for low, high in taken:
        if start + size <= low:
            return start
        start = max(start, high)
    return start
