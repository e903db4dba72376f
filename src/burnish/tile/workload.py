"""What each nest of a group does per element, read off once; cost models ask it for every tile."""

from __future__ import annotations

import math
from dataclasses import dataclass

from burnish.core.tensors import BITS, FLOATS
from burnish.tile.expr import Argument, Call, operations, walk
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of, expression_indices
from burnish.tile.group import Group
from burnish.tile.index import Axis, axes_of, coefficient, fetches_of

FLOPS_PER_OPERATION = 2
"""A multiply-add counts two in a device's peak rate, and every other operation takes its place."""


@dataclass(frozen=True, slots=True)
class ReadFacts:
    """One read of a nest: how wide, along which axes, and whether neighbours lie side by side."""

    tensor: str
    width_bytes: float
    axes: frozenset[Axis]
    strides: tuple[int | None, ...]
    """Elements between neighbours along each vector axis of the nest; None: not even."""
    in_body: bool


@dataclass(frozen=True, slots=True)
class NestFacts:
    """One nest: its work per point and per element, and its reads."""

    op: TileOp
    point_flops: float
    """Per point of the nest, in units of the peak rate."""
    element_flops: float
    """Per element of the output, after the reduction."""
    contracts: bool
    """Whether it is a sum of products, which multiply-add units do at once."""
    rate_dtype: str
    """The element type whose peak rate applies."""
    vector_axes: tuple[Axis, ...]
    """Along which a vector may lie: the innermost spatial and the innermost reduced axis."""
    reads: tuple[ReadFacts, ...]
    output_bytes: float
    """Of one element."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A group and the facts of its nests."""

    group: Group
    graph: TileGraph
    nests: tuple[NestFacts, ...]


def workload(group: Group, graph: TileGraph) -> Workload:
    """Return what the nests of a group of `graph` do per element."""
    return Workload(group, graph, tuple(_facts(op, graph) for op in group.ops))


def is_contraction(op: TileOp) -> bool:
    """Say whether a nest is a sum of products of two different reads."""
    match op.body:
        case Call("multiply", (left, right), _) if op.combine == "sum":
            return bool(arguments_of(left)) and bool(arguments_of(right)) and left != right
    return False


def _facts(op: TileOp, graph: TileGraph) -> NestFacts:
    contracts = is_contraction(op)
    spared = 1 if contracts else 0
    combining = 1 if op.reduced else 0
    vector_axes = _vector_axes(op)
    after = set(arguments_of(op.finish)) if op.finish else set()
    inside = set(arguments_of(op.body))
    return NestFacts(
        op=op,
        point_flops=FLOPS_PER_OPERATION * (operations(op.body) - spared + combining),
        element_flops=FLOPS_PER_OPERATION * (operations(op.finish) if op.finish else 0),
        contracts=contracts,
        rate_dtype=_rate_dtype(op, graph),
        vector_axes=vector_axes,
        reads=tuple(
            _read_facts(read, graph, vector_axes, position in inside)
            for position, read in enumerate((*op.reads, *_fetching(op)))
            if position in inside or position in after or position >= len(op.reads)
        ),
        output_bytes=BITS[op.dtype] / 8,
    )


def _fetching(op: TileOp) -> list[Read]:
    """Return the reads of tensors that hold indices."""
    indices = [index for read in op.reads for index in read.indices]
    indices += expression_indices(op.body)
    indices += expression_indices(op.finish) if op.finish else []
    found = [fetch for index in indices for fetch in fetches_of(index)]
    return [Read(fetch.tensor, fetch.index) for fetch in dict.fromkeys(found)]


def _vector_axes(op: TileOp) -> tuple[Axis, ...]:
    longer = [axis for axis in op.spatial if axis.extent > 1][-1:]
    return (*longer, *[axis for axis in op.reduced if axis.extent > 1][-1:])


def _rate_dtype(op: TileOp, graph: TileGraph) -> str:
    """Return the type that the units multiply: the operands', where a body only widens them."""
    if is_contraction(op):
        operands = [_operand(part, op) for part in walk(op.body) if isinstance(part, Argument)]
        types = {graph.tensors[read.tensor].dtype for read in operands}
        if len(types) == 1 and (only := types.pop()) in FLOATS:
            return only
    return op.body.dtype


def _operand(part: Argument, op: TileOp) -> Read:
    return op.reads[part.position]


def _read_facts(
    read: Read, graph: TileGraph, vector_axes: tuple[Axis, ...], in_body: bool
) -> ReadFacts:
    kind = graph.tensors[read.tensor]
    packed = read.tensor in graph.constants
    return ReadFacts(
        tensor=read.tensor,
        width_bytes=BITS[kind.dtype] / 8,
        axes=frozenset(axis for index in read.indices for axis in axes_of(index)),
        strides=tuple(_stride(read, kind, axis, packed) for axis in vector_axes),
        in_body=in_body,
    )


def _stride(read: Read, kind: TensorType, axis: Axis, packed: bool) -> int | None:
    steps = [coefficient(index, axis) for index in read.index]
    if packed and None not in steps:
        # a constant is laid out for its reader when compiling
        return 1 if any(steps) else 0
    inner = [math.prod(kind.shape[position + 1 :]) for position in range(len(kind.shape))]
    total = 0
    for step, elements in zip(steps, inner, strict=True):
        if step is None:
            return None
        total += step * elements
    return total
