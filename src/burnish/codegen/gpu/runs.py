"""Rows that end where a run of elements ends, so that no load takes its elements one by one.

A row of 255 half-precision numbers begins at an odd place in memory: nothing of it can be loaded in
runs, and no load runs ahead. Between kernels such rows get a few zeros more. A tensor of which
halves are read for themselves, as gates do, becomes two of such rows.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, prod

import numpy as np

from burnish.codegen.gpu.layout import RUN, orders_of
from burnish.codegen.gpu.spelling import HALVES
from burnish.core.arrays import Array
from burnish.tile.expr import Accumulated, Call, Constant, Expr, Guard, Inside
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp, arguments_of, constant_type
from burnish.tile.index import Axis, Div, Index, Mod, at, axes_of
from burnish.tile.steps.refine import parted_index, rereading, split_axis
from burnish.tile.steps.substitution import is_contraction
from burnish.tile.steps.tidy import renamed

MOST = 1.1
"""Times its length that a row may get."""


def in_runs(graph: TileGraph) -> TileGraph:
    """Return the graph with rows between nests that can be loaded in runs."""
    return _padded(_parted(graph))


def _parted(graph: TileGraph) -> TileGraph:
    """Return the graph in which tensors that are read in parts have them as a dimension."""
    draft = _Draft(graph)
    orders = orders_of(graph)
    for name, kind in graph.tensors.items():
        if kind.dtype in HALVES and kind.shape:
            place = orders.get(name, range(len(kind.shape)))[-1]
            begins = [read.index[place].constant for read in draft.reads_of(name)]
            by = gcd(kind.shape[place], *begins)
            if any(begins) and _longer(by) > by and name in draft.ops:
                draft.split(name, place, by)
    return replace(graph, tensors=draft.tensors, ops=tuple(draft.ops.values()))


class _Draft:
    """Nests while axes of theirs are split."""

    def __init__(self, graph: TileGraph) -> None:
        self.ops = {op.output: op for op in graph.ops}
        self.tensors = dict(graph.tensors)
        self._outputs = set(graph.outputs)
        self._readers = {
            name: tuple(op.output for op in ops) for name, ops in graph.consumers().items()
        }

    def reads_of(self, name: str) -> list[Read]:
        """Return how a tensor is read."""
        readers = (self.ops[each] for each in self._readers[name])
        return [read for op in readers for read in op.reads if read.tensor == name]

    def split(self, name: str, place: int, by: int) -> None:
        """Split a dimension of a tensor, and of what it is computed from element by element.

        Nothing happens where a reader would have to divide.
        """
        if name in self._outputs or self._fetched(name):
            return
        for read in self.reads_of(name):
            parts = parted_index(read.index, place, by)[place : place + 2]
            if any(map(_divides, parts)):
                return
        op = self.ops[name] = split_axis(self.ops[name], self.ops[name].spatial[place], by)
        self.tensors[name] = TensorType(op.dtype, op.shape)
        for reader in self._readers[name]:
            self.ops[reader] = rereading(self.ops[reader], name, place, by)
        inner = op.spatial[place + 1]
        for read in op.reads:
            for dim, index in enumerate(read.index):
                if read.tensor in self.ops and inner in axes_of(index):
                    self.split(read.tensor, dim, by)

    def _fetched(self, name: str) -> bool:
        readers = (self.ops[each] for each in self._readers[name])
        return any(fetch.tensor == name for op in readers for fetch in op.fetches)


def _padded(graph: TileGraph) -> TileGraph:
    """Return the graph with longer rows, zeros at their ends."""
    draft = _Rows(graph)
    orders = orders_of(graph)
    for op in graph.ops:
        new = draft.with_longer_sums(op)
        kind = graph.tensors[op.output]
        order = orders.get(op.output, tuple(range(len(kind.shape))))
        if kind.dtype in HALVES and order and op.output not in draft.kept:
            new = draft.with_longer_rows(new, order[-1])
        draft.ops.append(new)
        draft.tensors[op.output] = TensorType(new.dtype, new.shape)
    used = {name for op in draft.ops for name in op.inputs} | draft.kept
    constants = {name: array for name, array in draft.constants.items() if name in used}
    tensors = {name: kind for name, kind in draft.tensors.items() if name in used | _made(draft)}
    return replace(graph, tensors=tensors, constants=constants, ops=tuple(draft.ops))


def _made(draft: _Rows) -> set[str]:
    return {op.output for op in draft.ops}


class _Rows:
    """Nests, tensors and constants while rows get longer."""

    def __init__(self, graph: TileGraph) -> None:
        self.ops: list[TileOp] = []
        self.tensors = dict(graph.tensors)
        self.constants: dict[str, Array] = dict(graph.constants)
        fetched = {fetch.tensor for op in graph.ops for fetch in op.fetches}
        self.kept = {*graph.inputs, *graph.outputs, *fetched}
        """What others see, or what holds indices."""
        self._longer: dict[tuple[str, int], int] = {}
        """Dimensions whose last elements are zeros that nobody needs, and where these begin."""
        self._reads: dict[str, list[tuple[TileOp, Read]]] = {}
        for op in graph.ops:
            for read in op.reads:
                self._reads.setdefault(read.tensor, []).append((op, read))

    def with_longer_sums(self, op: TileOp) -> TileOp:
        """Return a product over zeros, too, where both sides have them or can get them."""
        if not is_contraction(op):
            return op
        for axis in op.reduced:
            reads = [op.reads[position] for position in arguments_of(op.body)]
            uses = [read for read in reads if _uses(read, axis)]
            known = [self._place(read, axis) for read in uses]
            zeros = [
                place is not None and self._longer.get((read.tensor, place)) == axis.extent
                for read, place in zip(uses, known, strict=True)
            ]
            constant = [self._may_grow(read, axis) for read in uses]
            if any(zeros) and all(z or c for z, c in zip(zeros, constant, strict=True)):
                op = self._over(op, axis, Axis(axis.name, _longer(axis.extent)))
        return op

    def with_longer_rows(self, op: TileOp, place: int) -> TileOp:
        """Return a nest that writes more behind its rows: zeros, where they are summed up."""
        axis = op.spatial[place]
        reads = self._reads.get(op.output, ())
        askew = any(_divides(read.index[place]) for _, read in reads)
        # an index is fetched before a guard is asked
        if _longer(axis.extent) == axis.extent or askew or op.fetches:
            return op
        new = Axis(axis.name, _longer(axis.extent))
        inside = Inside((Guard(at(new), 0, axis.extent),))
        op = self._over(op, axis, new)
        if not any(axes_of(read.index[place]) & set(each.reduced) for each, read in reads):
            return op
        self._longer[op.output, place] = axis.extent

        def ended(expr: Expr) -> Expr:
            return Call("where", (inside, expr, Constant(0, expr.dtype)), expr.dtype)

        if not op.reduced:
            return replace(op, body=ended(op.body))
        return replace(op, finish=ended(op.finish or Accumulated(op.body.dtype)))

    def _over(self, op: TileOp, old: Axis, new: Axis) -> TileOp:
        """Return a nest over a longer axis; what has no elements there is not read there."""
        own = [self._grown(read, old, new) for read in op.reads]
        spatial, reduced = (
            tuple(new if axis == old else axis for axis in axes)
            for axes in (op.spatial, op.reduced)
        )
        return renamed(replace(op, reads=tuple(own)), spatial, reduced, {old: at(new)})

    def _grown(self, read: Read, old: Axis, new: Axis) -> Read:
        if not _uses(read, old):
            return read
        place = self._place(read, old)
        alone = place is not None and read.index[place] == at(old)
        if alone and self.tensors[read.tensor].shape[place or 0] >= new.extent:
            return read
        if place is not None and self._may_grow(read, old):
            return self._of_longer_constant(read, place, old, new)
        return replace(read, guards=(*read.guards, Guard(at(old), 0, old.extent)))

    def _of_longer_constant(self, read: Read, place: int, old: Axis, new: Axis) -> Read:
        """Return the read of a constant with zeros behind each of its rows."""
        array = np.asarray(self.constants[read.tensor])
        before, after = array.shape[:place], array.shape[place + 1 :]
        rows = array.reshape(*before, -1, old.extent, *after)
        more = [(0, new.extent - old.extent if dim == place + 1 else 0) for dim in range(rows.ndim)]
        name = f"{read.tensor}.{place}:{new.extent}"
        self.constants[name] = np.pad(rows, more).reshape(*before, -1, *after)
        self.tensors[name] = constant_type(self.constants[name])
        terms = read.index[place].terms
        part = Index(tuple((a, new.extent if a != old else 1) for a, _ in terms))
        return Read(name, (*read.index[:place], part, *read.index[place + 1 :]))

    def _may_grow(self, read: Read, axis: Axis) -> bool:
        """Say whether a constant can get zeros behind its rows, for this nest alone."""
        place = self._place(read, axis)
        if place is None or read.tensor not in self.constants or read.guards:
            return False
        rows = [other.extent for other in axes_of(read.index[place]) if other != axis]
        whole = self.tensors[read.tensor].shape[place] == axis.extent * prod(rows)
        return whole and read.tensor not in self.kept

    def _place(self, read: Read, axis: Axis) -> int | None:
        """Return the dimension whose rows an axis runs along, or that it runs along alone."""
        if any(axis in axes_of(guard.index) for guard in read.guards):
            return None
        found = [dim for dim, index in enumerate(read.index) if axis in axes_of(index)]
        if len(found) != 1:
            return None
        match read.index[found[0]]:
            case Index(((Axis(), 1),), 0):
                return found[0]
            case Index(terms, 0) if read.tensor in self.constants and len(terms) == 2:
                rest = [(other, factor) for other, factor in terms if (other, factor) != (axis, 1)]
                rows = len(rest) == 1 and isinstance(rest[0][0], Axis)
                return found[0] if rows and rest[0][1] == axis.extent else None
        return None


def _divides(index: Index) -> bool:
    return any(isinstance(atom, Div | Mod) for atom, _ in index.terms)


def _uses(read: Read, axis: Axis) -> bool:
    return any(axis in axes_of(index) for index in read.indices)


def _longer(extent: int) -> int:
    """Return how many elements a row gets: whole runs, unless that were many more."""
    wanted = -(-extent // RUN) * RUN
    return wanted if wanted <= MOST * extent else extent
