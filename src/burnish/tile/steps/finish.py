"""Element-wise work on a reduction's result becomes the end of the reduction itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from burnish.tile.expr import Accumulated, Argument, Expr
from burnish.tile.graph import Read, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index, flatten
from burnish.tile.sent import sent
from burnish.tile.steps.divisions import divisions
from burnish.tile.steps.substitution import (
    expr_mapped,
    is_contraction,
    is_elementwise,
    op_fetches,
    reuse,
)
from burnish.tile.steps.tidy import Tensors, renamed, tidy
from burnish.tile.steps.unused import regraph

SHARED = 8
"""Outputs that should share an element of an operand: about the rows of a block in registers."""


def inline_finish(graph: TileGraph) -> TileGraph:
    """Return the graph with each reduction finished by the only nest that reads it.

    r[i] = Σ f;  out[j] = g(r[h(j)], …)  -->  out[j] = g(Σ f at h(j), …)   where h is one to one

    Of several reductions that a nest reads, it ends the one that is computed last.
    """
    readers = graph.consumers()
    ops: dict[str, TileOp] = {}
    for op in graph.ops:
        ops[op.output] = op
        for name in _last_first(op, ops) if is_elementwise(op) else ():
            alone = len(readers[name]) == 1 and name not in graph.outputs
            found = finished(ops[name], op, graph.tensors) if alone else None
            if found is not None:
                del ops[name]
                ops[op.output] = tidy(found, graph.tensors)
                break
    return regraph(graph, ops.values())


def _last_first(op: TileOp, ops: Mapping[str, TileOp]) -> list[str]:
    """Return what the nest reads of other nests, in the reverse of the order they are computed."""
    read = set(op.inputs)
    places = {name: place for place, name in enumerate(ops) if name in read}
    return sorted(places, key=places.__getitem__, reverse=True)


def finished(reduction: TileOp, op: TileOp, tensors: Tensors) -> TileOp | None:
    """Return the reduction that ends with an element-wise nest; None where it does not fit."""
    read = _only_read(reduction, op)
    if reduction.combine is None or read is None or not _is_one_to_one(read, op, tensors):
        return None
    reduced = tuple(Axis(f"{axis.name}'", axis.extent) for axis in reduction.reduced)
    values = dict(zip(reduction.spatial, read.index, strict=True))
    values |= {
        old: Index(((new, 1),)) if new.extent != 1 else Index()
        for old, new in zip(reduction.reduced, reduced, strict=True)
    }
    moved = renamed(reduction, op.spatial, reduced, values)
    if len(divisions(moved, tensors).addresses) > len(divisions(reduction, tensors).addresses):
        return None
    if sent(reduction) is not None and op.dtype != reduction.dtype:
        return None  # it is collected where the result is
    if is_contraction(reduction) and not _stays_a_product(reduction, moved):
        return None
    return _joined(moved, op)


def _stays_a_product(reduction: TileOp, moved: TileOp) -> bool:
    """Return whether what many outputs shared is shared still: that is why products are fast.

    Of a[i, k]·b[j, k], read at [i, j - i], no element of b would serve two outputs.
    """
    return all(
        reuse(moved, position) >= min(reuse(reduction, position), SHARED)
        for position in arguments_of(reduction.body)
    )


def _joined(reduction: TileOp, op: TileOp) -> TileOp:
    total: Expr = reduction.finish or Accumulated(reduction.body.dtype)
    kept = [place for place, read in enumerate(op.reads) if read.tensor != reduction.output]
    now = {place: len(reduction.reads) + number for number, place in enumerate(kept)}

    def of_argument(argument: Argument) -> Expr:
        place = now.get(argument.position)
        return total if place is None else Argument(place, argument.dtype)

    return replace(
        reduction,
        output=op.output,
        reads=(*reduction.reads, *(op.reads[place] for place in kept)),
        finish=expr_mapped(op.body, lambda index: index, of_argument),
        nodes=tuple(dict.fromkeys((*reduction.nodes, *op.nodes))),
    )


def _only_read(reduction: TileOp, op: TileOp) -> Read | None:
    """Return how the nest reads the reduction, if always in the same way and without guards."""
    reads = {read for read in op.reads if read.tensor == reduction.output}
    if len(reads) != 1 or reduction.output in op_fetches(op):
        return None
    (read,) = reads
    return None if read.guards else read


def _is_one_to_one(read: Read, op: TileOp, tensors: Tensors) -> bool:
    """Return whether each point of the nest reads an element of its own."""
    place = flatten(read.index, tensors[read.tensor].shape)
    axes = [axis for axis in op.spatial if axis.extent > 1]
    if {atom for atom, _ in place.terms} != set(axes):
        return False
    reach = 0
    for atom, factor in sorted(place.terms, key=lambda term: abs(term[1])):
        if abs(factor) <= reach or not isinstance(atom, Axis):
            return False
        reach += abs(factor) * (atom.extent - 1)
    return True
