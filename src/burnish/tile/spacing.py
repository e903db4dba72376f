"""Room between rows and planes of tensors, for the sake of caches.

The same place of 64 planes of 256×256 is 256 KB further each time: a set of the first cache, and of
the second, holds an eighth or a quarter of them, so what a tile has just written is gone when its
next nest reads it. With a little room behind each plane all sets are used alike. Long rows that end
within a line (of 1,023 elements) are filled up to it, else every vector would lie in two lines.
Only tensors that no one outside sees are spaced out.
"""

from __future__ import annotations

from dataclasses import replace

from burnish.core.tensors import BITS
from burnish.hw.unit import UnitSpec
from burnish.tile.collisions import Layouts
from burnish.tile.graph import TensorType, TileGraph

PLANE = 2
"""Dimensions of a plane."""
LONG_ROW = 16
"""Lines from which on rows are long: one more is little."""
LONG_TURNS = 16
"""Turns of the first cache from which on planes are long: one more is little."""


def spaced(graph: TileGraph, orders: Layouts, unit: UnitSpec) -> TileGraph:
    """Return the graph with room between rows or planes of the tensors that need it.

    `orders` has the tensors whose dimensions lie in another order; those stay as they are.
    """
    kept = {*graph.inputs, *graph.outputs, *graph.constants, *orders}
    tensors = {
        name: kind if name in kept else replace(kind, strides=_strides(kind, unit))
        for name, kind in graph.tensors.items()
    }
    return replace(graph, tensors=tensors)


def _strides(kind: TensorType, unit: UnitSpec) -> tuple[int, ...] | None:
    """Return the strides of a tensor with room where it needs some; None: nowhere."""
    width = -(-BITS[kind.dtype] // 8)
    strides, step, inside, is_spaced = [0] * len(kind.shape), 1, 0, False
    for dimension in reversed(range(len(kind.shape))):
        extent = kind.shape[dimension]
        room = 0 if is_spaced else _room_bytes(step * width, inside, extent, unit)
        step, is_spaced = step + room // width, is_spaced or room > 0
        strides[dimension] = step
        step *= extent
        inside += extent > 1
    return tuple(strides) if is_spaced and kind.size else None


def _room_bytes(size: int, inside: int, extent: int, unit: UnitSpec) -> int:
    """Return the bytes behind each of `extent` rows (1 dimension inside) or planes of this size."""
    line, turn = unit.read_bytes, unit.cache_sets_bytes
    if inside == 1 and extent > 1 and size % line and size >= LONG_ROW * line:
        # a row that is filled up to a whole turn would be under all others
        filled = -size % line
        return filled + (line if (size + filled) % turn == 0 else 0)
    if inside >= PLANE and extent > unit.cache_ways and size % turn == 0:
        # a line alone would leave many long planes side by side in a few sets of the second cache
        return line + (turn if size >= LONG_TURNS * turn else 0)
    return 0
