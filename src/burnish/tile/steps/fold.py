"""What depends on constants alone is computed once, by the judge."""

from __future__ import annotations

from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.reference import evaluate_op
from burnish.tile.steps.substitution import is_move
from burnish.tile.steps.unused import regraph

LARGEST = 1 << 20
"""Elements that a folded constant may have although it holds more than it was made of."""

MOST_POINTS = 1 << 27
"""Points of a nest beyond which the judge would take longer than many runs of generated code."""


def fold(graph: TileGraph) -> TileGraph:
    """Return the graph with nests over constants replaced by the constants they compute.

    A movement is folded where it is small and repeats nothing: others cost less in their readers.
    An output that is a constant stays a nest, as somebody has to write it.
    """
    known: dict[str, Array] = dict(graph.constants)
    ops: list[TileOp] = []
    for op in graph.ops:
        constant = op.output not in graph.outputs and all(name in known for name in op.inputs)
        if constant and _pays(op, graph):
            known[op.output] = evaluate_op(op, known)
        else:
            ops.append(op)
    return regraph(graph, ops, known)


def _pays(op: TileOp, graph: TileGraph) -> bool:
    size = graph.tensors[op.output].size
    made_of = sum(graph.tensors[name].size for name in op.inputs)
    if is_move(op):
        return size <= min(made_of, LARGEST)
    return op.points <= MOST_POINTS and size <= max(made_of, LARGEST)
