"""Operands of products whose elements push each other out of a CPU's first cache.

A convolution of planes of 256×256 reads the same place of each plane, and all of these fall into
the same few sets of the cache. A kernel copies the tile's part of such an operand into scratch
first, where rows are never a power of two apart. Where there is room between the planes (`spacing`)
nothing collides, and kernels fetch ahead of what they read of each plane instead of copying it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from burnish.core.tensors import BITS
from burnish.hw.unit import CORE, UnitSpec
from burnish.tile.graph import Read, TensorType, TileOp, arguments_of
from burnish.tile.index import Axis, coefficient
from burnish.tile.steps.substitution import is_contraction, reuse

OFTEN = 8
"""Uses of an element that pay for its copy, which costs about as much as ten uses of it."""

_FEW = 4
"""Elements that lie no further apart are picked out of whole vectors."""

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
        steps = [stride(read, axis, kind, order) for axis in long]
        width = BITS[kind.dtype] // 8
        collides = any(step and step * width % unit.cache_sets_bytes == 0 for step in steps)
        if collides and not read.guards and reuse(op, position) >= OFTEN:
            yield position


def turned(
    op: TileOp,
    types: Mapping[str, TensorType],
    constants: Collection[str],
    layouts: Layouts | None = None,
) -> Iterator[int]:
    """Yield the reads of a product that kernels copy first, to have vectors of them.

    There are none along any axis of the output: as of K in Q·Kᵀ, both lie along the sum.
    """
    axes = [axis for axis in op.spatial if axis.extent > 1]
    if not is_contraction(op) or not axes:
        return
    reads = arguments_of(op.body)

    def apart(position: int, axis: Axis) -> bool:
        read = op.reads[position]
        step = stride(read, axis, types[read.tensor], (layouts or {}).get(read.tensor))
        return read.tensor not in constants and (step is None or step > _FEW)

    if not all(any(apart(position, axis) for position in reads) for axis in axes):
        return
    for position in reads:
        free = not op.reads[position].guards and reuse(op, position) >= OFTEN
        if free and apart(position, axes[-1]):
            yield position


def stride(
    read: Read, axis: Axis, kind: TensorType, order: tuple[int, ...] | None = None
) -> int | None:
    """Return how many elements further in memory a step along the axis reads; None: not even."""
    total = 0
    for index, apart in zip(read.index, strides_of(kind, order), strict=True):
        step = coefficient(index, axis)
        if step is None:
            return None
        total += step * apart
    return total


def strides_of(kind: TensorType, order: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Return a tensor's strides: its own, or those of its dimensions in an order, outermost first.

    A tensor that has strides of its own lies as they say.
    """
    if kind.strides is not None:
        return kind.strides
    strides = [0] * len(kind.shape)
    step = 1
    for dimension in reversed(order or range(len(kind.shape))):
        strides[dimension] = step
        step *= kind.shape[dimension]
    return tuple(strides)
