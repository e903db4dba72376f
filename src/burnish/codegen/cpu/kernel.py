"""A group and its schedule as one kernel: a function that computes a range of tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llvmlite import ir

from burnish.codegen.cpu.alias import Padding, border, paddings
from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.form import NestForm, Place, form
from burnish.codegen.cpu.layout import places, scratch_elements
from burnish.codegen.cpu.loops import Arithmetic, counted, greatest, least
from burnish.codegen.cpu.memory import I8, I64, POINTER
from burnish.codegen.cpu.nest import Limits, NestWriter
from burnish.codegen.cpu.pack import pack
from burnish.codegen.cpu.reading import SPARE
from burnish.codegen.cpu.stage import staged
from burnish.codegen.cpu.target import Target
from burnish.codegen.cpu.types import Value, size_in_bytes
from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, bounds
from burnish.tile.region import Span, TileMap, propagate
from burnish.tile.schedule import Schedule

ALIGNMENT = 64
SLACK_BYTES = 256
"""Behind every scratch buffer: vectors with a stride read a little beyond the last element."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Code for one group: `void name(ptr arguments, i64 begin, i64 end, ptr scratch)`."""

    name: str
    ir_text: str
    arguments: tuple[str, ...]
    """The tensors behind the array of pointers that it is given, in this order."""
    tiles: int
    """Any thread may run any part of 0 … tiles."""
    scratch_bytes: int
    nodes: tuple[str, ...]
    packed: Mapping[str, Array] = field(default_factory=dict)
    """Constants in another layout, by the names they have among the arguments."""


@dataclass(frozen=True, slots=True)
class Part:
    """One nest of a kernel as it will be written."""

    nest: NestForm
    blocking: Blocking
    border: int | None = None
    """Only what lies before and behind a padding's source along this dimension; None: all."""


def generate(
    group: Group,
    schedule: Schedule,
    graph: TileGraph,
    target: Target,
    *,
    name: str = "kernel",
    layouts: Mapping[str, tuple[int, ...]] | None = None,
) -> Kernel:
    """Return the kernel of a group; `layouts` orders the dimensions of tensors in memory."""
    orders = layouts or {}
    group = staged(group, graph.tensors, orders, graph.constants.keys(), target)
    tiles = propagate(group, schedule.tile)
    where = places(group, tiles, graph.tensors, orders, graph.constants.keys(), target)
    without_copy = paddings(group)
    parts: list[Part] = []
    packed: dict[str, Array] = {}
    for op in group.ops:
        box = tiles.boxes[op.output]
        if op.output in without_copy:
            parts += [
                Part(nest, choose(nest, target), dimension)
                for nest, dimension in border(without_copy[op.output], box, where)
            ]
            continue
        nest = form(op, box, where)
        blocking = choose(nest, target)
        nest, more = pack(nest, blocking, graph.constants)
        parts.append(Part(nest, blocking))
        packed |= more
    arguments = _arguments(group, parts)
    offsets, scratch_bytes = _scratch(group, tiles, where, without_copy)
    writer = _KernelWriter(group, tiles, where, without_copy, name)
    text = writer.write(parts, arguments, offsets)
    return Kernel(name, text, arguments, tiles.tiles, scratch_bytes, group.nodes, packed)


def _arguments(group: Group, parts: list[Part]) -> tuple[str, ...]:
    inside = set(group.scratch)
    nests = [part.nest for part in parts]
    read = [access.tensor for nest in nests for access in nest.reads]
    fetched = [name for nest in nests for name in nest.op.inputs if name not in _read(nest.op)]
    names = dict.fromkeys((*read, *fetched, *group.outputs))
    return tuple(name for name in names if name not in inside)


def _read(op: TileOp) -> set[str]:
    return {read.tensor for read in op.reads}


