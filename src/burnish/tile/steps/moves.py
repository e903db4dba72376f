"""Nests that only move elements disappear into the nests that read them."""

from __future__ import annotations

from collections.abc import Container, Mapping
from math import gcd

from burnish.tile.graph import TileGraph, TileOp, arguments_of
from burnish.tile.index import Axis, Div, Fetch, Index, Mod, fetched, fetches_of, substitute
from burnish.tile.steps.divisions import divisions
from burnish.tile.steps.substitution import (
    index_mapped,
    inlined,
    is_elementwise,
    is_move,
    is_safe,
    kept_fetch,
    op_fetches,
    op_mapped,
    varies_with_all,
)
from burnish.tile.steps.tidy import Tensors, tidy
from burnish.tile.steps.unused import regraph


def inline_moves(graph: TileGraph) -> TileGraph:
    """Return the graph with what movements move read from where it was.

    out[i] = move[f(i)], move[j] = x[g(j)]  -->  out[i] = x[g(f(i))]

    A movement with guards (padding) goes into element-wise nests only: a reduction reads each of
    its elements often, and is fast where it has nothing to ask.
    """
    alone = {name for name, readers in graph.consumers().items() if len(readers) == 1}
    moves: dict[str, TileOp] = {}
    ops: list[TileOp] = []
    for original in graph.ops:
        op = tidy(_following(original, moves, graph.tensors, alone), graph.tensors)
        if is_move(op):
            moves[op.output] = op
        ops.append(op)
    return regraph(graph, ops)


def _following(
    op: TileOp, moves: Mapping[str, TileOp], tensors: Tensors, alone: Container[str]
) -> TileOp:
    if not any(name in moves for name in op.inputs):
        return op
    position = 0
    while position < len(op.reads):
        read = op.reads[position]
        move = moves.get(read.tensor)
        if move is not None and _may_follow(op, position, move):
            through = inlined(op, position, move)
            # A movement that needs division is done once, not by each of its readers; of two in
            # a row one is enough, and together they may need none.
            joins = is_move(op) and read.tensor in alone
            most = _divided(op, tensors) + (_divided(move, tensors) if joins else 0)
            if _divided(through, tensors) <= most:
                op = through
        position += 1
    if not any(name in moves for name in op_fetches(op)):
        return op
    return op_mapped(op, lambda index: index_mapped(index, lambda fetch: _fetch(fetch, moves)))


def _divided(op: TileOp, tensors: Tensors) -> int:
    return len(divisions(op, tensors).addresses)


def _may_follow(op: TileOp, position: int, move: TileOp) -> bool:
    """Return whether the reader stays as fast when it reads through the movement."""
    read, source = op.reads[position], move.reads[0]
    if not is_safe(read, move):
        return False
    if is_elementwise(op) or position not in arguments_of(op.body):
        return True
    if source.guards:
        return False
    if any(fetches_of(index) for index in source.index):
        return varies_with_all(read, op)
    values = dict(zip(move.spatial, read.index, strict=True))
    return all(_splits_away(substitute(index, values)) for index in source.index)


def _splits_away(index: Index) -> bool:
    """Return whether splitting axes removes all division and remainder from the index."""
    return all(_atom_splits_away(atom) for atom, _ in index.terms)


def _atom_splits_away(atom: object) -> bool:
    match atom:
        case Div(Index(((Axis(_, extent), factor),), 0), by):
            return extent % (by // gcd(by, factor)) == 0
        case Mod(Index(((Axis(_, extent), factor),), 0), by):
            return extent % (by // gcd(by, factor)) == 0
        case Div(Index(((inner, 1),), 0), _) | Mod(Index(((inner, 1),), 0), _):
            return _atom_splits_away(inner)
    return isinstance(atom, Axis)


def _fetch(fetch: Fetch, moves: Mapping[str, TileOp]) -> Index:
    """Return the fetched index, fetched from where a movement had it from."""
    move = moves.get(fetch.tensor)
    if move is None or move.reads[0].guards:
        return kept_fetch(fetch)
    values = dict(zip(move.spatial, fetch.index, strict=True))
    source = move.reads[0]
    return fetched(
        source.tensor, (substitute(index, values) for index in source.index), fetch.extent
    )
