"""Products of one tensor with several weights, as one product with all of them side by side.

q = x·A, k = x·B, v = x·C  -->  all = x·[A B C]; q, k, v are parts of it

A GPU starts one kernel instead of three, and it has columns enough to keep the card busy. Of few
rows, where starting is most of what a product takes, those are joined, too, that have unequal
columns, as the queries and the keys of a decoder have.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.layout import RUN
from burnish.core.arrays import Array
from burnish.tile.expr import Accumulated, Argument, Call, Expr
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of, constant_type
from burnish.tile.index import Axis, Index, at, axes_of, substitute

FEW_ROWS = 8
"""Of a product that is joined with others of unequal columns."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A product with constant weights: which axis its columns are, here and in the weights."""

    op: TileOp
    columns: Axis
    dimension: int


def merged(graph: TileGraph) -> TileGraph:
    """Return the graph with products of one tensor joined; what they gave is still there."""
    found: dict[Hashable, list[_Member]] = {}
    for op in graph.ops:
        member = _member(op, graph)
        if member is not None:
            found.setdefault(_key(member, graph), []).append(member)
    first: dict[str, list[_Member]] = {}
    for members in found.values():
        if len(members) > 1:
            first[members[0].op.output] = members
    together = {m.op.output: members for members in first.values() for m in members}
    tensors, constants = dict(graph.tensors), dict(graph.constants)
    ops: list[TileOp] = []
    for op in graph.ops:
        if op.output in first:
            ops.append(_joined(first[op.output], graph, tensors, constants))
        mine = together.get(op.output)
        ops.append(op if mine is None else _part(mine, op, graph))
    return replace(graph, tensors=tensors, constants=constants, ops=tuple(ops))


def _member(op: TileOp, graph: TileGraph) -> _Member | None:
    if op.combine != "sum" or arguments_of(op.body) != (0, 1) or op.body.dtype != "f32":
        return None
    data, weight = op.reads[:2]
    if weight.tensor not in graph.constants or weight.guards or data.tensor in graph.constants:
        return None
    if _rounded(op.finish or Accumulated("f32"), {}) is None:
        return None
    used = {axis for index in data.indices for axis in axes_of(index)}
    for dimension, index in enumerate(weight.index):
        others = [i for d, i in enumerate(weight.index) if d != dimension]
        for axis in axes_of(index) - used:
            alone = not any(axis in axes_of(each) for each in others)
            if axis in op.spatial and index == at(axis) and alone:
                return _Member(op, axis, dimension)
    return None


def _key(member: _Member, graph: TileGraph) -> Hashable:
    """Return what two products must have in common to be one."""
    op, columns = member.op, member.columns
    few = math.prod(op.shape) <= FEW_ROWS * columns.extent and columns.extent % RUN == 0
    alike = tuple(0 if few and axis == columns else axis.extent for axis in op.spatial)
    axes = {axis: at(Axis(f"s{n}", alike[n])) for n, axis in enumerate(op.spatial)}
    axes |= {axis: at(Axis(f"r{n}", axis.extent)) for n, axis in enumerate(op.reduced)}
    reads = tuple(
        (tuple(substitute(i, axes) for i in read.indices), read.otherwise, len(read.guards))
        for read in op.reads[:2]
    )
    kind = graph.tensors[op.reads[1].tensor]
    sizes = [0 if few and d == member.dimension else size for d, size in enumerate(kind.shape)]
    weight = kind.dtype, *sizes
    return op.reads[0].tensor, alike, reads, weight, op.body, op.dtype, member.dimension


