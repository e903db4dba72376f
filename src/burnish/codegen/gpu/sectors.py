"""What memory hands over beside what was asked for: whole sectors, however little is used of them.

Lanes along which elements lie side by side share sectors of 32 bytes. Where neighbours lie further
apart, as along a row whose terms have all channels of an image between them, each has its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.core.tensors import BITS
from burnish.tile.index import Axis, Index, Mod, coefficient

SECTOR = 32
"""Bytes that the second cache gives or takes at once."""
VECTOR = 16
"""Bytes that a thread loads at once."""
WARP = 32
"""Threads that hand numbers to each other without memory."""
HANDED = 4.5
"""Operations of a lane that one number takes which a thread hands to another and adds there."""


class Sectors:
    """What a kernel's loads and stores touch, and along which axes elements lie side by side."""

    def __init__(self) -> None:
        self._seen: dict[object, list[int]] = {}
        self._beside: dict[Axis, int] = {}

    def of(self, tensor: str, offset: Index, dtype: str, blocks: Iterable[AxisBlock]) -> float:
        """Return the sectors that lanes ask for, over those that they would fill.

        1 where about all is used: elements a few apart, or another one of a sector that was asked
        for before, come with the others.
        """
        each, steps = max(BITS[dtype] // 8, 1), {block: _step(offset, block) for block in blocks}
        self._beside |= {block.axis: each for block, (step, _) in steps.items() if step == 1}
        apart = sorted((step, count) for step, count in steps.values() if step)
        places = self._seen.setdefault((tensor, offset.terms), [])
        if not apart or any(abs(offset.constant - place) * each < SECTOR for place in places):
            return 1
        places.append(offset.constant)
        same, reached = math.prod(count for step, count in steps.values() if not step), 1
        for step, count in apart:
            if step <= reached or step * each < SECTOR:
                reached = max(reached, step * count)
        inside = math.prod(min(block.axis.extent / block.size, 1.0) for block in steps)
        return 1.0 + (max(SECTOR / (reached * same * each), 1.0) - 1.0) * inside

    def handed_over(self, along: Axis, others: Iterable[AxisBlock], warps: int) -> float:
        """Return the operations of handing partial sums on where rows lie side by side.

        A thread then has terms of as many rows as it loads at once, and adds up each of them with
        the threads of its warp that have others of its terms.
        """
        rows = [block for block in others if block.axis in self._beside]
        if along in self._beside or not rows:
            return 0.0
        count = math.prod(block.size for block in rows)
        across = max(min(count * max(self._beside[row.axis] for row in rows) // VECTOR, WARP), 1)
        return HANDED * warps * WARP * max(count // across, 1) * math.log2(WARP // across)


def _step(offset: Index, block: AxisBlock) -> tuple[int, int]:
    """Return how far neighbours on an axis lie apart, and how many do; 0 apart: unknown."""
    for atom, factor in offset.terms:
        match atom:
            case Axis() if atom == block.axis:
                return abs(factor), block.size
            case Mod(of, by):
                times = abs(coefficient(of, block.axis) or 0)
                if times:
                    return abs(factor) * times, min(block.size, max(by // times, 1))
    return 0, block.size
