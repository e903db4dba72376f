"""Sums over parts of one tensor that are formed alike, as one.

n[i] = sum_k x[i, k]^2,  m[i] = sum_k x[i + 48, k]^2  -->  both[j, i] = sum_k x[i + 48 j, k]^2

The norms of an attention's queries and keys, for example: a GPU starts one kernel instead of two,
and it reads longer runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from burnish.codegen.gpu.operands import contracts
from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.index import Axis, at, number
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import regraph

Steps = tuple[tuple[int, ...], ...]
"""How far one sum's reads are from another's, dimension by dimension."""


def side_by_side(graph: TileGraph) -> TileGraph:
    """Return the graph in which sums over neighbouring parts of a tensor are one nest."""
    alike: dict[Hashable, list[TileOp]] = {}
    fetched = {fetch.tensor for op in graph.ops for fetch in op.fetches}
    for op in graph.ops:
        if _joins(op) and op.output not in fetched and op.output not in graph.outputs:
            alike.setdefault(_key(op), []).append(op)
    found = {members[0].output: members for each in alike.values() for members in _evenly(each)}
    if not found:
        return graph
    moved = {
        op.output: (f"{members[0].output}.alike", place)
        for members in found.values()
        for place, op in enumerate(members)
    }
    ops: list[TileOp] = []
    for op in graph.ops:
        if op.output in found:
            ops.append(_joined(found[op.output]))
        elif op.output not in moved:
            ops.append(_reading(op, moved))
    return regraph(graph, (tidy(op, graph.tensors) for op in ops))


def _joins(op: TileOp) -> bool:
    if op.combine is None or contracts(op) is not None or op.fetches or op.coordinates:
        return False
    return bool(op.reads) and not any(read.guards for read in op.reads)


def _key(op: TileOp) -> Hashable:
    """Return what sums must have in common to be one: all but where their parts begin."""
    reads = tuple(
        (read.tensor, tuple(index - index.constant for index in read.index)) for read in op.reads
    )
    return reads, op.spatial, op.reduced, op.combine, op.body, op.finish


def _steps(first: TileOp, second: TileOp) -> Steps:
    return tuple(
        tuple(b.constant - a.constant for a, b in zip(one.index, other.index, strict=True))
        for one, other in zip(first.reads, second.reads, strict=True)
    )


def _evenly(ops: Sequence[TileOp]) -> Iterator[Sequence[TileOp]]:
    """Yield the sums whose parts follow each other at one distance, where there are several."""
    steps = {_steps(*pair) for pair in pairwise(ops)}
    if len(steps) == 1 and any(any(each) for each in next(iter(steps))):
        yield ops


def _joined(members: Sequence[TileOp]) -> TileOp:
    op = members[0]
    which = Axis("member", len(members))
    reads = tuple(
        replace(
            read,
            index=tuple(
                index + at(which) * step for index, step in zip(read.index, steps, strict=True)
            ),
        )
        for read, steps in zip(op.reads, _steps(op, members[1]), strict=True)
    )
    nodes = tuple(dict.fromkeys(node for member in members for node in member.nodes))
    return replace(
        op, output=f"{op.output}.alike", spatial=(which, *op.spatial), reads=reads, nodes=nodes
    )


def _reading(op: TileOp, moved: Mapping[str, tuple[str, int]]) -> TileOp:
    """Return a nest that reads what has become part of another."""

    def other(read: Read) -> Read:
        if read.tensor not in moved:
            return read
        tensor, place = moved[read.tensor]
        return replace(read, tensor=tensor, index=(number(place), *read.index))

    return replace(op, reads=tuple(map(other, op.reads)))
