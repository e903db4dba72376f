"""What each nest of a group does per element, read off once; cost models ask it for every tile."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from burnish.core.placing import Lifetime
from burnish.core.tensors import BITS, FLOATS
from burnish.hw.unit import CORE, UnitSpec
from burnish.tile.collisions import Layouts, colliding, turned
from burnish.tile.expr import Argument, operations, walk
from burnish.tile.footprint import lifetimes
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.group import Group
from burnish.tile.index import Axis, axes_of, coefficient, fetches_of
from burnish.tile.region import Accesses, accesses
from burnish.tile.vectors import (
    GroupMemory,
    VectorChoice,
    is_sum_of_products,
    used_reads,
    vector_choices,
)

FLOPS_PER_OPERATION = 2
"""A multiply-add counts two in a device's peak rate, and every other operation takes its place."""


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


def workload(
    group: Group, graph: TileGraph, orders: Layouts | None = None, unit: UnitSpec = CORE
) -> Workload:
    """Return what the nests of a group of `graph` do per element.

    `orders` has the tensors whose dimensions lie in another order than their own.
    """
    memory = GroupMemory(graph, frozenset(group.scratch), orders or {})
    inside = padded_in_place(group)
    lives = lifetimes(group)
    for source, padded in inside.items():
        begun = lives.pop(source)
        lives[padded] = Lifetime(begun.first, lives[padded].last)
    nests = []
    known: set[str] = set()
    innermost = _innermost_dimensions(group, memory)
    for op in group.ops:
        choices = vector_choices(op, memory, innermost.get(op.output))
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
    group: Group, memory: GroupMemory, found: Callable[[TileOp], Iterator[int]]
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


def _innermost_dimensions(group: Group, memory: GroupMemory) -> dict[str, int]:
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


def _only_pads(op: TileOp) -> bool:
    if op.reduced or len(op.reads) != 1 or not isinstance(op.body, Argument):
        return False
    read = op.reads[0]
    shifted = zip(op.spatial, read.index, strict=False)
    same_rank = len(op.spatial) == len(read.index)
    return bool(read.guards) and same_rank and all(coefficient(i, a) in (0, 1) for a, i in shifted)


def _facts(
    op: TileOp,
    memory: GroupMemory,
    known: set[str],
    choices: tuple[VectorChoice, ...],
    in_place: bool,
) -> NestFacts:
    graph = memory.graph
    contracts = is_sum_of_products(op)
    points = op.terms
    per_point = _per_point(op, graph)
    after = operations(op.finish) if op.finish else 0
    reads = used_reads(op)
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
    if is_sum_of_products(op) and _rate_dtype(op, graph) in _WIDENED:
        return 2  # what multiplies them widens them itself: a product and a sum are left
    return operations(op.body) + bool(op.reduced)


def _rate_dtype(op: TileOp, graph: TileGraph) -> str:
    """Return the type that the units multiply: the operands', where a body only widens them."""
    if is_sum_of_products(op):
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
