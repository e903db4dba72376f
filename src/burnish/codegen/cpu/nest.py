"""One nest as LLVM IR: loops around a block whose accumulators stay in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import groupby, product
from math import prod
from operator import itemgetter

from llvmlite import ir

from burnish.codegen.cpu import finishing, intrinsics
from burnish.codegen.cpu.blocking import Blocking
from burnish.codegen.cpu.expression import emit
from burnish.codegen.cpu.form import NestForm, Range, Words, axis_names
from burnish.codegen.cpu.lanes import Lanes
from burnish.codegen.cpu.loops import (
    Arithmetic,
    LanesFrom,
    Limits,
    along_axis,
    counted,
    lanes_below,
    limits_of,
    once,
)
from burnish.codegen.cpu.memory import (
    I64,
    forget_loads,
    prefetch_to_write,
)
from burnish.codegen.cpu.reading import Coordinates, Reader, Spot, number
from burnish.codegen.cpu.types import FLOATS, Builder, LlvmValue, register_type
from burnish.codegen.cpu.writing import Writer
from burnish.tile.expr import Accumulated, Argument, Call, Coordinate, Expr, Inside
from burnish.tile.functions import identity
from burnish.tile.index import Axis

Loop = AbstractContextManager[Coordinates]
"""A loop around the code that is written meanwhile; gives the coordinate of each turn."""

MaskOf = Callable[[Coordinates], LlvmValue | None]
"""Tells which lanes of the vector that begins here are there; None: all."""

Panel = tuple[int, LlvmValue | None]
"""The vectors of a block, and which lanes of them are there; None: all."""

_COMBINE = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


class NestWriter:
    """Writes the code of one nest over one tile."""

    def __init__(
        self,
        builder: Builder,
        nest: NestForm,
        blocking: Blocking,
        bases: Mapping[str, LlvmValue],
        arithmetic: Arithmetic,
        limits: Limits,
    ) -> None:
        self._builder = builder
        self._nest = nest
        self._blocking = blocking
        self._arithmetic = arithmetic
        self._limits = limits
        self._writer = Writer(builder, nest, blocking, bases[nest.op.output], arithmetic)
        self._reader = Reader(builder, nest, blocking, bases, arithmetic)
        self._by_axis = {each.axis: each for each in (*nest.spatial, *nest.reduced)}
        self._called = axis_names(nest)

    def write(self) -> None:
        """Write all loops of the nest."""
        outer = self._outer_ranges()
        if not self._blocking.panels_first:
            self._outer(outer, {})
            return
        for start, vectors, mask in self._vector_blocks():
            with start as there:
                self._outer(outer, there, (vectors, mask(there)))

    def _outer_ranges(self) -> list[Range]:
        inner = {self._blocking.block, self._blocking.vector}
        return [each for each in self._nest.spatial if each.axis not in inner]

    def _outer(self, ranges: Sequence[Range], at: Coordinates, panel: Panel | None = None) -> None:
        """Write loops along these axes and all others inside, but over panels if one is given."""
        if not ranges:
            self._inner(at) if panel is None else self._rows(at, *panel)
            return
        low, high = self._limits_of(ranges[0])
        name = self._called[ranges[0].axis]
        with counted(self._builder, low, high, 1, name) as counter:
            self._outer(ranges[1:], {**at, ranges[0].axis: counter}, panel)

    def _inner(self, at: Coordinates) -> None:
        """Write the loops over blocks: rows around vectors, or vectors around rows."""
        if self._blocking.rows_first:
            for row, rows in self._row_blocks():
                with row as here:
                    for start, vectors, mask in self._vector_blocks():
                        with start as there:
                            self._block({**at, **here, **there}, rows, vectors, mask(there))
            return
        for start, vectors, mask in self._vector_blocks():
            with start as there:
                self._rows({**at, **there}, vectors, mask(there))

    def _rows(self, at: Coordinates, vectors: int, mask: LlvmValue | None) -> None:
        for row, rows in self._row_blocks():
            with row as here:
                self._block({**at, **here}, rows, vectors, mask)

    def _vector_blocks(self) -> Iterator[tuple[Loop, int, MaskOf]]:
        """Yield the loops along the vector axis, the vectors of their blocks, and their lanes."""
        blocking, vector = self._blocking, self._blocking.vector
        if vector is None or blocking.horizontal:
            yield nullcontext({}), blocking.vectors, lambda _: None
            return
        for start, vectors, mask in self._cut(self._by_axis[vector]):
            yield along_axis(vector, start), vectors, _masking(vector, mask)

    def _cut(
        self, along: Range
    ) -> Iterator[tuple[AbstractContextManager[LlvmValue], int, LanesFrom | None]]:
        """Yield the loops along the vector axis: whole blocks, whole vectors, the last lanes."""
        builder, width = self._builder, self._blocking.width
        low, high = self._limits_of(along)
        step = self._blocking.vectors * width
        name = self._called[along.axis]
        if along.fixed:
            whole = along.size // step * step
            after = along.size // width * width
            if whole:
                end = builder.add(low, I64(whole))
                yield counted(builder, low, end, step, name), self._blocking.vectors, None
            if after > whole:
                start = builder.add(low, I64(whole))
                yield once(start), (after - whole) // width, None
            if along.size > after:
                start = builder.add(low, I64(after))
                is_one = along.size == after + 1 and self._nest.op.dtype not in FLOATS
                yield once(start), 1, lanes_below(builder, width, high, is_one=is_one)
            return
        count = builder.sub(high, low)
        end = builder.add(low, builder.mul(builder.sdiv(count, I64(step)), I64(step)))
        yield counted(builder, low, end, step, name), self._blocking.vectors, None
        yield counted(builder, end, high, width, name), 1, lanes_below(builder, width, high)

    def _row_blocks(self) -> Iterator[tuple[Loop, int]]:
        """Yield the loops along the axis of rows, and the rows of their blocks."""
        blocking, builder = self._blocking, self._builder
        axis = blocking.block
        if axis is None:
            yield nullcontext({}), 1
            return
        along = self._by_axis[axis]
        low, high = self._limits_of(along)
        step = blocking.rows
        if along.fixed:
            whole = I64(along.size // step * step)
        else:
            count = builder.sub(high, low)
            whole = builder.mul(builder.sdiv(count, I64(step)), I64(step))
        end = builder.add(low, whole)
        name = self._called[axis]
        yield along_axis(axis, counted(builder, low, end, step, name)), step
        if along.fixed and along.size % step:
            yield along_axis(axis, once(end)), along.size % step
        elif not along.fixed:
            yield along_axis(axis, counted(builder, end, high, 1, name)), 1

    def _block(self, at: Coordinates, rows: int, vectors: int, mask: LlvmValue | None) -> None:
        op = self._nest.op
        if self._blocking.horizontal:
            vectors = 1
        spots = [Spot(row, v, mask) for row in range(rows) for v in range(vectors)]
        if op.combine is None:
            self._reader.move(at, {})
            self._writer.store(((spot, self._value(op.body, [spot])) for spot in spots), at)
            return
        if self._blocking.horizontal:
            totals = self._horizontal(at, rows)
        else:
            totals = self._reduced(at, spots)
        if not self._blocking.horizontal and finishing.by_rows(self._nest, self._blocking, spots):
            self._finish_by_rows(at, spots, totals)
            return
        self._reader.move(dict(at), {})
        self._writer.store(
            (
                (spot, self._value(op.finish, [spot], total) if op.finish else total)
                for spot in spots
                for total in [totals[spot.row, spot.vector]]
            ),
            at,
        )

    def _finish_by_rows(
        self, at: Coordinates, spots: Sequence[Spot], totals: Mapping[tuple[int, int], LlvmValue]
    ) -> None:
        """Put all sums down, then finish and store one row after the other."""
        builder, block, finish = self._builder, self._blocking.block, self._nest.op.finish
        assert block is not None
        assert finish is not None
        first = [spot for spot in spots if spot.row == 0]
        lanes = len(first) * self._blocking.width
        room = finishing.put_down(builder, totals, spots)
        with counted(builder, I64(0), I64(len(spots) // len(first)), 1, "row") as row:
            here = {**at, block: builder.add(at[block], row)}
            self._reader.move(here, {})
            total = finishing.taken_up(builder, room, row, lanes)
            values = finishing.parted(builder, self._value(finish, first, total), len(first))
            self._writer.store(zip(first, values, strict=True), here)

    def _reduced(self, at: Coordinates, spots: Sequence[Spot]) -> dict[tuple[int, int], LlvmValue]:
        """Return the finished reduction of each spot."""
        accumulators = {(spot.row, spot.vector): self._accumulator() for spot in spots}
        looped = [r for r in self._nest.reduced if r.axis not in self._blocking.unrolled]
        if looped and self._nest.is_far:
            # while the sum runs there is time to have its place in memory brought near
            for spot in spots:
                prefetch_to_write(self._builder, self._writer.target(at, spot))
        turn = self._turn(at) if looped else None
        with self._loops(looped, at) as inner:
            for steps in self._passes(spots):
                for constants, some in groupby(steps, key=itemgetter(0)):
                    self._reader.move(inner, constants)
                    for _, spot in some:
                        self._accumulate(accumulators[spot.row, spot.vector], spot)
                if self._blocking.shared != "kept":
                    forget_loads(self._builder)
                if turn is not None:
                    self._reader.prefetch_ahead(turn)
        return {key: self._builder.load(slot) for key, slot in accumulators.items()}

    def _turn(self, at: Coordinates) -> LlvmValue | None:
        """Return how many blocks of rows passed before this one; None where there are few."""
        blocking, builder = self._blocking, self._builder
        if blocking.block is None or blocking.rows_first:
            return None
        blocks = self._by_axis[blocking.block].size // blocking.rows
        outer = self._outer_ranges() if blocking.panels_first else []
        if blocks * prod(each.size for each in outer) < 2:
            return None
        low, _ = self._limits_of(self._by_axis[blocking.block])
        turn = builder.udiv(builder.sub(at[blocking.block], low), I64(blocking.rows))
        for each in outer[::-1]:
            before = builder.mul(builder.sub(at[each.axis], self._limits_of(each)[0]), I64(blocks))
            turn, blocks = builder.add(turn, before), blocks * each.size
        return turn

    def _horizontal(self, at: Coordinates, rows: int) -> dict[tuple[int, int], LlvmValue]:
        """Return the finished reduction of each row, whose lanes lie along a reduced axis."""
        blocking, builder = self._blocking, self._builder
        assert blocking.vector is not None
        along = self._by_axis[blocking.vector]
        slots = {(r, v): self._accumulator() for r in range(rows) for v in range(blocking.vectors)}
        others = [
            each for each in self._nest.reduced
            if each.axis not in blocking.unrolled and each is not along
        ]  # fmt: skip
        with self._loops(others, at) as inner:
            for start, vectors, mask in self._cut(along):
                with start as counter:
                    lanes = mask(counter) if mask else None
                    here = {**inner, blocking.vector: counter}
                    for constants in self._steps():
                        self._reader.move(here, constants)
                        for row, v in product(range(rows), range(vectors)):
                            self._accumulate(slots[row, v], Spot(row, v, lanes))
        totals = {}
        for row in range(rows):
            lanes = builder.load(slots[row, 0])
            for v in range(1, blocking.vectors):
                lanes = self._combined(lanes, builder.load(slots[row, v]), blocking.width)
            totals[row, 0] = finishing.across(builder, lanes, self._combined)
        return totals

    @contextmanager
    def _loops(self, ranges: Sequence[Range], at: Coordinates) -> Iterator[Coordinates]:
        if not ranges:
            yield dict(at)
            return
        first = ranges[0]
        name = self._called[first.axis]
        with (
            counted(self._builder, I64(0), I64(first.size), 1, name) as counter,
            self._loops(ranges[1:], {**at, first.axis: counter}) as inner,
        ):
            yield inner

    def _steps(self, but: Axis | None = None) -> Iterator[Mapping[Axis, int]]:
        axes = [axis for axis in self._blocking.unrolled if axis != but]
        for values in product(*(range(axis.extent) for axis in axes)):
            yield dict(zip(axes, values, strict=True))

    def _passes(self, spots: Sequence[Spot]) -> Iterator[Sequence[tuple[Mapping[Axis, int], Spot]]]:
        """Yield what is done at each step of the unrolled axes, for all spots.

        Where rows of a stencil share elements, the steps along it are one: each element is used for
        all its rows before the next one is loaded.
        """
        blocking = self._blocking
        if blocking.shared != "in turn":
            for constants in self._steps():
                yield [(constants, spot) for spot in spots]
            return
        stencil = blocking.stencil
        assert stencil is not None
        for constants in self._steps(but=stencil.axis):
            every = [
                ({**constants, stencil.axis: step}, spot)
                for step in range(stencil.axis.extent)
                for spot in spots
            ]
            yield sorted(every, key=lambda pair: stencil.element(pair[1].row, pair[0]))

    def _accumulator(self) -> LlvmValue:
        op = self._nest.op
        assert op.combine is not None
        width, dtype = self._blocking.width, op.body.dtype
        with self._builder.goto_entry_block():
            slot = self._builder.alloca(register_type(dtype, width), name=op.combine)
        start = number(identity(op.combine, dtype), dtype, width)
        self._builder.store(start, slot)
        return slot

    def _accumulate(self, slot: LlvmValue, spot: Spot) -> None:
        builder, op = self._builder, self._nest.op
        assert op.combine is not None
        if self._nest.words is not None:
            builder.store(self._dotted(self._nest.words, builder.load(slot), spot), slot)
            return
        value = self._value(op.body, [spot])
        if self._blocking.horizontal and spot.mask is not None:
            start = number(identity(op.combine, op.body.dtype), op.body.dtype, self._blocking.width)
            value = builder.select(spot.mask, value, start)
        total = self._combined(builder.load(slot), value, self._blocking.width)
        builder.store(total, slot)

    def _dotted(self, words: Words, total: LlvmValue, spot: Spot) -> LlvmValue:
        """Return a sum with the products of a word added to each lane."""
        left, right = (self._reader.read(at, spot) for at in (words.left, words.right))
        if self._blocking.horizontal and spot.mask is not None:
            left = self._builder.select(spot.mask, left, ir.Constant(left.type, None))
        dtype = self._nest.op.body.dtype
        factors = [Lanes(self._builder, value, "i32").bits(dtype) for value in (left, right)]
        return intrinsics.call(words.dot, Lanes(self._builder, total, dtype), *factors).value

    def _combined(self, total: LlvmValue, value: LlvmValue, width: int) -> LlvmValue:
        op = self._nest.op
        assert op.combine is not None
        dtype = op.body.dtype
        expr = Call(_COMBINE[op.combine], (Accumulated(dtype), Argument(0, dtype)), dtype)

        def leaf(part: Expr) -> LlvmValue:
            return total if isinstance(part, Accumulated) else value

        return emit(self._builder, expr, width, leaf)

    def _value(self, expr: Expr, spots: list[Spot], total: LlvmValue | None = None) -> LlvmValue:
        """Return an expression for some vectors side by side; `total` is what was summed."""
        scalar = total is not None and self._blocking.horizontal
        width = 1 if scalar else len(spots) * self._blocking.width

        def leaf(part: Expr) -> LlvmValue:
            if isinstance(part, Accumulated) and total is not None:
                return total
            found = [self._leaf(part, spot, scalar=scalar) for spot in spots]
            return finishing.joined(self._builder, found)

        return emit(self._builder, expr, width, leaf)

    def _leaf(self, part: Expr, spot: Spot, *, scalar: bool) -> LlvmValue:
        match part:
            case Argument(position, _):
                found = self._reader.read(position, spot)
                return finishing.first_lane(self._builder, found) if scalar else found
            case Coordinate():
                return self._reader.value_of(
                    part.index, spot, 1 if scalar else self._blocking.width
                )
            case Inside(guards, _):
                found = self._reader.inside(guards, spot)
                return finishing.first_lane(self._builder, found) if scalar else found
            case _:
                raise TypeError(f"{part} is no leaf")

    def _limits_of(self, along: Range) -> tuple[LlvmValue, LlvmValue]:
        """Return where the tile's part of a range begins and ends."""
        if along in self._nest.reduced or along.remainder:
            return I64(0), I64(along.size)
        return limits_of(self._builder, along, self._limits)


def _masking(axis: Axis, mask: LanesFrom | None) -> MaskOf:
    return (lambda at: mask(at[axis])) if mask else (lambda _: None)
