"""Where a group's intermediate tiles lie in a thread's scratch memory, and how much it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from burnish.core.placing import Lifetime, Places, first_fit
from burnish.core.tensors import BITS
from burnish.tile.group import Group
from burnish.tile.region import TileMap


def footprint(group: Group, sizes: Mapping[str, int], kept: Collection[str] = ()) -> Places:
    """Return where a group's scratch tensors lie.

    `sizes` has the bytes of every scratch tensor's tile, as `scratch_sizes` or a back end that
    pads rows tells them. `kept` tensors are needed from one tile to the next.
    """
    return placed(lifetimes(group, kept), sizes)


def placed(lives: Mapping[str, Lifetime], sizes: Mapping[str, int]) -> Places:
    """Return offsets such that no two tensors share bytes while both are needed."""
    # the largest first: small ones then fill what lies between
    order = sorted(lives, key=lambda each: (-sizes[each], lives[each].first))
    return first_fit(lives, sizes, order)


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
