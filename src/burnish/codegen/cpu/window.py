"""Elements that neighbouring rows of a block share, as in a depth-wise convolution's window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from burnish.codegen.cpu.form import Access, NestForm, Range
from burnish.codegen.cpu.linear import Linear
from burnish.tile.graph import arguments_of
from burnish.tile.index import Axis

LONGEST_WINDOW = 11
"""Steps of a window that may be written out, so that rows share what they read: 9×9 taps in loops
took half as long again."""

Shared = Literal["kept", "in turn", "loaded anew"]
"""What becomes of elements that several rows of a stencil need: all stay in registers, each is
used for all its rows before the next one, or each row loads its own."""


@dataclass(frozen=True, slots=True)
class Stencil:
    """A reduced axis along which rows read what their neighbours have read."""

    axis: Axis
    row_step: int
    """How far apart a row and the next read; in elements, as the next one."""
    axis_step: int

    def element(self, row: int, constants: Mapping[Axis, int]) -> int:
        """Return which element a row reads at a step, counted from the first of all."""
        return row * self.row_step + constants[self.axis] * self.axis_step


def window_of(nest: NestForm, block: Range) -> Range | None:
    """Return the reduced axis along which the rows of a block read what their neighbours read.

    None where a sum runs along anything but windows (over channels, too): that is walked as it lies
    in memory.
    """
    reads = [read.offset for read in _images(nest)]
    steps = {each.axis: [offset.stride(each.axis) for offset in reads] for each in nest.reduced}
    along = [[offset.stride(each.axis) for offset in reads] for each in nest.spatial]
    if not reads or not all(own in along and any(own) for own in steps.values()):
        return None
    rows = [offset.stride(block.axis) for offset in reads]
    found = (each for each in nest.reduced if steps[each.axis] == rows)
    return next((each for each in found if each.size <= LONGEST_WINDOW), None)


def in_turn(nest: NestForm, along: Range, shape: tuple[int, int], window: Axis) -> int:
    """Return the registers that a block takes whose rows share each element in turn."""
    rows, vectors = shape
    constants = [read for read in _body(nest) if read.constant]
    weights = sum(vectors if read.offset.depends(along.axis) else 1 for read in constants)
    return rows * vectors + weights * window.extent + vectors


def sharing(
    nest: NestForm,
    along: Range,
    block: Range | None,
    shape: tuple[int, int],
    unrolled: tuple[Axis, ...],
    registers: int,
) -> tuple[Shared, Stencil | None]:
    """Return how elements that rows share are read.

    LLVM loads an element once for all unrolled steps. Where registers cannot keep as many, it would
    store and load them instead; and where each is a whole vector, loading it once is worth more
    than where it is one number.
    """
    rows, vectors = shape
    if block is None or along in nest.reduced:
        return "kept", None
    reads = [read.offset for read in _body(nest)]
    found = [(r, stencil) for r in reads if (stencil := _stencil(r, block, rows, unrolled))]
    if not found:
        return "kept", None
    offset, stencil = found[0]
    copies = vectors if offset.depends(along.axis) else 1
    elements = copies * rows * math.prod(axis.extent for axis in unrolled)
    if rows * vectors + elements + vectors <= registers:
        return "kept", None
    if in_turn(nest, along, shape, stencil.axis) <= registers:
        return "in turn", stencil
    return "loaded anew", None


def _stencil(offset: Linear, block: Range, rows: int, unrolled: tuple[Axis, ...]) -> Stencil | None:
    """Return the unrolled axis along which rows of a block share elements of a read."""
    row_step = offset.stride(block.axis)
    for axis in reversed(unrolled):
        step = offset.stride(axis)
        if row_step and step:
            meeting = math.lcm(row_step, step)
            if meeting < abs(step) * axis.extent and meeting < abs(row_step) * rows:
                return Stencil(axis, row_step, step)
    return None


def _body(nest: NestForm) -> list[Access]:
    return [nest.reads[position] for position in arguments_of(nest.op.body)]


def _images(nest: NestForm) -> list[Access]:
    return [read for read in _body(nest) if not read.constant]
