"""Sums that one node hands to itself between kernels, in the 16 bits that the node's tensors have.

s = f32(x) + f32(skip) + acc;  y = f16(normalised s)  -->  s is written and read as f16

What SkipLayerNormalization normalises is a sum of 16-bit floats, which the runtime, and the model
that it was made of, have in 16 bits, too. In f32 it is twice as much to write, and to read again.
"""

from __future__ import annotations

from dataclasses import replace

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.operands import contracts, narrow
from burnish.tile.expr import Accumulated, Argument, Call, Expr, cast, transform
from burnish.tile.graph import TileGraph, TileOp, arguments_of
from burnish.tile.steps.unused import regraph

LEAST_ELEMENTS = 2 << 20
"""Of a sum that is worth it: fewer stay in the second cache anyway."""


def narrowed(graph: TileGraph, least: int = LEAST_ELEMENTS) -> TileGraph:
    """Return the graph in which products that are only added to are written in 16 bits.

    Those with fewer than `least` elements stay as they are.
    """
    readers = graph.consumers()
    large = (op for op in graph.ops if graph.tensors[op.output].size >= least)
    kinds = {
        op.output: half
        for op in large
        if op.output not in graph.outputs and (half := _half(op, readers[op.output]))
    }
    if not kinds:
        return graph
    return regraph(graph, (_reading(_written(op, kinds), kinds) for op in graph.ops))


def _half(op: TileOp, readers: tuple[TileOp, ...]) -> str | None:
    """Return the 16-bit type of what a product multiplies and adds; None: it must stay wider."""
    if op.dtype != "f32" or op.finish is None or contracts(op) is None or not readers:
        return None
    assert isinstance(op.body, Call)
    found = {narrow(side).dtype for side in op.body.arguments} | set(_added(op.finish))
    if len(found) != 1 or not found <= spelling.HALVES:
        return None
    for reader in readers:
        if reader.combine not in (None, "sum") or not set(reader.nodes) & set(op.nodes):
            return None
    return found.pop()


def _added(expr: Expr) -> list[str]:
    """Return the types of what is added up; what is more than a sum has the type of nothing."""
    match expr:
        case Call("add", (left, right), "f32"):
            return [*_added(left), *_added(right)]
        case Call("cast", (Argument(_, half),), "f32"):
            return [half]
        case Accumulated():
            return []
        case Call("cast", (Call("cast", (Accumulated(),), half),), "f32"):
            return [half]
    return [""]


def _written(op: TileOp, kinds: dict[str, str]) -> TileOp:
    if op.output not in kinds:
        return op
    assert op.finish is not None
    return replace(op, finish=cast(op.finish, kinds[op.output]))


def _reading(op: TileOp, kinds: dict[str, str]) -> TileOp:
    """Return a nest that widens what it reads."""
    places = {n: kinds[read.tensor] for n, read in enumerate(op.reads) if read.tensor in kinds}

    def leaf(part: Expr) -> Expr:
        if isinstance(part, Argument) and part.position in places:
            return cast(Argument(part.position, places[part.position]), "f32")
        return part

    if not places or not arguments_of(op.body):
        return op
    finish = transform(op.finish, leaf) if op.finish else None
    return replace(op, body=transform(op.body, leaf), finish=finish)
