"""Convolutions of groups of channels, as a product for each group.

y[m] = Σ x[(m // e)·c + k] · w[m, k]  -->  y[g, e] = Σ x[g·c + k] · w[g, e, k]

A map reads the channels of its group, so both sides depend on the map, and tensor cores find no
rows and columns in that. With groups counted by an axis of their own, they share only that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from burnish.codegen.gpu.operands import contracts
from burnish.tile.expr import Argument
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Div, Index, at
from burnish.tile.steps.refine import parted_index, split_axis

FEWEST = 8
"""Maps of a group that are worth a block of sixteen columns."""


def by_groups(graph: TileGraph) -> TileGraph:
    """Return the graph with products of groups; readers see what they gave as it was."""
    tensors, ops = dict(graph.tensors), list[TileOp]()
    for op in graph.ops:
        found = next(_products(op), None)
        if found is None:
            ops.append(op)
            continue
        product, axis = found
        place = op.spatial.index(axis)
        index = parted_index(tuple(map(at, op.spatial)), place, product.spatial[place + 1].extent)
        name = f"{op.output}.grouped"
        tensors[name] = TensorType(product.dtype, product.shape)
        body = Argument(0, product.dtype)
        ops.append(replace(product, output=name))
        ops.append(TileOp(op.output, op.spatial, (Read(name, index),), body, nodes=op.nodes))
    return replace(graph, tensors=tensors, ops=tuple(ops))


def _products(op: TileOp) -> Iterator[tuple[TileOp, Axis]]:
    """Yield a nest as products of groups, and the axis of all maps."""
    if op.combine != "sum" or contracts(op):
        return
    inside = [op.reads[position] for position in arguments_of(op.body)]
    for atom, _ in (term for read in inside for part in read.index for term in part.terms):
        match atom:
            case Div(Index(((Axis() as axis, 1),), 0), by) if axis in op.spatial and by >= FEWEST:
                if axis.extent % by == 0 and contracts(product := split_axis(op, axis, by)):
                    yield product, axis
