"""Along which axes a nest may be walked in vectors, and how what it reads lies for their lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from burnish.tile.collisions import Layouts, stride
from burnish.tile.expr import Call
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, coefficient

Lying = Literal["same", "side by side", "near", "apart"]
"""How a read's elements for neighbouring lanes of a vector lie; near: a few elements apart."""

_NEAR = 4
"""Strides up to this one share most cache lines."""


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
class GroupMemory:
    """Where the tensors of a group are, and how they lie."""

    graph: TileGraph
    scratch: frozenset[str]
    orders: Layouts

    def stride(self, read: Read, axis: Axis) -> int | None:
        """Return how far apart in memory elements along an axis are; None: it varies."""
        kind = self.graph.tensors[read.tensor]
        return stride(read, axis, kind, self.orders.get(read.tensor))

    def lying(self, read: Read, axis: Axis, *, packed: bool = True) -> Lying:
        """Return how elements of a read lie along an axis; packed: constants lie as it wants."""
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


def vector_choices(
    op: TileOp, memory: GroupMemory, innermost: int | None
) -> tuple[VectorChoice, ...]:
    """Return the ways to lay vectors; `innermost` is the dimension of the output that lies so."""
    reads = [read for read, _ in used_reads(op)]
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


def is_sum_of_products(op: TileOp) -> bool:
    """Say whether a nest is a sum of products of two different reads."""
    match op.body:
        case Call("multiply", (left, right), _) if op.combine == "sum":
            return bool(arguments_of(left)) and bool(arguments_of(right)) and left != right
    return False


def used_reads(op: TileOp) -> list[tuple[Read, bool]]:
    """Return the reads that expressions use, and those of fetched indices; whether in the body."""
    inside = set(arguments_of(op.body))
    after = set(arguments_of(op.finish)) if op.finish else set()
    used = [(op.reads[k], k in inside) for k in sorted(inside | after)]
    return used + [(Read(each.tensor, each.index), True) for each in dict.fromkeys(op.fetches)]


def _across(
    op: TileOp, positions: list[int], reads: list[Read], memory: GroupMemory
) -> Iterator[int]:
    """Yield the longest of these axes; of a product also the longest that suits all its reads.

    Kernels put channels into vectors however many rows an image has.
    """
    first, *others = sorted(positions, key=lambda position: -op.spatial[position].extent)
    yield first
    for position in others if is_sum_of_products(op) else ():
        if {memory.lying(read, op.spatial[position]) for read in reads} <= {"same", "side by side"}:
            yield position
            return


def _summed_along(op: TileOp) -> Iterator[Axis]:
    """Yield the reduced axes that vectors may run along: of a plain sum, all of them.

    A product sums its operands in the order in which they are walked.
    """
    longer = [axis for axis in op.reduced if axis.extent > 1]
    yield from longer[-1:] if is_sum_of_products(op) else longer


def _joined(
    op: TileOp, positions: list[int], reads: list[Read], memory: GroupMemory
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