def _joined(
    members: Sequence[_Member],
    graph: TileGraph,
    tensors: dict[str, TensorType],
    constants: dict[str, Array],
) -> TileOp:
    op, columns = members[0].op, members[0].columns
    name = f"{op.output}.together"
    wide = Axis(columns.name, sum(member.columns.extent for member in members))
    weights = [np.asarray(graph.constants[m.op.reads[1].tensor]) for m in members]
    constants[f"{name}.weight"] = np.concatenate(weights, axis=members[0].dimension)
    tensors[f"{name}.weight"] = constant_type(constants[f"{name}.weight"])
    place = {columns: at(wide)}
    weight = Read(f"{name}.weight", tuple(substitute(i, place) for i in op.reads[1].index))
    spatial = tuple(wide if axis == columns else axis for axis in op.spatial)
    finish: Expr | None = Call("cast", (Accumulated("f32"),), op.dtype)
    more: tuple[Read, ...] = ()
    if (offsets := _offsets(members, graph)) is not None:
        finish, more = op.finish, tuple(_beside(name, place, offsets, tensors, constants))
    result = replace(
        op, output=name, spatial=spatial, reads=(op.reads[0], weight, *more), finish=finish,
        nodes=tuple(dict.fromkeys(node for m in members for node in m.op.nodes)),
    )  # fmt: skip
    tensors[name] = TensorType(result.dtype, result.shape)
    return result


def _offsets(members: Sequence[_Member], graph: TileGraph) -> list[tuple[Read, Array]] | None:
    """Return what all products add, column by column, if all of them end alike; None: they do not.

    Each is a read of the first product, and the constants of all of them side by side.
    """
    first = members[0].op
    found: list[tuple[Read, Array]] = []
    for member in members:
        reads = member.op.reads[2:]
        plain = all(_is_offset(read, member, graph) for read in reads)
        if not plain or member.op.finish != first.finish or len(reads) != len(first.reads) - 2:
            return None
    for position, read in enumerate(first.reads[2:], start=2):
        parts = [np.asarray(graph.constants[m.op.reads[position].tensor]) for m in members]
        if len({(part.shape[:-1], part.dtype) for part in parts}) > 1:
            return None
        found.append((read, np.concatenate(parts, axis=parts[0].ndim - 1)))
    return found


def _is_offset(read: Read, member: _Member, graph: TileGraph) -> bool:
    """Say whether a read is a constant with one number for each column."""
    if read.tensor not in graph.constants or read.guards or not read.index:
        return False
    *before, last = read.index
    whole = graph.tensors[read.tensor].shape[-1] == member.columns.extent
    return whole and last == at(member.columns) and not any(axes_of(each) for each in before)


def _beside(
    name: str,
    place: Mapping[Axis, Index],
    offsets: Sequence[tuple[Read, Array]],
    tensors: dict[str, TensorType],
    constants: dict[str, Array],
) -> Iterator[Read]:
    """Yield the reads of constants that lie side by side as the columns do."""
    for number, (read, array) in enumerate(offsets):
        tensor = f"{name}.offset{number}"
        constants[tensor] = array
        tensors[tensor] = constant_type(array)
        yield Read(tensor, tuple(substitute(index, place) for index in read.index))


def _part(members: Sequence[_Member], op: TileOp, graph: TileGraph) -> TileOp:
    """Return the nest that takes a product out of the joined one, with what followed it."""
    number = next(n for n, member in enumerate(members) if member.op is op)
    member = members[number]
    start = sum(before.columns.extent for before in members[:number])
    index: tuple[Index, ...] = tuple(
        at(axis) + (start if axis == member.columns else 0) for axis in op.spatial
    )
    own = Read(f"{members[0].op.output}.together", index)
    if _offsets(members, graph) is not None:
        return TileOp(op.output, op.spatial, (own,), Argument(0, op.dtype), nodes=op.nodes)
    finish = op.finish or Accumulated("f32")
    others = arguments_of(finish)
    body = _rounded(finish, {old: new for new, old in enumerate(others, start=1)})
    assert body is not None
    reads = (own, *(op.reads[old] for old in others))
    return TileOp(op.output, op.spatial, reads, body, nodes=op.nodes)


def _rounded(expr: Expr, numbers: Mapping[int, int]) -> Expr | None:
    """Return what follows a product, of its rounded sum; None: it needs the sum itself."""
    match expr:
        case Call("cast", (Accumulated(),), half) if half in spelling.HALVES:
            return Argument(0, half)
        case Accumulated():
            return None
        case Argument(position, dtype):
            return Argument(numbers.get(position, position), dtype)
        case Call(function, arguments, dtype):
            inner = [_rounded(each, numbers) for each in arguments]
            kept = tuple(each for each in inner if each is not None)
            return Call(function, kept, dtype) if len(kept) == len(inner) else None
    return expr
