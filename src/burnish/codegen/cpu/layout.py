"""Where the tensors of a group are: layouts of scratch buffers follow the vectors of their readers.

Nests are visited from the anchor back. Each chooses the axis its vectors run along; what it reads
from scratch is laid out with that dimension innermost, so that those vectors are side by side, and
so that bytes which are multiplied in words are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from burnish.codegen.cpu.alias import insertions
from burnish.codegen.cpu.blocking import vector_axis
from burnish.codegen.cpu.form import Strided, form
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.words import word_read
from burnish.tile.collisions import strides_of
from burnish.tile.graph import TensorType, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, coefficient
from burnish.tile.region import Box, TileMap

LINE = 16
"""Elements to which rows of scratch buffers are rounded: one cache line of f32."""


def places(
    group: Group,
    tiles: TileMap,
    types: Mapping[str, TensorType],
    layouts: Mapping[str, tuple[int, ...]],
    constants: Collection[str],
    target: InstructionSet,
) -> dict[str, Strided]:
    """Return where every tensor that the group touches is."""
    result = {}
    for name in (*group.inputs, *group.outputs):
        strides = strides_of(types[name], layouts.get(name))
        result[name] = Strided(types[name].dtype, strides, name in constants)
    innermost: dict[str, int] = {}
    scratch = set(group.scratch)
    inside = insertions(group)
    for op in reversed(group.ops):
        box = tiles.boxes[op.output]
        if op.output in inside:
            result[op.output] = result[inside[op.output].container.output]
        elif op.output in scratch:
            inner = innermost.get(op.output)
            if inner is None:
                inner = _own_wish(op, box, result, target)
            result[op.output] = Strided(op.dtype, scratch_strides(box, inner), scratch=True)
        for name, dimension in _wishes(op, box, result, scratch, target):
            innermost.setdefault(name, dimension)
    return result


def scratch_strides(box: Box, inner: int) -> tuple[int, ...]:
    """Return strides with `inner` innermost, and the outer ones an odd number of cache lines.

    Rows a power of two apart would all fall into a few sets of the first cache.
    """
    if not box:
        return ()
    order = [dimension for dimension in range(len(box)) if dimension != inner]
    strides = [0] * len(box)
    step = 1
    dense = [inner, *order[::-1][:1]] if inner == len(box) - 1 else [inner]
    for dimension in (inner, *reversed(order)):
        if dimension not in dense and box[dimension].size > 1:
            step = _odd_lines(step)
        strides[dimension] = step
        step *= box[dimension].size
    return tuple(strides)


def scratch_elements(box: Box, strides: tuple[int, ...]) -> int:
    """Return how many elements a scratch buffer spans."""
    return 1 + sum((span.size - 1) * step for span, step in zip(box, strides, strict=True))


def _odd_lines(step: int) -> int:
    lines = math.ceil(step / LINE)
    if step < LINE * 4:
        return step
    return LINE * (lines if lines % 2 else lines + 1)


def _guess(op: TileOp, known: Mapping[str, Strided], own: Strided) -> dict[str, Strided]:
    """Return places for one nest, with what is not placed yet assumed to suit it."""
    guessed = dict(known)
    guessed[op.output] = known.get(op.output, own)
    for read in op.reads:
        if read.tensor not in guessed:
            strides = tuple(1 for _ in read.index)
            guessed[read.tensor] = Strided("f32", strides)
    return guessed


def _vector(
    op: TileOp, box: Box, known: Mapping[str, Strided], target: InstructionSet
) -> Axis | None:
    # while the output has no place, writing along any axis is as good
    own = Strided(op.dtype, tuple(1 for _ in op.spatial))
    nest = form(op, box, _guess(op, known, own))
    found = vector_axis(nest, target.lanes, target.unit)
    return found.parts[-1] if found else None


def _own_wish(op: TileOp, box: Box, known: Mapping[str, Strided], target: InstructionSet) -> int:
    axis = _vector(op, box, known, target)
    return op.spatial.index(axis) if axis in op.spatial else max(len(op.spatial) - 1, 0)


def _wishes(
    op: TileOp, box: Box, known: Mapping[str, Strided], scratch: set[str], target: InstructionSet
) -> list[tuple[str, int]]:
    """Return the dimension of each scratch tensor that the nest's vectors run along."""
    first = _word_wishes(op, scratch)
    axis = _vector(op, box, known, target)
    if axis is None:
        return first
    in_body = set(arguments_of(op.body))
    ordered = sorted(enumerate(op.reads), key=lambda pair: pair[0] not in in_body)
    return first + [
        (read.tensor, dimension)
        for _, read in ordered
        if read.tensor in scratch
        for dimension, index in enumerate(read.index)
        if coefficient(index, axis) == 1
    ]


def _word_wishes(op: TileOp, scratch: set[str]) -> list[tuple[str, int]]:
    """Return the dimension of the operand along which bytes are multiplied by words."""
    found = word_read(op)
    read = None if found is None else op.reads[found[0]]
    if found is None or read is None or read.tensor not in scratch:
        return []
    whole = [axis for axis in op.reduced if axis.extent % found[1] == 0]
    along = max(whole, key=lambda axis: axis.extent, default=None)
    return [
        (read.tensor, dimension)
        for dimension, index in enumerate(read.index)
        if along is not None and coefficient(index, along) == 1
    ]
