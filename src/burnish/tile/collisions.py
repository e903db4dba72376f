"""Operands of products whose elements push each other out of a CPU's first cache.

A convolution of planes of 256×256 reads the same place of each plane, and all of these fall into
the same few sets of the cache. A kernel copies the tile's part of such an operand into scratch
first, where rows are never a power of two apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from burnish.core.tensors import BITS
from burnish.hw.unit import CORE, UnitSpec
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.index import Axis, coefficient
from burnish.tile.steps.substitution import is_contraction, reuse

OFTEN = 8
"""Uses of an element that pay for its copy, which costs about as much as ten uses of it."""

Layouts = Mapping[str, tuple[int, ...]]
"""The order of a tensor's dimensions in memory, where it is another than its own."""


def colliding(
    op: TileOp,
    types: Mapping[str, TensorType],
    layouts: Layouts | None = None,
    unit: UnitSpec = CORE,
) -> Iterator[int]:
    """Yield the reads of a product whose steps along the sum share a set of the cache."""
    if not is_contraction(op):
        return
    long = [axis for axis in op.reduced if axis.extent > unit.cache_ways]
    for position in arguments_of(op.body):
        read = op.reads[position]
        kind = types[read.tensor]
        order = (layouts or {}).get(read.tensor)
        steps = [stride(read, axis, kind.shape, order) for axis in long]
        width = BITS[kind.dtype] // 8
        collides = any(step and step * width % unit.cache_sets_bytes == 0 for step in steps)
        if collides and not read.guards and reuse(op, position) >= OFTEN:
            yield position


def stride(
    read: Read, axis: Axis, shape: tuple[int, ...], order: tuple[int, ...] | None = None
) -> int | None:
    """Return how many elements further in memory a step along the axis reads; None: not even."""
    dimensions = order or tuple(range(len(shape)))
    total = 0
    for place, dimension in enumerate(dimensions):
        step = coefficient(read.index[dimension], axis)
        if step is None:
            return None
        total += step * math.prod(shape[inner] for inner in dimensions[place + 1 :])
    return total
