"""Reading the operands of a block: addresses, conditions, and each element loaded once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from burnish.codegen.cpu.blocking import Blocking
from burnish.codegen.cpu.form import Access, NestForm
from burnish.codegen.cpu.loops import Arithmetic
from burnish.codegen.cpu.memory import (
    I32,
    I64,
    all_set,
    element,
    gather,
    lane_numbers,
    masked_load,
    prefetch,
    splat,
    strided_load,
)
from burnish.codegen.cpu.types import (
    FLOATS,
    HALVES,
    Builder,
    LlvmValue,
    called,
    load,
    register_type,
)
from burnish.core.array_types import array_type
from burnish.tile.expr import Guard, Number
from burnish.tile.graph import arguments_of
from burnish.tile.index import Axis, Index, axes_of

SPARE = "spare memory"
"""The name under which `bases` has an address that may always be read."""

MOST_STRIDED = 4
"""Elements apart that lanes may lie to be picked out of whole vectors."""

Coordinates = Mapping[Axis, LlvmValue]
"""Where each axis is: an i64, for the first row and lane of a block."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One vector of a block: its row, its vector, and which lanes count (None: all)."""

    row: int
    vector: int
    mask: LlvmValue | None


class Reader:
    """Loads the elements that one pass over a block needs, each once."""

    def __init__(
        self,
        builder: Builder,
        nest: NestForm,
        blocking: Blocking,
        bases: Mapping[str, LlvmValue],
        arithmetic: Arithmetic,
    ) -> None:
        self._builder = builder
        self._nest = nest
        self._blocking = blocking
        self._bases = bases
        self._arithmetic = arithmetic
        self._at: Coordinates = {}
        self._constants: Mapping[Axis, int] = {}
        self._starts: dict[int, LlvmValue] = {}
        self._loaded: dict[tuple[int, int, int], LlvmValue] = {}

    def move(self, at: Coordinates, constants: Mapping[Axis, int]) -> None:
        """Go to other coordinates; `constants` are those of reduced axes without a loop."""
        if at is not self._at:
            self._starts = {}
        self._at, self._constants = at, constants
        self._loaded = {}

    def coordinate(self, axis: Axis, spot: Spot) -> LlvmValue:
        """Return where an axis is for the first lane of a spot."""
        value = self._at[axis] if axis in self._at else I64(self._constants[axis])
        if axis == self._blocking.block:
            value = self._builder.add(value, I64(spot.row))
        if axis == self._blocking.vector:
            value = self._builder.add(value, I64(spot.vector * self._blocking.width))
        return value

    def coordinates(self, spot: Spot) -> dict[Axis, LlvmValue]:
        """Return where all axes are for the first lane of a spot."""
        return {axis: self.coordinate(axis, spot) for axis in (*self._at, *self._constants)}

    def steps(self, spot: Spot) -> LlvmValue:
        """Return the lanes' coordinates on the vector axis, as i32."""
        assert self._blocking.vector is not None
        first = self._builder.trunc(self.coordinate(self._blocking.vector, spot), I32)
        width = self._blocking.width
        start = splat(self._builder, first, width)
        steps = self._builder.add(start, lane_numbers(width))
        # lanes that do not count must not lead to elements that are not there
        return steps if spot.mask is None else self._builder.select(spot.mask, steps, start)

    def value_of(self, index: Index, spot: Spot, width: int) -> LlvmValue:
        """Return the value of an index for each lane of a spot, as i64."""
        builder, at, vector = self._builder, self.coordinates(spot), self._blocking.vector
        if width > 1 and vector in axes_of(index):
            lanes = self._arithmetic.lanes(index, at, self._vector(), self.steps(spot))
            return builder.sext(lanes, ir.VectorType(I64, width))
        return splat(builder, self._arithmetic.scalar(index, at), width)

    def read(self, position: int, spot: Spot) -> LlvmValue:
        """Return the operand of a read for one vector of the block."""
        access = self._nest.reads[position]
        axes = {axis for guard in access.guards for axis in axes_of(guard.index)}
        by_row = access.offset.depends(self._blocking.block) or self._blocking.block in axes
        if access.packed and access.packed.axis == self._blocking.block:
            by_row = True
        by_vector = self._along_vector(access) or self._blocking.vector in axes
        key = (position, spot.row if by_row else 0, spot.vector if by_vector else 0)
        if key not in self._loaded:
            found = self._load(position, access, spot)
            self._loaded[key] = called(found, f"{self._bases[access.tensor].name}.value")
        return self._loaded[key]

    def prefetch_ahead(self, turn: LlvmValue) -> None:
        """Have one line of what the next block of vectors reads at this step brought near.

        Panels of constants, and pieces of planes that are in no cache, are read once from memory
        and then again for all rows. While the rows of this block pass, the next one comes: in turn
        n, the n-th line of each step along the sum.
        """
        for position in arguments_of(self._nest.op.body):
            access = self._nest.reads[position]
            packed = access.packed
            if packed is not None and packed.axis == self._blocking.vector:
                self._prefetch(position, turn, packed.panel)
            elif self._begins_pieces(access):
                piece = self._blocking.vectors * self._blocking.width
                self._prefetch(position, self._at_most(turn, self._blocking.vectors - 1), piece)

    def _prefetch(self, position: int, line: LlvmValue, further: int) -> None:
        """Have a line of an operand brought near, counted from so many elements further on."""
        builder, access = self._builder, self._nest.reads[position]
        here = self._pointer(position, access, Spot(0, 0, None))
        ahead = builder.add(builder.mul(line, I64(self._blocking.width)), I64(further))
        prefetch(builder, element(builder, here, ahead, access.dtype))

    def _at_most(self, value: LlvmValue, most: int) -> LlvmValue:
        is_less = self._builder.icmp_signed("<", value, I64(most))
        return self._builder.select(is_less, value, I64(most))

    def _begins_pieces(self, access: Access) -> bool:
        """Say whether each step along the sum reads another far piece, the same for all rows.

        Steps of a window read again what the one before has brought near.
        """
        offset, blocking = access.offset, self._blocking
        piece = blocking.vectors * blocking.width
        side_by_side = offset.stride(blocking.vector) == 1 and not offset.rest
        steps = [abs(offset.stride(each.axis)) for each in self._nest.reduced]
        apart = min(steps, default=0) >= piece
        return access.is_far and side_by_side and apart and not offset.depends(blocking.block)

    def inside(self, guards: tuple[Guard, ...], spot: Spot) -> LlvmValue:
        """Return whether the guards hold, per lane."""
        builder, width = self._builder, self._blocking.width
        result = all_set(width) if width > 1 else ir.Constant(ir.IntType(1), 1)
        for guard in guards:
            result = builder.and_(result, self._holds(guard, spot))
        return result

    def _along_vector(self, access: Access) -> bool:
        packed = access.packed is not None and access.packed.axis == self._blocking.vector
        return packed or access.offset.depends(self._blocking.vector)

    def _holds(self, guard: Guard, spot: Spot) -> LlvmValue:
        builder, width = self._builder, self._blocking.width
        at = self.coordinates(spot)
        if self._blocking.vector in axes_of(guard.index):
            assert self._blocking.vector is not None
            value = self._arithmetic.lanes(guard.index, at, self._blocking.vector, self.steps(spot))
            low, high = (_lanes(limit, width) for limit in (guard.low, guard.high))
        else:
            value = self._arithmetic.scalar(guard.index, at)
            low, high = I64(guard.low), I64(guard.high)
        above = builder.icmp_signed(">=", value, low)
        result = builder.and_(above, builder.icmp_signed("<", value, high))
        is_vector = isinstance(result.type, ir.VectorType)
        return result if is_vector or width == 1 else splat(builder, result, width)

    def _load(self, position: int, access: Access, spot: Spot) -> LlvmValue:
        builder, width = self._builder, self._blocking.width
        pointer = self._pointer(position, access, spot)
        if width == 1:
            return self._guarded_scalar(access, pointer, spot)
        if not self._along_vector(access):
            if not access.guards:
                return splat(builder, load(builder, pointer, access.dtype), width)
            return self._guarded_splat(access, pointer, spot)
        mask = self._mask(access, spot)
        if access.packed is not None or access.offset.stride(self._blocking.vector) == 1:
            if access.offset.rest and not access.offset.steady(self._vector()):
                return self._gathered(access, spot, mask)
            if mask is None or access.packed is not None:
                return load(builder, pointer, access.dtype, width)
            otherwise = self._otherwise(access)
            return masked_load(builder, pointer, access.dtype, mask, otherwise)
        if not access.guards and access.offset.steady(self._vector()):
            stride = access.offset.stride(self._blocking.vector)
            # lanes that do not count are read too: memory goes on, and floats never trap
            if 2 <= stride <= MOST_STRIDED and (mask is None or access.dtype in FLOATS):
                return strided_load(builder, pointer, access.dtype, width, stride)
        return self._gathered(access, spot, mask)

    def _vector(self) -> Axis:
        assert self._blocking.vector is not None
        return self._blocking.vector

    def _mask(self, access: Access, spot: Spot) -> LlvmValue | None:
        if not access.guards:
            return spot.mask
        inside = self.inside(access.guards, spot)
        return inside if spot.mask is None else self._builder.and_(inside, spot.mask)

    def _otherwise(self, access: Access) -> LlvmValue:
        return number(access.otherwise, access.dtype, self._blocking.width)

    def _guarded_scalar(self, access: Access, pointer: LlvmValue, spot: Spot) -> LlvmValue:
        if not access.guards:
            return load(self._builder, pointer, access.dtype)
        inside = self.inside(access.guards, spot)
        return self._selected(access, pointer, inside)

    def _guarded_splat(self, access: Access, pointer: LlvmValue, spot: Spot) -> LlvmValue:
        """Return one element in all lanes, or `otherwise` where the guards do not hold."""
        builder, width = self._builder, self._blocking.width
        inside = self.inside(access.guards, spot)
        any_lane = builder.icmp_unsigned(
            "!=", builder.bitcast(inside, ir.IntType(width)), ir.Constant(ir.IntType(width), 0)
        )
        spread = splat(builder, self._selected(access, pointer, any_lane), width)
        return builder.select(inside, spread, self._otherwise(access))

    def _selected(self, access: Access, pointer: LlvmValue, inside: LlvmValue) -> LlvmValue:
        builder = self._builder
        safe = builder.select(inside, pointer, self._bases[SPARE])
        found = load(builder, safe, access.dtype)
        return builder.select(inside, found, number(access.otherwise, access.dtype, 1))

    def _gathered(self, access: Access, spot: Spot, mask: LlvmValue | None) -> LlvmValue:
        builder, width = self._builder, self._blocking.width
        base, offsets = self._lane_offsets(access, spot)
        chosen = mask if mask is not None else all_set(width)
        return gather(builder, base, offsets, access.dtype, chosen, self._otherwise(access))

    def _lane_offsets(self, access: Access, spot: Spot) -> tuple[LlvmValue, LlvmValue]:
        """Return an address and, per lane, how many elements behind it the lane's element is."""
        builder, width, along = self._builder, self._blocking.width, self._vector()
        kind = ir.VectorType(I32, width)
        at = self.coordinates(spot)
        start = I64(access.offset.constant)
        for axis, stride in access.offset.strides.items():
            start = builder.add(start, builder.mul(at[axis], I64(stride)))
        stride = access.offset.stride(along)
        offsets = ir.Constant(kind, [lane * stride for lane in range(width)])
        for atom, factor in access.offset.rest:
            lanes = self._arithmetic.lane_atom(atom, at, along, self.steps(spot))
            offsets = builder.add(offsets, builder.mul(lanes, ir.Constant(kind, [factor] * width)))
        return element(builder, self._bases[access.tensor], start, access.dtype), offsets

    def _pointer(self, position: int, access: Access, spot: Spot) -> LlvmValue:
        """Return the address of the first lane's element."""
        builder = self._builder
        if access.offset.rest:
            return self._uneven_pointer(access, spot)
        if position not in self._starts:
            self._starts[position] = self._start(access)
        shift = sum(access.offset.stride(axis) * n for axis, n in self._constants.items())
        for axis, step in (
            (self._blocking.block, spot.row),
            (self._blocking.vector, spot.vector * self._blocking.width),
        ):
            within = access.packed is not None and access.packed.axis == axis
            shift += step * (1 if within else access.offset.stride(axis))
        place = element(builder, self._starts[position], I64(shift), access.dtype)
        return called(place, f"{self._bases[access.tensor].name}.at")

    def _start(self, access: Access) -> LlvmValue:
        """Return the address at the block's first row and lane, reduced axes without loop at 0."""
        builder = self._builder
        offset = I64(access.offset.constant)
        for axis, stride in access.offset.strides.items():
            if axis in self._at:
                step = builder.mul(self._at[axis], I64(stride), flags=("nsw",))
                offset = builder.add(offset, step, flags=("nsw",))
        if access.packed is not None:
            packed = access.packed
            place = self._at[packed.axis]
            panel = builder.udiv(place, I64(packed.width))
            within = builder.urem(place, I64(packed.width))
            offset = builder.add(offset, builder.mul(panel, I64(packed.panel)))
            offset = builder.add(offset, within)
        return element(builder, self._bases[access.tensor], offset, access.dtype)

    def _uneven_pointer(self, access: Access, spot: Spot) -> LlvmValue:
        builder = self._builder
        at = self.coordinates(spot)
        offset = I64(access.offset.constant)
        for axis, stride in access.offset.strides.items():
            offset = builder.add(offset, builder.mul(at[axis], I64(stride)))
        for atom, factor in access.offset.rest:
            part = self._arithmetic.scalar_atom(atom, at)
            offset = builder.add(offset, builder.mul(part, I64(factor)))
        return element(builder, self._bases[access.tensor], offset, access.dtype)


def number(value: Number, dtype: str, width: int) -> LlvmValue:
    """Return a constant in all lanes."""
    kind = register_type(dtype, 1)
    if dtype in HALVES:
        plain: Number = int(np.asarray(value, array_type(dtype)).view(np.uint16))
    else:
        plain = float(value) if dtype in FLOATS else int(value)
    if width == 1:
        return ir.Constant(kind, plain)
    return ir.Constant(ir.VectorType(kind, width), [plain] * width)


def _lanes(value: int, width: int) -> LlvmValue:
    if width == 1:
        return I32(value)
    return ir.Constant(ir.VectorType(I32, width), [value] * width)
