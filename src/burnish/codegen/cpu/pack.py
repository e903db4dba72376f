"""Constants laid out as the innermost loops walk them: panel by panel, without gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from burnish.codegen.cpu.blocking import Blocking
from burnish.codegen.cpu.form import Access, NestForm, Packing, Range
from burnish.codegen.cpu.linear import Linear
from burnish.core.arrays import Array, Arrays
from burnish.tile.graph import arguments_of

SMALLEST = 64
"""Constants with fewer elements stay as they are: they are in the first cache anyway."""


def pack(
    nest: NestForm, blocking: Blocking, constants: Arrays
) -> tuple[NestForm, dict[str, Array]]:
    """Return the nest with its constant operands in panels, and these new constants."""
    packed: dict[str, Array] = {}
    reads = list(nest.reads)
    for position in arguments_of(nest.op.body):
        read = reads[position]
        along, width = _panel_axis(nest, read, blocking)
        if along is None or read.tensor not in constants or not _packable(nest, read, along, width):
            continue
        reads[position], array = _packed(nest, read, along, width, constants[read.tensor])
        packed[reads[position].tensor] = array
    return replace(nest, reads=tuple(reads)), packed


def _panel_axis(nest: NestForm, read: Access, blocking: Blocking) -> tuple[Range | None, int]:
    if not nest.reduced or blocking.horizontal:
        return None, 0
    by_axis = {each.axis: each for each in nest.spatial}
    if blocking.vector is not None and read.offset.depends(blocking.vector):
        return by_axis[blocking.vector], blocking.vectors * blocking.width
    if blocking.block is not None and read.offset.depends(blocking.block):
        return by_axis[blocking.block], blocking.rows
    return None, 0


def _packable(nest: NestForm, read: Access, along: Range, width: int) -> bool:
    if read.offset.rest or read.guards or along.step % width:
        return False
    used = [each for each in (*nest.spatial, *nest.reduced) if read.offset.depends(each.axis)]
    return int(np.prod([each.axis.extent for each in used])) >= SMALLEST


def _packed(
    nest: NestForm, read: Access, along: Range, width: int, constant: Array
) -> tuple[Access, Array]:
    """Return the access to, and the elements of, [other axes][panel][reduced axes][width]."""
    used = [each for each in (*nest.spatial, *nest.reduced) if read.offset.depends(each.axis)]
    others = [each for each in used if each in nest.spatial and each is not along]
    reduced = [each for each in used if each in nest.reduced]
    panels = -(-along.axis.extent // width)
    shape = (
        *(each.axis.extent for each in others),
        panels,
        *(each.axis.extent for each in reduced),
        width,
    )
    position = np.full(shape, read.offset.constant, dtype=np.int64)
    for place, each in enumerate([*others, None, *reduced]):
        if each is not None:
            position += read.offset.stride(each.axis) * _along(place, shape)
    step = _along(len(others), shape) * width + _along(len(shape) - 1, shape)
    position += read.offset.stride(along.axis) * step
    inside = np.broadcast_to(step < along.axis.extent, shape)
    flat = np.ascontiguousarray(constant).reshape(-1)
    elements = np.where(inside, flat[np.where(inside, position, 0)], np.zeros((), flat.dtype))
    strides = [int(np.prod(shape[place + 1 :])) for place in range(len(shape))]
    axes = [*others, None, *reduced]
    offset = Linear(
        {each.axis: strides[place] for place, each in enumerate(axes) if each is not None}
    )
    name = f"{read.tensor}|{nest.op.output}|{along.axis.name}:{width}"
    packing = Packing(along.axis, width, strides[len(others)])
    return replace(read, tensor=name, offset=offset, packed=packing), elements


def _along(place: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
    kept = [extent if at == place else 1 for at, extent in enumerate(shape)]
    return np.arange(shape[place], dtype=np.int64).reshape(kept)