def _scratch(
    group: Group, tiles: TileMap, where: Mapping[str, Place], without_copy: Mapping[str, Padding]
) -> tuple[dict[str, int], int]:
    """Return the offset of each scratch buffer, and the bytes of all."""
    last = {name: position for position, op in enumerate(group.ops) for name in op.inputs}
    first = {padded: padding.source for padded, padding in without_copy.items()}
    begun = {op.output: position for position, op in enumerate(group.ops)}
    order = sorted(
        (op for op in group.ops if op.output not in first.values()),
        key=lambda op: begun[first.get(op.output, op.output)],
    )
    live: list[tuple[int, int, int]] = []
    offsets: dict[str, int] = {}
    total = ALIGNMENT
    for op in order:
        if op.output not in group.scratch:
            continue
        position = begun[first.get(op.output, op.output)]
        live = [item for item in live if item[2] >= position]
        place = where[op.output]
        elements = scratch_elements(tiles.boxes[op.output], place.strides)
        size = elements * size_in_bytes(op.dtype) + SLACK_BYTES
        size = -(-size // ALIGNMENT) * ALIGNMENT
        start = _first_fit(live, size)
        offsets[op.output] = start
        live = sorted([*live, (start, start + size, last.get(op.output, position))])
        total = max(total, start + size)
    return offsets, total


def _first_fit(live: list[tuple[int, int, int]], size: int) -> int:
    start = 0
    for low, high, _ in live:
        if start + size <= low:
            return start
        start = max(start, high)
    return start


class _KernelWriter:
    """Writes the function of one kernel."""

    def __init__(
        self,
        group: Group,
        tiles: TileMap,
        where: Mapping[str, Place],
        without_copy: Mapping[str, Padding],
        name: str,
    ) -> None:
        self._group = group
        self._tiles = tiles
        self._where = where
        self._without_copy = without_copy
        self._module = ir.Module(name=name)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, POINTER])
        self._function = ir.Function(self._module, kind, name=name)
        self._builder = ir.IRBuilder(self._function.append_basic_block("entry"))

    def write(
        self,
        parts: list[Part],
        arguments: tuple[str, ...],
        offsets: Mapping[str, int],
    ) -> str:
        builder = self._builder
        given, begin, end, scratch = self._function.args
        pointers = {SPARE: scratch}
        for position, name in enumerate(arguments):
            slot = builder.gep(given, [I64(position)], source_etype=POINTER)
            pointers[name] = builder.load(slot, typ=POINTER)
        for name, offset in offsets.items():
            pointers[name] = builder.gep(scratch, [I64(offset)], source_etype=I8)
        # blocks that are written later must not come before the loop over tiles
        start = self._function.append_basic_block("tiles")
        builder.branch(start)
        builder.position_at_end(start)
        with counted(builder, begin, end, 1) as tile:
            self._tile(tile, parts, pointers)
        builder.ret_void()
        return str(self._module)

    def _tile(self, tile: Value, parts: list[Part], pointers: Mapping[str, Value]) -> None:
        builder = self._builder
        counting = Arithmetic(builder, {}, {})
        at = self._counters(tile)
        bases = self._bases(pointers, counting, at)
        types = {name: place.dtype for name, place in self._where.items()}
        arithmetic = Arithmetic(builder, bases, types)
        arithmetic.strides = {name: place.strides for name, place in self._where.items()}
        for part in parts:
            op = part.nest.op
            spans = zip(op.spatial, self._tiles.boxes[op.output], strict=True)
            whole = {axis: self._limits(axis, span, counting, at) for axis, span in spans}
            for limits in self._parts_of(part, whole):
                NestWriter(builder, part.nest, part.blocking, bases, arithmetic, limits).write()

    def _parts_of(self, part: Part, whole: Limits) -> list[Limits]:
        """Return where the nest runs: everywhere, or before and behind what is padded."""
        if part.border is None:
            return [whole]
        builder, op = self._builder, part.nest.op
        padding = self._without_copy[op.output]
        axis = op.spatial[part.border]
        low, high = whole[axis]
        begin = padding.shifts[part.border]
        end = begin + padding.extents[part.border]
        parts: list[Limits] = []
        if begin > 0:
            parts.append({**whole, axis: (low, least(builder, high, I64(begin)))})
        if end < axis.extent:
            parts.append({**whole, axis: (greatest(builder, low, I64(end)), high)})
        return parts

    def _bases(
        self, pointers: Mapping[str, Value], counting: Arithmetic, at: Mapping[Axis, Value]
    ) -> dict[str, Value]:
        """Return where element zero of each tensor is, or would be, were it in memory whole."""
        builder = self._builder
        bases = dict(pointers)
        sources = {padding.source: padding for padding in self._without_copy.values()}
        for name in self._group.scratch:
            if name not in sources:
                bases[name] = self._shifted(name, pointers[name], counting, at)
        for name, padding in sources.items():
            place = self._where[name]
            steps = zip(padding.shifts, place.strides, strict=True)
            shift = sum(by * stride for by, stride in steps) * size_in_bytes(place.dtype)
            padded = bases[padding.op.output]
            bases[name] = builder.gep(padded, [I64(shift)], source_etype=I8)
        return bases

    def _counters(self, tile: Value) -> dict[Axis, Value]:
        """Return each axis's tile number; the last axis varies fastest."""
        builder = self._builder
        at: dict[Axis, Value] = {}
        rest = tile
        for counter in reversed(self._tiles.counters):
            extent = I64(max(counter.extent, 1))
            at[counter] = builder.urem(rest, extent) if counter.extent > 1 else I64(0)
            rest = builder.udiv(rest, extent) if counter.extent > 1 else rest
        return at

    def _shifted(
        self, name: str, pointer: Value, counting: Arithmetic, at: Mapping[Axis, Value]
    ) -> Value:
        """Return the address that element zero would have, were the buffer the whole tensor."""
        builder, place = self._builder, self._where[name]
        offset = I64(0)
        for span, stride in zip(self._tiles.boxes[name], place.strides, strict=True):
            step = builder.mul(counting.scalar(span.origin, at), I64(-stride))
            offset = builder.add(offset, step)
        size = size_in_bytes(place.dtype)
        return builder.gep(pointer, [builder.mul(offset, I64(size))], source_etype=I8)

    def _limits(
        self, axis: Axis, span: Span, counting: Arithmetic, at: Mapping[Axis, Value]
    ) -> tuple[Value, Value]:
        builder = self._builder
        origin = counting.scalar(span.origin, at)
        low, high = bounds(span.origin)
        end = builder.add(origin, I64(span.size))
        first = origin if low >= 0 else greatest(builder, origin, I64(0))
        last = end if high + span.size <= axis.extent else least(builder, end, I64(axis.extent))
        return first, last
