"""A group and its schedule as one kernel: a function that computes a range of tiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from llvmlite import ir

from burnish.codegen.backend import argument_roles
from burnish.codegen.cpu.alias import (
    Insertion,
    border,
    insertions,
    padded_in_place,
    within_containers,
)
from burnish.codegen.cpu.blocked import blocked
from burnish.codegen.cpu.blocking import Blocking, walked
from burnish.codegen.cpu.carry import CarriedPart, Walk, carried
from burnish.codegen.cpu.form import NestForm, Strided, form, uncollapsed
from burnish.codegen.cpu.layout import places, scratch_elements
from burnish.codegen.cpu.loops import Arithmetic, Limits, counted, greatest, least
from burnish.codegen.cpu.memory import I8, I64, POINTER, move_bytes
from burnish.codegen.cpu.nest import NestWriter
from burnish.codegen.cpu.reading import SPARE
from burnish.codegen.cpu.segments import segments
from burnish.codegen.cpu.sent import sent_forms
from burnish.codegen.cpu.shares import by_reciprocals
from burnish.codegen.cpu.stage import staged
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import LlvmValue, called, size_in_bytes
from burnish.core.arrays import Array
from burnish.core.placing import Lifetime, Places
from burnish.runtime.buffers import SLACK_BYTES, padded
from burnish.tile.footprint import lifetimes, placed
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, bounds
from burnish.tile.region import DimensionSpan, TileMap, propagate
from burnish.tile.schedule import Schedule


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
    indices: Mapping[str, int] = field(default_factory=dict)
    """Arguments that hold indices, and the size of the (largest) dimension that they are for."""
    loops: tuple[str, ...] = ()
    """How each nest is walked, in words."""


@dataclass(frozen=True, slots=True)
class NestPart:
    """One nest of a kernel as it will be written."""

    nest: NestForm
    blocking: Blocking | None = None
    only: tuple[Axis, tuple[tuple[int, int], ...]] | None = None
    """Only these parts of one axis; None: all of it."""


def generate(
    group: Group,
    schedule: Schedule,
    graph: TileGraph,
    target: InstructionSet,
    *,
    name: str = "kernel",
    layouts: Mapping[str, tuple[int, ...]] | None = None,
) -> Kernel:
    """Return the kernel of a group; `layouts` orders the dimensions of tensors in memory."""
    orders = layouts or {}
    group = by_reciprocals(group)
    group = staged(group, schedule.tile, graph.tensors, orders, graph.constants.keys(), target)
    inserted = insertions(group)
    tiles = within_containers(propagate(group, schedule.tile), group, inserted)
    where = places(group, tiles, graph.tensors, orders, graph.constants.keys(), target)
    kept = carried(group, tiles, schedule, inserted)
    parts: list[NestPart] = []
    packed: dict[str, Array] = {}
    for op in group.ops:
        for found in _parts(op, tiles, where, inserted, kept):
            part = _loosened(found, kept.get(op.output))
            nest, blocking, more = blocked(part.nest, graph.constants, target)
            parts.append(replace(part, nest=nest, blocking=blocking))
            packed |= more
    arguments = _arguments(group, parts)
    scratch = _scratch(group, tiles, where, inserted, kept)
    walk = Walk(tiles, schedule)
    writer = _KernelWriter(group, walk, where, inserted, kept, name)
    text = writer.write(parts, arguments, scratch.offsets)
    loops = tuple(walked(each.nest, each.blocking) for each in parts if each.blocking)
    return Kernel(
        name, text, arguments, walk.runs, max(scratch.bytes, SLACK_BYTES), group.nodes, packed,
        group.indices_among(arguments), loops,
    )  # fmt: skip


def _loosened(part: NestPart, kept: CarriedPart | None) -> NestPart:
    """Return a part whose tiles begin where the one before ended, wherever that is."""
    if kept is None or kept.stays:
        return part
    spatial = tuple(
        replace(each, fixed=False, step=1) if kept.axis in each.parts else each
        for each in part.nest.spatial
    )
    return replace(part, nest=replace(part.nest, spatial=spatial))


def _parts(
    op: TileOp,
    tiles: TileMap,
    where: Mapping[str, Strided],
    inserted: Mapping[str, Insertion],
    kept: Mapping[str, CarriedPart],
) -> Iterator[NestPart]:
    """Yield the nests to be written for one nest of the group."""
    box = tiles.boxes[op.output]
    padding = padded_in_place(op, inserted)
    if padding is not None:
        for nest, dimension in border(padding, box, where):
            axis, begin = op.spatial[dimension], padding.shifts[dimension]
            end = begin + padding.extents[dimension]
            yield NestPart(nest, only=(axis, ((0, begin), (end, axis.extent))))
        return
    if sending := sent_forms(op, box, where):
        yield from map(NestPart, sending)
        return
    cut = segments(op)
    for segment in cut:
        in_place = [inserted.get(read.tensor) for read in segment.op.reads]
        if len(in_place) == 1 and in_place[0] is not None and in_place[0].container is op:
            continue
        nest = uncollapsed(segment.op, box, where)
        spatial = tuple(
            replace(each, fixed=False, step=1) if each.axis == segment.axis else each
            for each in nest.spatial
        )
        part = replace(nest, spatial=spatial)
        yield NestPart(part, only=(segment.axis, ((segment.low, segment.high),)))
    if not cut:
        # what is left of a tile that was carried on may begin in the middle of a group
        whole = op.output not in kept or kept[op.output].stays
        yield NestPart(form(op, box, where, in_groups=whole))


def _arguments(group: Group, parts: list[NestPart]) -> tuple[str, ...]:
    inside = set(group.scratch)
    nests = [part.nest for part in parts]
    read = [access.tensor for nest in nests for access in nest.reads]
    fetched = [fetch.tensor for nest in nests for fetch in nest.op.fetches]
    names = dict.fromkeys((*read, *fetched, *group.outputs))
    return tuple(name for name in names if name not in inside)


def _scratch(
    group: Group,
    tiles: TileMap,
    where: Mapping[str, Strided],
    inserted: Mapping[str, Insertion],
    kept: Mapping[str, CarriedPart],
) -> Places:
    """Return where each scratch buffer begins, and the bytes of all."""
    lives = lifetimes(group, kept)
    for op in group.ops:
        # a container is there as soon as the first tensor inside it is written
        container, begun = op.output, group.ops.index(op)
        while container in inserted:
            container = inserted[container].container.output
            lives[container] = Lifetime(min(lives[container].first, begun), lives[container].last)
    sizes = {
        op.output: padded(
            scratch_elements(tiles.boxes[op.output], where[op.output].strides)
            * size_in_bytes(op.dtype)
        )
        for op in group.ops
        if op.output in lives and op.output not in inserted
    }
    return placed({name: lives[name] for name in sizes}, sizes)


_PARAMETERS = ("arguments", "first", "end", "scratch")


class _KernelWriter:
    """Writes the function of one kernel."""

    def __init__(
        self,
        group: Group,
        walk: Walk,
        where: Mapping[str, Strided],
        inserted: Mapping[str, Insertion],
        kept: Mapping[str, CarriedPart],
        name: str,
    ) -> None:
        self._group = group
        self._axes = {op.output: op.spatial for op in group.ops}
        self._walk, self._tiles = walk, walk.tiles
        self._where = where
        self._inserted = inserted
        self._kept = kept
        self._module = ir.Module(name=name)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, I64, I64, POINTER])
        self._function = ir.Function(self._module, kind, name=name)
        self._builder = ir.IRBuilder(self._function.append_basic_block("entry"))

    def write(
        self,
        parts: list[NestPart],
        arguments: tuple[str, ...],
        offsets: Mapping[str, int],
    ) -> str:
        builder = self._builder
        for argument, word in zip(self._function.args, _PARAMETERS, strict=True):
            argument.name = word
        given, begin, end, scratch = self._function.args
        pointers = {SPARE: scratch}
        roles = argument_roles(arguments, self._group.outputs)
        for position, name in enumerate(arguments):
            slot = builder.gep(given, [I64(position)], source_etype=POINTER)
            pointers[name] = builder.load(slot, name=roles[name], typ=POINTER)
        for number, (name, offset) in enumerate(offsets.items()):
            place = builder.gep(scratch, [I64(offset)], source_etype=I8)
            pointers[name] = called(place, f"tmp{number}")
        # blocks that are written later must not come before the loop over tiles
        start = self._function.append_basic_block("tiles")
        builder.branch(start)
        builder.position_at_end(start)
        with counted(builder, begin, end, 1, "tile") as run:
            self._run(run, parts, pointers)
        builder.ret_void()
        return str(self._module)

    def _run(
        self, run: LlvmValue, parts: list[NestPart], pointers: Mapping[str, LlvmValue]
    ) -> None:
        """Write the tiles of one run: a single one, or neighbours that keep what they share."""
        builder, walk = self._builder, self._walk
        at = self._counters(run)
        if walk.axis is None:
            self._tile(at, parts, pointers, None)
            return
        low = builder.mul(at[walk.axis], I64(walk.length))
        high = least(builder, builder.add(low, I64(walk.length)), I64(walk.axis.extent))
        with counted(builder, low, high, 1, "walk") as place:
            fresh = builder.icmp_signed("==", place, low)
            again = builder.select(fresh, I64(0), I64(1))
            with counted(builder, I64(0), again, 1, "slide"):
                for name, kept in self._kept.items():
                    if kept.overlap and name not in self._inserted:
                        self._slide(name, kept, pointers[name])
            self._tile({**at, walk.axis: place}, parts, pointers, fresh)

    def _slide(self, name: str, kept: CarriedPart, pointer: LlvmValue) -> None:
        """Move what the last tile and this one share to where this one has it."""
        builder, place, box = self._builder, self._where[name], self._tiles.boxes[name]
        size, along = size_in_bytes(place.dtype), place.strides[kept.dimension]
        inner = [d for d, stride in enumerate(place.strides) if stride < along]
        outer = [
            d for d, stride in enumerate(place.strides)
            if stride >= along and d != kept.dimension and box[d].size > 1
        ]  # fmt: skip
        row = 1 + sum((box[d].size - 1) * place.strides[d] for d in inner)
        length = ((kept.overlap - 1) * along + row) * size

        def moved(dimensions: list[int], start: LlvmValue) -> None:
            if dimensions:
                step = place.strides[dimensions[0]] * size
                with counted(builder, I64(0), I64(box[dimensions[0]].size), 1) as counter:
                    offset = builder.mul(counter, I64(step))
                    moved(dimensions[1:], builder.gep(start, [offset], source_etype=I8))
                return
            source = builder.gep(start, [I64(kept.step * along * size)], source_etype=I8)
            move_bytes(builder, start, source, length)

        moved(outer, pointer)

    def _tile(
        self,
        at: Mapping[Axis, LlvmValue],
        parts: list[NestPart],
        pointers: Mapping[str, LlvmValue],
        fresh: LlvmValue | None,
    ) -> None:
        builder = self._builder
        counting = Arithmetic(builder, {}, {})
        bases = self._bases(pointers, counting, at)
        arithmetic = Arithmetic(builder, bases, self._where)
        for part in parts:
            op = part.nest.op
            spans = zip(self._axes[op.output], self._tiles.boxes[op.output], strict=True)
            whole = {axis: self._limits(axis, span, counting, at) for axis, span in spans}
            kept = None if fresh is None else self._kept.get(op.output)
            if kept is not None and fresh is not None and not kept.stays:
                self._spare(whole, kept, op, counting, at, fresh)
            assert part.blocking is not None
            with builder.if_then(fresh) if kept is not None and kept.stays else nullcontext():
                for limits in self._parts_of(part, whole):
                    NestWriter(builder, part.nest, part.blocking, bases, arithmetic, limits).write()

    def _spare(
        self,
        whole: dict[Axis, tuple[LlvmValue, LlvmValue]],
        kept: CarriedPart,
        op: TileOp,
        counting: Arithmetic,
        at: Mapping[Axis, LlvmValue],
        fresh: LlvmValue,
    ) -> None:
        """Cut off what the tile before has computed."""
        builder = self._builder
        assert kept.axis is not None
        low, high = whole[kept.axis]
        origin = counting.scalar(self._tiles.boxes[op.output][kept.dimension].origin, at)
        there = greatest(builder, low, builder.add(origin, I64(kept.overlap)))
        begin = builder.select(fresh, low, there)
        whole[kept.axis] = (begin, greatest(builder, begin, high))

    def _parts_of(self, part: NestPart, whole: Limits) -> list[Limits]:
        """Return where the nest runs: everywhere, or on some parts of one axis."""
        if part.only is None:
            return [whole]
        builder = self._builder
        axis, ranges = part.only
        low, high = whole[axis]
        return [
            {**whole, axis: (greatest(builder, low, I64(a)), least(builder, high, I64(b)))}
            for a, b in ranges
            if a < b
        ]

    def _bases(
        self, pointers: Mapping[str, LlvmValue], counting: Arithmetic, at: Mapping[Axis, LlvmValue]
    ) -> dict[str, LlvmValue]:
        """Return where element zero of each tensor is, or would be, were it in memory whole."""
        builder = self._builder
        bases = dict(pointers)
        for name in self._group.scratch:
            if name not in self._inserted:
                shifted = self._shifted(name, pointers[name], counting, at)
                bases[name] = called(shifted, f"{pointers[name].name}.origin")
        # containers come behind what is inside them: from the last nest back, they are known
        for op in reversed(self._group.ops):
            insertion = self._inserted.get(op.output)
            if insertion is not None:
                place = self._where[op.output]
                steps = zip(insertion.shifts, place.strides, strict=True)
                shift = sum(by * stride for by, stride in steps) * size_in_bytes(place.dtype)
                container = bases[insertion.container.output]
                inside = builder.gep(container, [I64(shift)], source_etype=I8)
                bases[op.output] = called(inside, f"{container.name}.inside")
        return bases

    def _counters(self, run: LlvmValue) -> dict[Axis, LlvmValue]:
        """Return each axis's tile number, or number of the run; the last axis varies fastest."""
        builder = self._builder
        at: dict[Axis, LlvmValue] = {}
        rest = run
        for counter in reversed(self._tiles.counters):
            extent = self._walk.runs_along(counter)
            at[counter] = builder.urem(rest, I64(extent)) if extent > 1 else I64(0)
            rest = builder.udiv(rest, I64(extent)) if extent > 1 else rest
        return at

    def _shifted(
        self, name: str, pointer: LlvmValue, counting: Arithmetic, at: Mapping[Axis, LlvmValue]
    ) -> LlvmValue:
        """Return the address that element zero would have, were the buffer the whole tensor."""
        builder, place = self._builder, self._where[name]
        offset = I64(0)
        for span, stride in zip(self._tiles.boxes[name], place.strides, strict=True):
            step = builder.mul(counting.scalar(span.origin, at), I64(-stride))
            offset = builder.add(offset, step)
        size = size_in_bytes(place.dtype)
        return builder.gep(pointer, [builder.mul(offset, I64(size))], source_etype=I8)

    def _limits(
        self, axis: Axis, span: DimensionSpan, counting: Arithmetic, at: Mapping[Axis, LlvmValue]
    ) -> tuple[LlvmValue, LlvmValue]:
        builder = self._builder
        origin = counting.scalar(span.origin, at)
        low, high = bounds(span.origin)
        end = builder.add(origin, I64(span.size))
        first = origin if low >= 0 else greatest(builder, origin, I64(0))
        last = end if high + span.size <= axis.extent else least(builder, end, I64(axis.extent))
        return first, last
