"""Planes of tensors that would fall into the same few sets of a cache lie with room between them.

The same place of 64 planes of 256×256 is 256 KB further each time: a set of the first cache, and of
the second, holds an eighth or a quarter of them, so what a tile has just written is gone when its
next nest reads it. With a little room behind each plane all sets are used alike. Only tensors that
no one outside sees are spaced out.
"""

from __future__ import annotations

from dataclasses import replace

from burnish.core.tensors import BITS
from burnish.hw.unit import UnitSpec
from burnish.tile.collisions import Layouts
from burnish.tile.graph import TensorType, TileGraph

PLANE = 2
"""Dimensions of a plane."""
LONG_TURNS = 16
"""Turns of the first cache from which on planes are long: one more is little."""


def spaced(graph: TileGraph, orders: Layouts, unit: UnitSpec) -> TileGraph:
    """Return the graph with room between the planes of tensors that need it.

    `orders` has the tensors whose dimensions lie in another order; those stay as they are.
    """
    kept = {*graph.inputs, *graph.outputs, *graph.constants, *orders}
    tensors = {
        name: kind if name in kept else replace(kind, strides=_strides(kind, unit))
        for name, kind in graph.tensors.items()
    }
    return replace(graph, tensors=tensors)


def _strides(kind: TensorType, unit: UnitSpec) -> tuple[int, ...] | None:
    """Return the strides of a tensor with room between its planes; None: it needs none."""
    width = -(-BITS[kind.dtype] // 8)
    strides, step, inside, is_spaced = [0] * len(kind.shape), 1, 0, False
    for dimension in reversed(range(len(kind.shape))):
        extent = kind.shape[dimension]
        collides = inside >= PLANE and step * width % unit.cache_sets_bytes == 0
        if collides and extent > unit.cache_ways and not is_spaced:
            step, is_spaced = step + _room_bytes(step * width, unit) // width, True
        strides[dimension] = step
        step *= extent
        inside += extent > 1
    return tuple(strides) if is_spaced and kind.size else None


def _room_bytes(plane_bytes: int, unit: UnitSpec) -> int:
    """Return the bytes between planes: a line, and behind long ones a turn of the first cache.

    A line alone would leave 64 long planes side by side in a few sets of the second cache.
    """
    is_long = plane_bytes >= LONG_TURNS * unit.cache_sets_bytes
    return unit.read_bytes + (unit.cache_sets_bytes if is_long else 0)
