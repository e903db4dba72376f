"""Loops and index arithmetic in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from llvmlite import ir

from burnish.codegen.cpu.form import Range, Strided
from burnish.codegen.cpu.linear import linear
from burnish.codegen.cpu.memory import I32, I64, element, first_lane, lane_numbers, splat
from burnish.codegen.cpu.types import Builder, LlvmType, LlvmValue, load
from burnish.tile.index import Atom, Axis, Div, Fetch, Index, Mod


@contextmanager
def counted(
    builder: Builder, low: LlvmValue, high: LlvmValue, step: int, name: str = "n"
) -> Iterator[LlvmValue]:
    """Write a loop: the block runs for low, low + step … below high; it yields the counter."""
    function = builder.function
    before = builder.block
    head = function.append_basic_block(f"{name}.loop")
    body = function.append_basic_block(f"{name}.body")
    after = function.append_basic_block(f"{name}.after")
    builder.branch(head)
    builder.position_at_end(head)
    counter = builder.phi(I64, name=name)
    counter.add_incoming(low, before)
    builder.cbranch(builder.icmp_signed("<", counter, high), body, after)
    builder.position_at_end(body)
    yield counter
    following = builder.add(counter, I64(step), name=f"{name}.next", flags=("nsw",))
    counter.add_incoming(following, builder.block)
    builder.branch(head)
    builder.position_at_end(after)


@contextmanager
def once(start: LlvmValue) -> Iterator[LlvmValue]:
    """Write no loop: the block runs for this one value."""
    yield start


@contextmanager
def along_axis(
    axis: Axis, loop: AbstractContextManager[LlvmValue]
) -> Iterator[dict[Axis, LlvmValue]]:
    """Write a loop whose counter is where an axis is."""
    with loop as counter:
        yield {axis: counter}


LanesFrom = Callable[[LlvmValue], LlvmValue]
"""Tells which lanes of a vector are there, given where it begins."""


def lanes_below(
    builder: Builder, width: int, high: LlvmValue, *, is_one: bool = False
) -> LanesFrom:
    """Return what tells which lanes of a vector are before an end; `is_one`: the first alone."""

    def mask(start: LlvmValue) -> LlvmValue:
        if is_one:
            return first_lane(width)
        left = builder.trunc(builder.sub(high, start), I32)
        return builder.icmp_signed("<", lane_numbers(width), splat(builder, left, width))

    return mask


Limits = Mapping[Axis, tuple[LlvmValue, LlvmValue]]
"""Where the tile's part of each spatial axis begins and ends."""


def limits_of(builder: Builder, along: Range, limits: Limits) -> tuple[LlvmValue, LlvmValue]:
    """Return where the tile's part of the axes that are walked as one begins and ends."""
    low, high = limits[along.parts[0]]
    if along.quotient > 1:
        low, high = (builder.udiv(end, I64(along.quotient)) for end in (low, high))
    for part in along.parts[1:]:
        low, high = (builder.mul(end, I64(part.extent)) for end in (low, high))
    return low, high


