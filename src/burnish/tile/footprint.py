"""Where a group's intermediate tiles lie in a thread's scratch memory, and how much it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from burnish.core.placing import Lifetime, Places, first_fit
from burnish.core.tensors import BITS
from burnish.tile.group import Group


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


def element_bytes(dtype: str, elements: int) -> int:
    """Return the bytes of this many elements."""
    return -(-elements * BITS[dtype] // 8)
