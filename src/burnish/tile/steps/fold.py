"""What depends on constants alone is computed once, by the judge or by NumPy's products."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.tile.graph import TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index
from burnish.tile.reference import evaluate_op, finished
from burnish.tile.steps.substitution import is_contraction, is_move
from burnish.tile.steps.unused import regraph

LARGEST = 1 << 20
"""Elements that a folded constant may have although it holds more than it was made of."""

MOST_POINTS = 1 << 27
"""Points of a nest beyond which the judge would take longer than many runs of generated code."""


MOST_POINTS_OF_A_PRODUCT = 1 << 32
"""The same for products of two matrices, which take a second."""


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
            plain = _subscripts(op, graph)
            known[op.output] = _product(plain, op, known) if plain else evaluate_op(op, known)
        else:
            ops.append(op)
    return regraph(graph, ops, known)


def _pays(op: TileOp, graph: TileGraph) -> bool:
    size = graph.tensors[op.output].size
    made_of = sum(graph.tensors[name].size for name in op.inputs)
    if is_move(op):
        return size <= min(made_of, LARGEST)
    most = MOST_POINTS if _subscripts(op, graph) is None else MOST_POINTS_OF_A_PRODUCT
    return op.points <= most and size <= max(made_of, LARGEST)


def _product(subscripts: str, op: TileOp, known: Mapping[str, Array]) -> Array:
    """Return a product of two constants, summed in f64; what follows is computed as ever."""
    wide = (known[op.reads[position].tensor].astype(np.float64) for position in _factors(op))
    product: Array = np.einsum(subscripts, *wide, optimize=True)
    return finished(op, known, product.astype(array_type(op.body.dtype)))


def _subscripts(op: TileOp, graph: TileGraph) -> str | None:
    """Return a product of whole tensors in the notation of `einsum`; None: it is not one."""
    types = {graph.tensors[op.reads[position].tensor].dtype for position in _factors(op)}
    if not is_contraction(op) or op.body.dtype not in ("f32", "f64") or not types <= set(FLOATS):
        return None
    letters = {axis: chr(ord("a") + place) for place, axis in enumerate((*op.spatial, *op.reduced))}
    operands = []
    for position in _factors(op):
        read = op.reads[position]
        axes = [axis for index in read.index if (axis := _axis(index)) is not None]
        if read.guards or tuple(a.extent for a in axes) != graph.tensors[read.tensor].shape:
            return None
        operands.append("".join(letters[axis] for axis in axes))
    result = "".join(letters[axis] for axis in op.spatial)
    used = set("".join(operands))
    return f"{','.join(operands)}->{result}" if set(letters.values()) == used else None


def _factors(op: TileOp) -> list[int]:
    return sorted(arguments_of(op.body))


def _axis(index: Index) -> Axis | None:
    match index:
        case Index(((Axis() as axis, 1),), 0):
            return axis
    return None