def least(builder: Builder, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """Return the lesser of two integers, lane by lane where they are vectors."""
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def greatest(builder: Builder, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """Return the greater of two integers, lane by lane where they are vectors."""
    return builder.select(builder.icmp_signed(">", a, b), a, b)


class Arithmetic:
    """Evaluates index expressions: as one i64, or one i32 per lane of a vector along an axis."""

    def __init__(
        self, builder: Builder, bases: Mapping[str, LlvmValue], where: Mapping[str, Strided]
    ) -> None:
        """Fetched indices are read from `bases`, in the layout that `where` tells."""
        self._builder = builder
        self._bases = bases
        self._where = where

    def scalar(self, index: Index, at: Mapping[Axis, LlvmValue]) -> LlvmValue:
        """Return the value of an index for these coordinates."""
        return self._sum(index, lambda atom: self.scalar_atom(atom, at), I64)

    def lanes(
        self, index: Index, at: Mapping[Axis, LlvmValue], along: Axis, steps: LlvmValue
    ) -> LlvmValue:
        """Return an index per lane; `steps` are the lanes' coordinates on the axis `along`."""
        width = int(steps.type.count)
        kind = ir.VectorType(I32, width)
        return self._sum(index, lambda atom: self.lane_atom(atom, at, along, steps), kind)

    def _sum(self, index: Index, value: Callable[[Atom], LlvmValue], kind: LlvmType) -> LlvmValue:
        builder = self._builder
        total = _constant(kind, index.constant)
        for atom, factor in index.terms:
            part = value(atom)
            if factor != 1:
                part = builder.mul(part, _constant(kind, factor))
            total = builder.add(total, part)
        return total

    def scalar_atom(self, atom: Atom, at: Mapping[Axis, LlvmValue]) -> LlvmValue:
        """Return the value of one atom for these coordinates."""
        match atom:
            case Axis():
                return at[atom]
            case Div(of, by):
                return self._divided(self.scalar(of, at), by, I64)
            case Mod(of, by):
                return self._rest(self.scalar(of, at), by, I64)
            case Fetch(tensor, inner, extent):
                return self._fetched(tensor, self._place(tensor, inner, at), extent)

    def _place(
        self, tensor: str, index: Sequence[Index], at: Mapping[Axis, LlvmValue]
    ) -> LlvmValue:
        """Return how many elements behind the first one an element of a tensor is."""
        offset = I64(0)
        for part, stride in zip(index, self._where[tensor].strides, strict=True):
            step = self._builder.mul(self.scalar(part, at), I64(stride))
            offset = self._builder.add(offset, step)
        return offset

    def lane_atom(
        self, atom: Atom, at: Mapping[Axis, LlvmValue], along: Axis, steps: LlvmValue
    ) -> LlvmValue:
        """Return one atom per lane."""
        width = int(steps.type.count)
        kind = ir.VectorType(I32, width)
        match atom:
            case Axis():
                return steps if atom == along else self._spread(at[atom], width)
            case Div(of, by):
                return self._divided(self.lanes(of, at, along, steps), by, kind)
            case Mod(of, by):
                return self._rest(self.lanes(of, at, along, steps), by, kind)
            case Fetch(tensor, inner, extent):
                if self._is_row(tensor, inner, along):
                    first = self._place(tensor, inner, at)
                    return self._fetched_row(tensor, first, extent, width)
                offsets = _constant(kind, 0)
                for part, stride in zip(inner, self._where[tensor].strides, strict=True):
                    lanes = self.lanes(part, at, along, steps)
                    step = self._builder.mul(lanes, _constant(kind, stride))
                    offsets = self._builder.add(offsets, step)
                return self._fetched_lanes(tensor, offsets, extent)

    def _fetched(self, tensor: str, offset: LlvmValue, extent: int) -> LlvmValue:
        builder = self._builder
        dtype = self._where[tensor].dtype
        found = load(builder, element(builder, self._bases[tensor], offset, dtype), dtype)
        if dtype != "i64":
            found = builder.sext(found, I64) if dtype[0] == "i" else builder.zext(found, I64)
        behind = builder.add(found, I64(extent))
        index = builder.select(builder.icmp_signed("<", found, I64(0)), behind, found)
        # what is no index of the tensor must not lead out of it either
        return greatest(builder, least(builder, index, I64(extent - 1)), I64(0))

    def _is_row(self, tensor: str, index: Sequence[Index], along: Axis) -> bool:
        """Say whether neighbouring lanes read neighbouring elements of a tensor of indices."""
        place = linear(tuple(index), self._where[tensor].strides)
        return place.steady(along) and place.stride(along) == 1

    def _fetched_row(self, tensor: str, first: LlvmValue, extent: int, width: int) -> LlvmValue:
        """Return neighbouring indices; lanes behind the tensor's last give some index, too."""
        builder, dtype = self._builder, self._where[tensor].dtype
        kind = ir.VectorType(I64, width)
        found = load(builder, element(builder, self._bases[tensor], first, dtype), dtype, width)
        if dtype != "i64":
            found = builder.sext(found, kind) if dtype[0] == "i" else builder.zext(found, kind)
        behind = builder.add(found, _constant(kind, extent))
        is_behind = builder.icmp_signed("<", found, _constant(kind, 0))
        index = builder.select(is_behind, behind, found)
        below = least(builder, index, _constant(kind, extent - 1))
        inside = greatest(builder, below, _constant(kind, 0))
        return builder.trunc(inside, ir.VectorType(I32, width))

    def _fetched_lanes(self, tensor: str, offsets: LlvmValue, extent: int) -> LlvmValue:
        builder = self._builder
        width = int(offsets.type.count)
        result = ir.Constant(ir.VectorType(I32, width), ir.Undefined)
        for lane in range(width):
            offset = builder.sext(builder.extract_element(offsets, I32(lane)), I64)
            found = builder.trunc(self._fetched(tensor, offset, extent), I32)
            result = builder.insert_element(result, found, I32(lane))
        return result

    def _spread(self, value: LlvmValue, width: int) -> LlvmValue:
        return splat(self._builder, self._builder.trunc(value, I32), width)

    def _divided(self, value: LlvmValue, by: int, kind: LlvmType) -> LlvmValue:
        """Return the quotient rounded down, for negative values too."""
        builder = self._builder
        quotient = builder.sdiv(value, _constant(kind, by))
        rest = builder.sub(value, builder.mul(quotient, _constant(kind, by)))
        below = builder.icmp_signed("<", rest, _constant(kind, 0))
        return builder.select(below, builder.sub(quotient, _constant(kind, 1)), quotient)

    def _rest(self, value: LlvmValue, by: int, kind: LlvmType) -> LlvmValue:
        builder = self._builder
        rest = builder.srem(value, _constant(kind, by))
        below = builder.icmp_signed("<", rest, _constant(kind, 0))
        return builder.select(below, builder.add(rest, _constant(kind, by)), rest)


def _constant(kind: LlvmType, number: int) -> LlvmValue:
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [number] * int(kind.count))
    return ir.Constant(kind, number)
