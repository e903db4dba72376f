"""Element-wise nests disappear into their readers, where no expensive work is repeated."""

from __future__ import annotations

import math

from burnish.tile.expr import Expr, operations, walk
from burnish.tile.graph import TileGraph, TileOp, arguments_of
from burnish.tile.sent import sent
from burnish.tile.steps.substitution import (
    inlined,
    is_contraction,
    is_elementwise,
    is_safe,
    op_fetches,
    varies_with_all,
)
from burnish.tile.steps.tidy import Tensors, tidy
from burnish.tile.steps.unused import regraph

CHEAP = 2
"""Additions that may be done again in each reader rather than be stored and read."""

LONGEST = 200
"""Parts of an expression; beyond it, what is saved in memory is spent on registers."""


def inline_elementwise(graph: TileGraph) -> TileGraph:
    """Return the graph with element-wise producers substituted into the nests that read them.

    t[i] = f(x[i]);  out[j] = g(t[h(j)])  -->  out[j] = g(f(x[h(j)]))
    """
    ops = {op.output: op for op in graph.ops}
    readers = {name: tuple(op.output for op in found) for name, found in graph.consumers().items()}
    for name in list(ops):
        producer = ops[name]
        if name in graph.outputs or not is_elementwise(producer) or not readers[name]:
            continue
        joined = _joined(producer, [ops[reader] for reader in readers[name]], graph.tensors)
        if joined is None:
            continue
        del ops[name]
        ops |= {op.output: op for op in joined}
        for source in producer.inputs:
            left = (reader for reader in readers[source] if reader != name)
            readers[source] = tuple(dict.fromkeys((*left, *readers[name])))
    return regraph(graph, ops.values())


def _joined(producer: TileOp, readers: list[TileOp], tensors: Tensors) -> list[TileOp] | None:
    """Return the readers with the producer's work in them; None where it does not pay."""
    if len(readers) > 1 and not _is_free(producer, readers, tensors):
        return None
    if not all(_fits(producer, reader) for reader in readers):
        return None
    if not _is_cheap(producer) and _evaluations(producer, readers[0]) > math.prod(producer.shape):
        return None
    joined = [tidy(_inlined(producer, reader), tensors) for reader in readers]
    return joined if all(_length(op) <= LONGEST for op in joined) else None


def _is_free(producer: TileOp, readers: list[TileOp], tensors: Tensors) -> bool:
    """Return whether several readers may each do the work: cheap, and made of one large tensor."""
    size = math.prod(producer.shape)
    large = {read.tensor for read in producer.reads if tensors[read.tensor].size * 2 > size}
    return _is_cheap(producer) and len(large) <= 1 and all(map(is_elementwise, readers))


def _is_cheap(producer: TileOp) -> bool:
    return operations(producer.body) <= CHEAP


def _fits(producer: TileOp, reader: TileOp) -> bool:
    """Return whether the reader can take the producer in, whatever that costs."""
    reads = [read for read in reader.reads if read.tensor == producer.output]
    if producer.output in op_fetches(reader) or not all(is_safe(read, producer) for read in reads):
        return False
    if is_elementwise(reader):
        return True
    in_body = [reader.reads[position] for position in arguments_of(reader.body)]
    repeated = [read for read in in_body if read.tensor == producer.output]
    if not repeated:
        return True
    guarded = any(read.guards for read in producer.reads)
    row_by_row = all(varies_with_all(read, reader) for read in repeated)
    return row_by_row and not guarded and not is_contraction(reader)


def _evaluations(producer: TileOp, reader: TileOp) -> int:
    """Return how often the reader evaluates what it reads of the producer."""
    in_body = set(arguments_of(reader.body))
    outputs = math.prod(reader.shape)
    found = sent(reader)
    terms = reader.points if found is None else found.terms
    return sum(
        terms if position in in_body else outputs
        for position, read in enumerate(reader.reads)
        if read.tensor == producer.output
    )


def _inlined(producer: TileOp, reader: TileOp) -> TileOp:
    for position, read in enumerate(reader.reads):
        if read.tensor == producer.output:
            reader = inlined(reader, position, producer)
    return reader


def _length(op: TileOp) -> int:
    exprs: list[Expr] = [op.body, *([op.finish] if op.finish is not None else [])]
    return sum(1 for expr in exprs for _ in walk(expr))
