"""What is computed of two products, handed over to the one whose blocks are large.

s = f(q·k, r)  where  r = a sum of products whose sides share most of their axes

Fusion puts `f` behind the product that comes last. A product whose sides share axes has a block for
each element of those, and few rows in it: nothing that reads its result in large blocks can compute
it on the way. Behind the other product, `f` is where an attention's scores are formed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.operands import contracts
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Expr, Guard
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Index, at, substitute


@dataclass(frozen=True, slots=True)
class _Pair:
    """A product, and the one that it reads: what follows both moves to the second."""

    last: TileOp
    other: TileOp
    position: int
    """Where the first reads the other."""


def handed_over(graph: TileGraph) -> TileGraph:
    """Return the graph in which what follows two products follows the one with larger blocks."""
    known = {op.output: op for op in graph.ops}
    pairs = {op.output: pair for op in graph.ops if (pair := _pair(op, known, graph)) is not None}
    moved = {pair.other.output for pair in pairs.values()}
    tensors, ops = dict(graph.tensors), list[TileOp]()
    for op in graph.ops:
        new = _exchanged(pairs[op.output], tensors) if op.output in pairs else None
        if new is not None:
            ops = [each for each in ops if each is not pairs[op.output].other]
            ops += new
        else:
            ops.append(op)
    kept = {op.output for op in ops}
    for name in moved - kept:
        del tensors[name]
    return replace(graph, tensors=tensors, ops=tuple(ops))


def _pair(op: TileOp, known: Mapping[str, TileOp], graph: TileGraph) -> _Pair | None:
    if op.finish is None or contracts(op) is None:
        return None
    own = tuple(at(axis) for axis in op.spatial)
    inside = arguments_of(op.body)
    for position in arguments_of(op.finish):
        read = op.reads[position]
        other = known.get(read.tensor)
        if other is None or position in inside or read.guards or read.index != own:
            continue
        only = [each.output for each in graph.consumers()[read.tensor]] == [op.output]
        if contracts(other) and only and read.tensor not in graph.outputs:
            return _Pair(op, other, position) if _shared(op) > _shared(other) else None
    return None


def _shared(op: TileOp) -> int:
    """Return how many blocks a product needs at least: elements that both sides share."""
    roles = contracts(op)
    assert roles is not None
    return math.prod(axis.extent for axis in op.spatial if axis not in roles[0] | roles[1])


def _exchanged(pair: _Pair, tensors: dict[str, TensorType]) -> tuple[TileOp, TileOp] | None:
    """Return the product alone, and the other with all that follows; None: it cannot move."""
    last, other = pair.last, pair.other
    assert last.finish is not None
    half = _half(last.finish)
    if half is None:
        return None
    inside = arguments_of(last.body)
    alone = replace(
        last, output=f"{last.output}.apart", finish=Call("cast", (Accumulated("f32"),), half),
        reads=tuple(last.reads[position] for position in inside),
    )  # fmt: skip
    if inside != tuple(range(len(inside))):
        return None
    bind = dict(zip(last.spatial, (at(axis) for axis in other.spatial), strict=True))
    rest = [place for place in arguments_of(last.finish) if place != pair.position]
    start = len(other.reads)
    places = {old: start + 1 + new for new, old in enumerate(rest)}
    value = other.finish or Accumulated("f32")
    finish = _moved(last.finish, {**places, pair.position: value}, Argument(start, half))
    if finish is None:
        return None
    reads = [Read(alone.output, tuple(at(axis) for axis in other.spatial))]
    reads += [_renamed(last.reads[place], bind) for place in rest]
    nodes = tuple(dict.fromkeys((*other.nodes, *last.nodes)))
    joined = replace(
        other, output=last.output, finish=finish, reads=(*other.reads, *reads), nodes=nodes
    )
    tensors[alone.output] = TensorType(half, alone.shape)
    return alone, joined


def _half(expr: Expr) -> str | None:
    """Return the 16-bit type that the sum is rounded to wherever it is used; None: not always."""
    match expr:
        case Call("cast", (Accumulated(),), half) if half in spelling.HALVES:
            return half
        case Call(_, arguments, _):
            found = {each for each in map(_half, arguments) if each is not None}
            return found.pop() if len(found) == 1 else None
    return None


def _moved(expr: Expr, places: Mapping[int, int | Expr], total: Argument) -> Expr | None:
    """Return what follows a product, with `total` for its rounded sum; None: it cannot move."""
    match expr:
        case Call("cast", (Accumulated(),), dtype) if dtype == total.dtype:
            return total
        case Argument(position, dtype):
            new = places[position]
            return Argument(new, dtype) if isinstance(new, int) else new
        case Call(function, arguments, dtype):
            inner = [_moved(each, places, total) for each in arguments]
            kept = tuple(each for each in inner if each is not None)
            return Call(function, kept, dtype) if len(kept) == len(inner) else None
        case Constant():
            return expr
    return None  # it depends on where it is, or needs the sum itself


def _renamed(read: Read, bind: Mapping[Axis, Index]) -> Read:
    """Return a read over the axes of another nest."""
    guards = tuple(Guard(substitute(each.index, bind), each.low, each.high) for each in read.guards)
    index = tuple(substitute(each, bind) for each in read.index)
    return replace(read, index=index, guards=guards)
