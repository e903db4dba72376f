"""How many lines of memory a load or a store goes through, counted for one warp of a block.

The first cache looks one line up at a time: what lies far apart takes a cycle for each lane,
however little of a line is used.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from burnish.tile.index import Atom, Axis, Div, Fetch, Index, Mod

LINE_BYTES = 128
WARP = 32
_VECTOR_BYTES = 16
"""Of one lane's load, at most."""
_FAR = 1_000_003
"""What makes places that are fetched differ, as nobody knows them."""

Blocks = tuple[tuple[Axis, int], ...]
"""The axes that the lanes of a block run along, and how many lanes each has, the innermost last."""
_Lanes = dict[Axis, np.ndarray]


def touched_lines(offset: Index, blocks: Blocks, bits: int, threads: int) -> float:
    """Return the lines that one block's elements at an offset are in, as its warps ask for them.

    A block with fewer lanes than threads is asked for by every warp.
    """
    return _touched(Index(offset.terms), blocks, bits, threads)


@lru_cache(maxsize=50_000)
def _touched(offset: Index, blocks: Blocks, bits: int, threads: int) -> float:
    elements = 1
    for _, size in blocks:
        elements *= size
    # lanes run first where neighbours lie side by side, as Triton lets them
    ordered = sorted(blocks, key=lambda each: (_step(offset, *each) != 1, -blocks.index(each)))
    beside = bool(ordered) and _step(offset, *ordered[0]) == 1
    width = min(8 * _VECTOR_BYTES // bits, max(elements // threads, 1)) if beside else 1
    count = min(elements, WARP * width)
    place, lanes = np.arange(count), _Lanes()
    for axis, size in ordered:
        middle = axis.extent // 2 // size * size
        lanes[axis] = np.minimum(middle + place % size, axis.extent - 1)
        place = place // size
    found = np.broadcast_to(_evaluated(offset, lanes), count)
    lines = len(np.unique(found * bits // (8 * LINE_BYTES)))
    return lines * max(elements / (WARP * width), threads / WARP)


def _step(offset: Index, axis: Axis, size: int) -> int:
    """Return how far two neighbours along an axis lie apart."""
    first = axis.extent // 2 // size * size
    pair = {axis: np.array([first, min(first + 1, axis.extent - 1)])}
    low, high = np.broadcast_to(_evaluated(offset, pair), 2)
    return int(high - low) if size > 1 else 0


def _evaluated(index: Index, lanes: _Lanes) -> np.ndarray:
    """Return an index for every lane; axes without lanes are at their beginning."""
    total = np.array(index.constant)
    for atom, factor in index.terms:
        total = total + _atom(atom, lanes) * factor
    return total


def _atom(atom: Atom, lanes: _Lanes) -> np.ndarray:
    match atom:
        case Axis():
            return lanes.get(atom, np.array(0))
        case Div(of, by):
            return _evaluated(of, lanes) // by
        case Mod(of, by):
            return _evaluated(of, lanes) % by
        case Fetch(_, inner, extent):
            places = sum((_evaluated(part, lanes) for part in inner), start=np.array(0))
            return places * _FAR % extent
