"""Products of numbers that were bf16 a moment ago are products of bf16."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.tile.expr import Argument, Call
from burnish.tile.graph import TileGraph, TileOp, arguments_of
from burnish.tile.steps.substitution import inlined, is_contraction, is_elementwise
from burnish.tile.steps.tidy import Tensors, tidy
from burnish.tile.steps.unused import regraph

HALF = "bf16"
"""The upper half of an f32, so that what multiplies it widens it for nothing."""


def multiply_halves(graph: TileGraph) -> TileGraph:
    """Return the graph with products that read bf16 themselves, not the f32 made of them.

    a[i] = f32(h[i]), b[j] = f32(w[j]), out = Σ a·b  -->  out = Σ f32(h)·f32(w)

    Both factors must be such: half of the bytes are read then, and units that multiply bf16 can.
    """
    widened: dict[str, TileOp] = {}
    ops: list[TileOp] = []
    for op in graph.ops:
        if _widens(op):
            widened[op.output] = op
        ops.append(_reading_halves(op, widened, graph.tensors))
    return regraph(graph, ops)


def _widens(op: TileOp) -> bool:
    """Return whether a nest only makes f32 of bf16, which is exact."""
    match op.body:
        case Call("cast", (Argument(_, dtype),), "f32") if dtype == HALF:
            return is_elementwise(op) and not any(read.guards for read in op.reads)
    return False


def _reading_halves(op: TileOp, widened: Mapping[str, TileOp], tensors: Tensors) -> TileOp:
    if not is_contraction(op):
        return op
    positions = sorted(arguments_of(op.body))
    reads = [op.reads[position] for position in positions]
    plain = [
        (position, widened[read.tensor])
        for position, read in zip(positions, reads, strict=True)
        if read.tensor in widened and not read.guards
    ]
    halves = sum(tensors[read.tensor].dtype == HALF for read in reads)
    if not plain or len(plain) + halves < len(reads):
        return op
    for position, producer in plain:
        op = inlined(op, position, producer)
    return tidy(op, tensors)
