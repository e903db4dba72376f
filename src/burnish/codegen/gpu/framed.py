"""Constants with zeros around them: framed once, instead of in each kernel that reads them.

Transposed convolutions read weights with a frame, so that each phase has as many taps. A kernel
that frames them itself asks a condition for each element, and loads nothing ahead.
"""

from __future__ import annotations

from burnish.codegen.gpu.spelling import HALVES
from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import axes_of
from burnish.tile.reference import evaluate_op
from burnish.tile.steps.substitution import is_move
from burnish.tile.steps.unused import regraph
from burnish.tile.vectors import is_sum_of_products

MOST = 2.0
"""Times its elements that a framed constant may have: more is fetched from memory."""
LARGEST = 1 << 22
"""Elements of it, at most."""


def framed(graph: TileGraph) -> TileGraph:
    """Return the graph with framed constants that are multiplied as constants of their own."""
    readers = graph.consumers()
    found: dict[str, Array] = {}
    for op in graph.ops:
        if _is_frame(op, graph) and all(map(is_sum_of_products, readers[op.output])):
            found[op.output] = evaluate_op(op, graph.constants)
    return regraph(graph, [op for op in graph.ops if op.output not in found], found)


def _is_frame(op: TileOp, graph: TileGraph) -> bool:
    """Say whether a nest puts something around a constant, and does nothing else."""
    if not is_move(op) or len(op.reads) != 1 or op.dtype not in HALVES:
        return False
    (read,) = op.reads
    if read.tensor not in graph.constants or not read.guards or op.output in graph.outputs:
        return False
    size = graph.tensors[op.output].size
    pairs = zip(read.index, op.spatial, strict=False)
    plain = all(axes_of(part) <= {axis} for part, axis in pairs)
    return plain and size <= min(MOST * graph.tensors[read.tensor].size, LARGEST)
