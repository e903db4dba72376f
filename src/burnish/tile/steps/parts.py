"""Long sums of products in parts: a small matrix from long rows has too few tiles otherwise.

out[i, j] = Σ_k a[i, k]·b[j, k]  -->  part[p, i, j] = Σ over the p-th part; out = Σ_p part[p, …]

The parts are tiles of their own, so that threads share the sum and each part's rows fit a cache.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from burnish.tile.expr import Accumulated, Argument, Call, renumbered
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, substitute
from burnish.tile.steps.finish import SHARED
from burnish.tile.steps.substitution import expr_mapped, read_mapped, reuse
from burnish.tile.steps.tidy import tidy
from burnish.tile.steps.unused import free_name

LONG = 4096
"""Terms above which a sum is cut."""
SMALL = 1 << 16
"""Elements of an output that is worth summing in parts."""
PART = 1024
"""About how many terms one part has."""


def sum_in_parts(graph: TileGraph) -> TileGraph:
    """Return the graph with long sums of products of two computed tensors cut into parts."""
    tensors = dict(graph.tensors)
    ops: list[TileOp] = []
    for op in graph.ops:
        parts = _parts(op, graph)
        if parts is None:
            ops.append(op)
            continue
        first, second = cut(op, parts, tensors)
        tensors[first.output] = TensorType(first.dtype, first.shape)
        ops += [tidy(first, tensors), tidy(second, tensors)]
    return replace(graph, tensors=tensors, ops=tuple(ops))


def _parts(op: TileOp, graph: TileGraph) -> int | None:
    """Return into how many parts the first reduced axis is cut; None: not at all."""
    terms = op.terms
    if op.combine != "sum" or terms <= LONG or math.prod(op.shape) > SMALL:
        return None
    if not isinstance(op.body, Call) or op.body.function != "multiply":
        return None
    operands = {op.reads[position].tensor for position in arguments_of(op.body)}
    if len(arguments_of(op.body)) != 2 or operands & graph.constants.keys():
        return None
    shared = all(reuse(op, position) >= SHARED for position in arguments_of(op.body))
    if any(read.guards for read in op.reads) or not shared:
        return None
    extent = op.reduced[0].extent
    wanted = terms // PART
    fits = [count for count in range(2, extent + 1) if extent % count == 0]
    return min(fits, key=lambda count: abs(count - wanted), default=None)


def cut(op: TileOp, parts: int, taken: Collection[str] = ()) -> tuple[TileOp, TileOp]:
    """Return a sum as the sums of so many parts of its first reduced axis, and their sum.

    `taken`: the names of tensors, none of which the first one's output gets.
    """
    long = op.reduced[0]
    part, inner = Axis("part", parts), Axis(f"{long.name}.", long.extent // parts)
    place = {long: at(part) * inner.extent + at(inner)}
    positions = sorted(arguments_of(op.body))
    numbers = {old: new for new, old in enumerate(positions)}

    def moved(index: Index) -> Index:
        return substitute(index, place)

    reads = tuple(read_mapped(op.reads[old], moved) for old in positions)
    body = expr_mapped(renumbered(op.body, numbers), moved, lambda argument: argument)
    name = free_name(f"{op.output}.parts", {*taken})
    first = replace(
        op, output=name, spatial=(part, *op.spatial), reads=reads, body=body,
        reduced=(inner, *op.reduced[1:]), finish=None,
    )  # fmt: skip
    return first, _summed(op, first, part)


def _summed(op: TileOp, first: TileOp, part: Axis) -> TileOp:
    own = Read(first.output, (at(part), *(at(axis) for axis in op.spatial)))
    finish = op.finish or Accumulated(op.body.dtype)
    positions = sorted(arguments_of(finish))
    numbers = {old: new for new, old in enumerate(positions, start=1)}
    return replace(
        op,
        reads=(own, *(op.reads[old] for old in positions)),
        body=Argument(0, first.dtype),
        reduced=(part,),
        finish=renumbered(finish, numbers) if op.finish else None,
    )
