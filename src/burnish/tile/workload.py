"""What each nest of a group does per element, read off once; cost models ask it for every tile."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from burnish.core.placing import Lifetime
from burnish.core.tensors import BITS, FLOATS
from burnish.hw.unit import CORE, UnitSpec
from burnish.tile.collisions import Layouts, colliding, stride, turned
from burnish.tile.expr import Argument, Call, operations, walk
from burnish.tile.footprint import lifetimes
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, axes_of, coefficient, fetches_of
from burnish.tile.region import Accesses, accesses

FLOPS_PER_OPERATION = 2
"""A multiply-add counts two in a device's peak rate, and every other operation takes its place."""

Lying = Literal["same", "side by side", "near", "apart"]
"""How a read's elements for neighbouring lanes of a vector lie; near: a few elements apart."""

_NEAR = 4
"""Strides up to this one share most cache lines."""


@dataclass(frozen=True, slots=True)
class ReadFacts:
    """One read of a nest."""

    tensor: str
    width_bytes: float
    count: int
    """Elements per element of the output."""
    free: tuple[int, ...]
    """Spatial axes that it does not depend on, by position: one load serves several outputs."""


@dataclass(frozen=True, slots=True)
class VectorChoice:
    """A way to lay vectors: along spatial axes that are walked as one, or along a reduced axis."""

    positions: tuple[int, ...]
    """The spatial axes, the innermost first; empty: a reduced axis."""
    reduced_length: int
    lying: tuple[Lying, ...]
    """For each read, constants laid out for it."""
    unpacked: tuple[Lying, ...]
    """The same where constants stay as they are: tiles do not begin with whole vectors of them."""
    output_apart: bool
    """Whether each lane is written to another place."""


@dataclass(frozen=True, slots=True)
class NestFacts:
    """One nest: its work per element of the output, its vectors and its reads."""

    op: TileOp
    elements: int
    """Of the whole output."""
    flops: float
    """Per element, in units of the peak rate."""
    work: float
    """Scalar operations per element."""
    contracts: bool
    """Whether it is a sum of products, which multiply-add units do at once."""
    rate_dtype: str
    """The element type whose peak rate applies."""
    choices: tuple[VectorChoice, ...]
    reads: tuple[ReadFacts, ...]
    output_bytes: float
    """Of one element."""
    first_reads: tuple[str, ...]
    """Tensors in memory that no nest before it has read or written."""
    again: tuple[tuple[str, float], ...]
    """What it reads or writes in scratch, or reads once more: tensor and bytes per element."""
    in_place: bool
    """Whether it only pads, and its source is written straight into its middle."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Which indices of a dimension are read: one for each point of these axes of a nest."""

    output: str
    """Of the nest."""
    spatial: tuple[Axis, ...]
    """Its axes along which tiles are cut."""
    axes: frozenset[Axis]


