"""A group and its schedule as one kernel: a function that computes a range of tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llvmlite import ir

from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.form import NestForm, Place, form
from burnish.codegen.cpu.layout import places, scratch_elements
from burnish.codegen.cpu.loops import Arithmetic, counted, greatest, least
from burnish.codegen.cpu.memory import I8, I64, POINTER
from burnish.codegen.cpu.nest import NestWriter
from burnish.codegen.cpu.pack import pack
from burnish.codegen.cpu.reading import SPARE
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
    tiles = propagate(group, schedule.tile)
    where = places(group, tiles, graph.tensors, layouts or {}, target)
    nests: list[tuple[NestForm, Blocking]] = []
    packed: dict[str, Array] = {}
    for op in group.ops:
        nest = form(op, tiles.boxes[op.output], where)
        blocking = choose(nest, target)
        nest, more = pack(nest, blocking, graph.constants)
        nests.append((nest, blocking))
        packed |= more
    arguments = _arguments(group, nests)
    offsets, scratch_bytes = _scratch(group, tiles, where)
    writer = _KernelWriter(group, tiles, where, name)
    text = writer.write(nests, arguments, offsets)
    return Kernel(name, text, arguments, tiles.tiles, scratch_bytes, group.nodes, packed)


def _arguments(group: Group, nests: list[tuple[NestForm, Blocking]]) -> tuple[str, ...]:
    inside = set(group.scratch)
    read = [access.tensor for nest, _ in nests for access in nest.reads]
    fetched = [n for nest, _ in nests for n in nest.op.inputs if n not in _plainly_read(nest.op)]
    names = dict.fromkeys((*read, *fetched, *group.outputs))
    return tuple(name for name in names if name not in inside)


def _plainly_read(op: TileOp) -> set[str]:
    return {read.tensor for read in op.reads}


def _scratch(
    group: Group, tiles: TileMap, where: Mapping[str, Place]
) -> tuple[dict[str, int], int]:
    """Return the offset of each scratch buffer, and the bytes of all."""
    last = {name: position for position, op in enumerate(group.ops) for name in op.inputs}
    live: list[tuple[int, int, int]] = []
    offsets: dict[str, int] = {}
    total = ALIGNMENT
    for position, op in enumerate(group.ops):
        if op.output not in group.scratch:
            continue
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

    def __init__(self, group: Group, tiles: TileMap, where: Mapping[str, Place], name: str) -> None:
        self._group = group
        self._tiles = tiles
        self._where = where
        self._module = ir.Module(name=name)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, POINTER])
        self._function = ir.Function(self._module, kind, name=name)
        self._builder = ir.IRBuilder(self._function.append_basic_block("entry"))

    def write(
        self,
        nests: list[tuple[NestForm, Blocking]],
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
            self._tile(tile, nests, pointers)
        builder.ret_void()
        return str(self._module)

    def _tile(
        self, tile: Value, nests: list[tuple[NestForm, Blocking]], pointers: Mapping[str, Value]
    ) -> None:
        builder = self._builder
        types = {name: place.dtype for name, place in self._where.items()}
        counting = Arithmetic(builder, {}, {})
        at = self._counters(tile)
        bases = dict(pointers)
        for name in self._group.scratch:
            bases[name] = self._shifted(name, pointers[name], counting, at)
        arithmetic = Arithmetic(builder, bases, types)
        arithmetic.strides = {name: place.strides for name, place in self._where.items()}
        for nest, blocking in nests:
            limits = {
                axis: self._limits(axis, span, counting, at)
                for axis, span in zip(
                    nest.op.spatial, self._tiles.boxes[nest.op.output], strict=True
                )
            }
            NestWriter(builder, nest, blocking, bases, arithmetic, limits).write()

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
