"""Rows whose neighbours lie side by side in memory, and how many terms of them one program has."""

from __future__ import annotations

import math
from collections.abc import Mapping

from burnish.codegen.gpu.blocks import power_of_two
from burnish.tile.graph import TileOp
from burnish.tile.index import axes_of

Orders = Mapping[str, tuple[int, ...]]
"""Tensors whose dimensions lie in memory in another order than their own, outermost first."""

MOST_SINGLE = 8192
"""Terms of a row that one program may have at once."""
BESIDE = 16
"""Rows whose terms fill a sector of memory together, where 16-bit terms lie side by side."""
MOST_BESIDE = 64
"""Rows of one program where their terms lie side by side: 128 bytes of 16-bit floats."""
LEAST_TERMS = 128
"""Terms of a part of a sum, at least."""


def rows_beside(op: TileOp, orders: Orders) -> int:
    """Return how many rows lie side by side: one, unless terms lie further apart than they do."""
    read = op.reads[0]
    order = orders.get(read.tensor) or range(len(read.index))
    inner = next((each for d in reversed(order) if (each := axes_of(read.index[d]))), frozenset())
    if inner & set(op.reduced):
        return 1
    beside = math.prod(axis.extent for axis in inner if axis in op.spatial)
    return min(power_of_two(beside), MOST_BESIDE)