@dataclass(frozen=True, slots=True)
class Workload:
    """A group and the facts of its nests."""

    group: Group
    graph: TileGraph
    nests: tuple[NestFacts, ...]
    inputs: tuple[str, ...]
    accesses: Accesses
    lifetimes: Mapping[str, Lifetime]
    """Of the scratch tensors that take memory of their own."""
    copied: Mapping[str, Lifetime]
    """Of the inputs that are copied into scratch before they are used, where they are short."""
    turned: Mapping[str, Lifetime]
    """Of those that are copied however long they are."""
    unit: UnitSpec = CORE
    """What it is computed on."""
    picked: Mapping[str, Mapping[int, Picked]] = field(default_factory=dict)
    """Of tensors that are only read so (a table of words), dimensions whose indices are fetched."""
    orders: Layouts = field(default_factory=dict)
    """Of tensors whose dimensions lie in another order than their own, that order."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """Where the tensors of a group are, and how they lie."""

    graph: TileGraph
    scratch: frozenset[str]
    orders: Layouts

    def stride(self, read: Read, axis: Axis) -> int | None:
        kind = self.graph.tensors[read.tensor]
        return stride(read, axis, kind, self.orders.get(read.tensor))

    def lying(self, read: Read, axis: Axis, *, packed: bool = True) -> Lying:
        if read.tensor in self.scratch or (packed and read.tensor in self.graph.constants):
            # laid out for its reader
            steps = [step for index in read.index if (step := coefficient(index, axis)) != 0]
            if len(steps) > 1:
                return "apart"
            return _by_stride(steps[0] if steps else 0)
        return _by_stride(self.stride(read, axis))

    def longer(self, op: TileOp, innermost: int | None) -> list[int]:
        """Return the axes of a nest with more than one point, the outermost in memory first."""
        order = self.orders.get(op.output, tuple(range(len(op.spatial))))
        if innermost is not None:
            order = (*(place for place in order if place != innermost), innermost)
        return [place for place in order if op.spatial[place].extent > 1]


def workload(
    group: Group, graph: TileGraph, orders: Layouts | None = None, unit: UnitSpec = CORE
) -> Workload:
    """Return what the nests of a group of `graph` do per element.

    `orders` has the tensors whose dimensions lie in another order than their own.
    """
    memory = _Memory(graph, frozenset(group.scratch), orders or {})
    inside = padded_in_place(group)
    lives = lifetimes(group)
    for source, padded in inside.items():
        begun = lives.pop(source)
        lives[padded] = Lifetime(begun.first, lives[padded].last)
    nests = []
    known: set[str] = set()
    innermost = _innermost_dimensions(group, memory)
    for op in group.ops:
        choices = _choices(op, memory, innermost.get(op.output))
        nests.append(_facts(op, memory, known, choices, op.output in inside.values()))
        known |= {op.output, *op.inputs}
    types, constants = graph.tensors, graph.constants
    across = _read_from_memory(group, memory, lambda op: turned(op, types, constants, orders))
    near = _read_from_memory(group, memory, lambda op: colliding(op, types, orders, unit))
    copied = {name: life for name, life in near.items() if name not in across}
    return Workload(
        group, graph, tuple(nests), group.inputs, accesses(group), lives, copied, across, unit,
        _picked(group), memory.orders,
    )  # fmt: skip


def _picked(group: Group) -> dict[str, dict[int, Picked]]:
    """Return the inputs that one read picks from, and the dimensions along which it does."""
    reads = [(read, op) for op in group.ops for read in op.reads]
    times = Counter(read.tensor for read, _ in reads)
    found: dict[str, dict[int, Picked]] = {}
    for read, op in reads:
        if times[read.tensor] == 1 and read.tensor in group.inputs:
            for dimension, index in enumerate(read.index):
                if fetches_of(index):
                    picked = Picked(op.output, op.spatial, axes_of(index))
                    found.setdefault(read.tensor, {})[dimension] = picked
    return found


def _read_from_memory(
    group: Group, memory: _Memory, found: Callable[[TileOp], Iterator[int]]
) -> dict[str, Lifetime]:
    """Return the inputs, no constants, that are found among the reads of nests."""
    from_memory = set(group.inputs) - memory.graph.constants.keys()
    return {
        op.reads[position].tensor: Lifetime(number, number)
        for number, op in enumerate(group.ops)
        for position in found(op)
        if op.reads[position].tensor in from_memory
    }


def padded_in_place(group: Group) -> dict[str, str]:
    """Return the scratch tensors that are written into the middle of their padded copy, with it."""
    scratch = set(group.scratch)
    readers: dict[str, list[TileOp]] = {name: [] for name in scratch}
    for op in group.ops:
        for name in op.inputs:
            if name in scratch:
                readers[name].append(op)
    return {
        op.reads[0].tensor: op.output
        for op in group.ops
        if _only_pads(op) and op.output in scratch and readers.get(op.reads[0].tensor) == [op]
    }


def _innermost_dimensions(group: Group, memory: _Memory) -> dict[str, int]:
    """Return which dimension of scratch tensors lies innermost, where a reader's vectors decide.

    The anchor's vectors run as its output lies; what it reads along them lies so, and so on back.
    """
    result: dict[str, int] = {}
    for op in reversed(group.ops):
        longer = memory.longer(op, result.get(op.output))
        if not longer:
            continue
        vector = op.spatial[longer[-1]]
        in_body = set(arguments_of(op.body))
        for _, read in sorted(enumerate(op.reads), key=lambda pair: pair[0] not in in_body):
            if read.tensor in memory.scratch:
                along = [d for d, index in enumerate(read.index) if coefficient(index, vector) == 1]
                for dimension in along:
                    result.setdefault(read.tensor, dimension)
    return result


def is_contraction(op: TileOp) -> bool:
    """Say whether a nest is a sum of products of two different reads."""
    match op.body:
        case Call("multiply", (left, right), _) if op.combine == "sum":
            return bool(arguments_of(left)) and bool(arguments_of(right)) and left != right
    return False


def _only_pads(op: TileOp) -> bool:
    if op.reduced or len(op.reads) != 1 or not isinstance(op.body, Argument):
        return False
    read = op.reads[0]
    shifted = zip(op.spatial, read.index, strict=False)
    same_rank = len(op.spatial) == len(read.index)
    return bool(read.guards) and same_rank and all(coefficient(i, a) in (0, 1) for a, i in shifted)


def _facts(
    op: TileOp,
    memory: _Memory,
    known: set[str],
    choices: tuple[VectorChoice, ...],
    in_place: bool,
) -> NestFacts:
    graph = memory.graph
    contracts = is_contraction(op)
    points = op.terms
    per_point = _per_point(op, graph)
    after = operations(op.finish) if op.finish else 0
    reads = _used_reads(op)
    widths = {read.tensor: BITS[graph.tensors[read.tensor].dtype] / 8 for read, _ in reads}
    output_bytes = BITS[op.dtype] / 8
    again = {name: width for name, width in widths.items() if name in known}
    if op.output in memory.scratch:
        again[op.output] = output_bytes
    return NestFacts(
        op=op,
        elements=math.prod(op.shape),
        flops=FLOPS_PER_OPERATION * ((per_point - contracts) * points + after),
        work=per_point * points + after,
        contracts=contracts,
        rate_dtype=_rate_dtype(op, graph),
        choices=choices,
        reads=tuple(
            ReadFacts(
                read.tensor,
                widths[read.tensor],
                points if in_body else 1,
                _free(read, op) if in_body and op.reduced else (),
            )
            for read, in_body in reads
        ),
        output_bytes=output_bytes,
        first_reads=tuple(name for name in widths if name not in known),
        again=tuple(again.items()),
        in_place=in_place,
    )


_WIDENED = ("i8", "bf16")
"""Short numbers that are multiplied as they are, whatever they are summed in."""


def _per_point(op: TileOp, graph: TileGraph) -> int:
    """Return the scalar operations of one step of a nest's innermost loop."""
    if is_contraction(op) and _rate_dtype(op, graph) in _WIDENED:
        return 2  # what multiplies them widens them itself: a product and a sum are left
    return operations(op.body) + bool(op.reduced)


