"""Storing a block: side by side, turned in registers, or one element at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir

from burnish.codegen.cpu.blocking import Blocking
from burnish.codegen.cpu.form import NestForm
from burnish.codegen.cpu.loops import Arithmetic
from burnish.codegen.cpu.memory import I32, I64, all_set, element, masked_store, scatter
from burnish.codegen.cpu.reading import Coordinates, Spot
from burnish.codegen.cpu.types import Builder, LlvmValue, called, store

FEWEST_TURNED = 4
"""Rows that are worth turning; fewer are stored element by element."""


class Writer:
    """Stores what a block of one nest has computed."""

    def __init__(
        self,
        builder: Builder,
        nest: NestForm,
        blocking: Blocking,
        base: LlvmValue,
        arithmetic: Arithmetic,
    ) -> None:
        self._builder = builder
        self._arithmetic = arithmetic
        self._blocking = blocking
        self._output = nest.output
        self._dtype = nest.op.dtype
        self._base = base

    def store(self, values: Iterable[tuple[Spot, LlvmValue]], at: Coordinates) -> None:
        """Store the finished vectors of a block, or the finished sums of its rows.

        They are asked for one by one, so that each is stored before the next one is computed.
        """
        blocking = self._blocking
        if blocking.horizontal or blocking.width == 1:
            for spot, value in values:
                store(self._builder, value, self.target(at, spot), self._dtype)
        elif self._output.stride(blocking.vector) == 1:
            for spot, value in values:
                self._side_by_side(value, at, spot)
        elif self._output.stride(blocking.block) == 1:
            self._across(list(values), at)
        else:
            for spot, value in values:
                self._scattered(value, at, spot)

    def target(self, at: Coordinates, spot: Spot) -> LlvmValue:
        """Return where the first lane of a spot is written."""
        builder, output = self._builder, self._output
        offset = I64(output.constant)
        for axis, stride in output.strides.items():
            step = builder.mul(at[axis], I64(stride), flags=("nsw",))
            offset = builder.add(offset, step, flags=("nsw",))
        for atom, factor in output.rest:
            part = builder.mul(self._arithmetic.scalar_atom(atom, at), I64(factor))
            offset = builder.add(offset, part)
        shift = spot.row * output.stride(self._blocking.block)
        if not self._blocking.horizontal:
            shift += spot.vector * self._blocking.width * output.stride(self._blocking.vector)
        start = element(builder, self._base, offset, self._dtype)
        place = element(builder, start, I64(shift), self._dtype)
        return called(place, f"{self._base.name}.at")

    def _side_by_side(self, value: LlvmValue, at: Coordinates, spot: Spot) -> None:
        pointer = self.target(at, spot)
        if spot.mask is None:
            store(self._builder, value, pointer, self._dtype)
        else:
            masked_store(self._builder, value, pointer, self._dtype, spot.mask)

    def _across(self, values: Sequence[tuple[Spot, LlvmValue]], at: Coordinates) -> None:
        """Store vectors whose lanes lie apart while rows lie side by side: turned, if whole."""
        width = self._blocking.width
        for vector in sorted({spot.vector for spot, _ in values}):
            column = [(spot, value) for spot, value in values if spot.vector == vector]
            for first in range(0, len(column), width):
                some = column[first : first + width]
                if len(some) < FEWEST_TURNED or any(spot.mask is not None for spot, _ in some):
                    for spot, value in some:
                        self._scattered(value, at, spot)
                else:
                    self._turned([value for _, value in some], self.target(at, some[0][0]))

    def _turned(self, rows: Sequence[LlvmValue], pointer: LlvmValue) -> None:
        stride = self._output.stride(self._blocking.vector)
        for lane, value in enumerate(turned(self._builder, rows)):
            place = element(self._builder, pointer, I64(lane * stride), self._dtype)
            store(self._builder, value, place, self._dtype)

    def _scattered(self, value: LlvmValue, at: Coordinates, spot: Spot) -> None:
        width, pointer = self._blocking.width, self.target(at, spot)
        stride = self._output.stride(self._blocking.vector)
        kind = ir.VectorType(I32, width)
        offsets = ir.Constant(kind, [lane * stride for lane in range(width)])
        mask = all_set(width) if spot.mask is None else spot.mask
        scatter(self._builder, value, pointer, offsets, self._dtype, mask)


def turned(builder: Builder, rows: Sequence[LlvmValue]) -> list[LlvmValue]:
    """Return, for each lane of some vectors, a vector with that lane of each of them.

    Rows are first made a power of two. Interleaving the first half of them with the second, as
    often as it takes to halve their number to one, puts the same lane of all of them side by side.
    """
    width = int(rows[0].type.count)
    count = 1 << (len(rows) - 1).bit_length()
    empty = ir.Constant(rows[0].type, ir.Undefined)
    found = [*rows, *([empty] * (count - len(rows)))]
    for _ in range(count.bit_length() - 1):
        pairs = zip(found[: count // 2], found[count // 2 :], strict=True)
        found = [
            _picked(builder, a, b, [(half * width + k) // 2 + k % 2 * width for k in range(width)])
            for a, b in pairs
            for half in (0, 1)
        ]
    lanes = width // count
    return [
        _picked(builder, vector, empty, [part * count + row for row in range(len(rows))])
        for vector in found
        for part in range(lanes)
    ]


def _picked(builder: Builder, a: LlvmValue, b: LlvmValue, lanes: Sequence[int]) -> LlvmValue:
    mask = ir.Constant(ir.VectorType(I32, len(lanes)), list(lanes))
    return builder.shuffle_vector(a, b, mask)