def _used_reads(op: TileOp) -> list[tuple[Read, bool]]:
    """Return the reads that expressions use, and those of fetched indices; whether in the body."""
    inside = set(arguments_of(op.body))
    after = set(arguments_of(op.finish)) if op.finish else set()
    used = [(op.reads[k], k in inside) for k in sorted(inside | after)]
    return used + [(Read(each.tensor, each.index), True) for each in dict.fromkeys(op.fetches)]


def _rate_dtype(op: TileOp, graph: TileGraph) -> str:
    """Return the type that the units multiply: the operands', where a body only widens them."""
    if is_contraction(op):
        operands = [op.reads[part.position] for part in walk(op.body) if isinstance(part, Argument)]
        types = {graph.tensors[read.tensor].dtype for read in operands}
        if types == {"u8", "i8"} and op.body.dtype == "i32":
            return "i8"
        if len(types) == 1 and (only := types.pop()) in FLOATS:
            return only
    return op.body.dtype


def _free(read: Read, op: TileOp) -> tuple[int, ...]:
    used = {axis for index in read.indices for axis in axes_of(index)}
    return tuple(position for position, axis in enumerate(op.spatial) if axis not in used)


def _choices(op: TileOp, memory: _Memory, innermost: int | None) -> tuple[VectorChoice, ...]:
    reads = [read for read, _ in _used_reads(op)]
    longer = memory.longer(op, innermost)
    result: list[VectorChoice] = []

    def add(positions: tuple[int, ...], *, apart: bool) -> None:
        axis = op.spatial[positions[0]]
        lying = tuple(memory.lying(read, axis) for read in reads)
        unpacked = tuple(memory.lying(read, axis, packed=False) for read in reads)
        result.append(VectorChoice(positions, 0, lying, unpacked, output_apart=apart))

    if longer:
        add(_joined(op, longer[::-1], reads, memory), apart=False)
    if longer[:-1]:
        # scratch that nobody reads in vectors may be laid out with any axis innermost
        for position in _across(op, longer[:-1], reads, memory):
            add((position,), apart=innermost is not None or op.output not in memory.scratch)
    for axis in _summed_along(op):
        lying = tuple(memory.lying(read, axis) for read in reads)
        result.append(VectorChoice((), axis.extent, lying, lying, output_apart=False))
    return tuple(result)


def _across(op: TileOp, positions: list[int], reads: list[Read], memory: _Memory) -> Iterator[int]:
    """Yield the longest of these axes; of a product also the longest that suits all its reads.

    Kernels put channels into vectors however many rows an image has.
    """
    first, *others = sorted(positions, key=lambda position: -op.spatial[position].extent)
    yield first
    for position in others if is_contraction(op) else ():
        if {memory.lying(read, op.spatial[position]) for read in reads} <= {"same", "side by side"}:
            yield position
            return


def _summed_along(op: TileOp) -> Iterator[Axis]:
    """Yield the reduced axes that vectors may run along: of a plain sum, all of them.

    A product sums its operands in the order in which they are walked.
    """
    longer = [axis for axis in op.reduced if axis.extent > 1]
    yield from longer[-1:] if is_contraction(op) else longer


def _joined(
    op: TileOp, positions: list[int], reads: list[Read], memory: _Memory
) -> tuple[int, ...]:
    """Return the innermost axes that can be walked as one.

    Each step of the outer axis is as long in memory as all of the inner one, for every read.
    """
    result = positions[:1]
    for inner, outer in pairwise(positions):
        extent = op.spatial[inner].extent
        for read in reads:
            steps = [memory.stride(read, op.spatial[position]) for position in (inner, outer)]
            if read.guards or None in steps or steps[1] != (steps[0] or 0) * extent:
                return tuple(result)
        result.append(outer)
    return tuple(result)


def _by_stride(stride: int | None) -> Lying:
    match stride:
        case 0:
            return "same"
        case 1:
            return "side by side"
        case int() if 0 < stride <= _NEAR:
            return "near"
        case _:
            return "apart"
