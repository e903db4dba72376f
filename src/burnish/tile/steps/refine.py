"""Axes are split so that division and remainder vanish from the indices.

Splitting a loop of a nest by `c` gives its output a dimension more. The memory stays the same, row
by row; readers then index the dimension `e` as `e // c` and `e % c`, and follow the split where
one of their own loops runs along it. What they compute as an address stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd

from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, Div, Fetch, Index, at, fetched, floor_divide, remainder
from burnish.tile.steps.divisions import divisions
from burnish.tile.steps.substitution import index_mapped, op_fetches, op_mapped
from burnish.tile.steps.tidy import renamed
from burnish.tile.steps.unused import regraph


def refine(graph: TileGraph) -> TileGraph:
    """Return the graph with loops split where that removes divisions; outputs keep their shape."""
    draft = _Draft(graph)
    for name in [op.output for op in graph.ops]:
        while draft.improved(name):
            pass
    return regraph(graph, draft.ops.values())


class _Draft:
    """The nests while they change."""

    def __init__(self, graph: TileGraph) -> None:
        self.ops = {op.output: op for op in graph.ops}
        self.tensors = dict(graph.tensors)
        self._outputs = frozenset(graph.outputs)
        self._readers = {
            name: tuple(op.output for op in ops) for name, ops in graph.consumers().items()
        }

    def improved(self, name: str) -> bool:
        """Split one axis of a nest if that leaves fewer divisions; say whether it did."""
        op = self.ops[name]
        for axis, by in _splits(op, self.tensors):
            if axis in op.spatial and name in self._outputs:
                continue
            trial = _Trial(self.ops, self.tensors, self._readers, self._outputs)
            trial.split(name, axis, by)
            if trial.after < trial.before and not trial.burdens(name):
                self.ops |= trial.changed
                self.tensors |= trial.types
                return True
        return False


class _Trial:
    """What splitting one axis would change, and whether it is an improvement."""

    def __init__(
        self,
        ops: Mapping[str, TileOp],
        tensors: Mapping[str, TensorType],
        readers: Mapping[str, tuple[str, ...]],
        outputs: frozenset[str],
    ) -> None:
        self._ops = ops
        self._tensors = tensors
        self._readers = readers
        self._outputs = outputs
        self.changed: dict[str, TileOp] = {}
        self.types: dict[str, TensorType] = {}

    @property
    def before(self) -> tuple[int, int]:
        """Return the divisions of the nests that change, as they were."""
        return _weight([self._ops[name] for name in self.changed], self._tensors)

    @property
    def after(self) -> tuple[int, int]:
        """Return the divisions of the nests that change, as they would be."""
        return _weight(list(self.changed.values()), {**self._tensors, **self.types})

    def burdens(self, name: str) -> bool:
        """Say whether another nest than this one would have more divisions than it had."""
        types = {**self._tensors, **self.types}
        return any(
            len(divisions(op, types).dimensions)
            > len(divisions(self._ops[other], self._tensors).dimensions)
            for other, op in self.changed.items()
            if other != name
        )

    def split(self, name: str, axis: Axis, by: int) -> None:
        """Split an axis of a nest, and what its readers see of it."""
        op = self._now(name)
        self.changed[name] = split_axis(op, axis, by)
        if axis not in op.spatial:
            return
        place = op.spatial.index(axis)
        self.types[name] = TensorType(op.dtype, self.changed[name].shape)
        for reader in self._readers[name]:
            self.changed[reader] = rereading(self._now(reader), name, place, by)
        for reader in self._readers[name]:
            self._follow(reader, name, place, by)

    def _follow(self, reader: str, name: str, place: int, by: int) -> None:
        """Split the reader's loop that runs along the dimension that was split."""
        op = self._now(reader)
        for read in op.reads:
            if read.tensor == name:
                axis = _running(read, place, by)
                if axis is not None and not (axis in op.spatial and reader in self._outputs):
                    self.split(reader, axis, by)
                    return

    def _now(self, name: str) -> TileOp:
        return self.changed.get(name, self._ops[name])


def _splits(op: TileOp, tensors: Mapping[str, TensorType]) -> Iterator[tuple[Axis, int]]:
    """Yield the axes that divisions are taken of, with the size of the part they leave inside."""
    found: dict[tuple[Axis, int], None] = {}
    for atom in divisions(op, tensors).dimensions:
        for axis, factor in atom.of.terms:
            if isinstance(axis, Axis):
                by = atom.by // gcd(atom.by, factor)
                if 1 < by < axis.extent and axis.extent % by == 0:
                    found[axis, by] = None
    yield from found


def split_axis(op: TileOp, axis: Axis, by: int) -> TileOp:
    """Return the nest with an axis as two, of which the inner one has `by` steps."""
    outer, inner = Axis(f"{axis.name}/", axis.extent // by), Axis(f"{axis.name}%", by)

    def parted(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
        return tuple(
            part for each in axes for part in ((outer, inner) if each == axis else (each,))
        )

    return renamed(op, parted(op.spatial), parted(op.reduced), {axis: at(outer) * by + at(inner)})


def rereading(op: TileOp, name: str, place: int, by: int) -> TileOp:
    """Return a nest that reads a tensor one dimension of which is now two."""

    def of_fetch(fetch: Fetch) -> Index:
        index = parted_index(fetch.index, place, by) if fetch.tensor == name else fetch.index
        return fetched(fetch.tensor, index, fetch.extent)

    mapped = op
    if name in op_fetches(op):
        mapped = op_mapped(op, lambda index: index_mapped(index, of_fetch))
    reads = tuple(
        replace(read, index=parted_index(read.index, place, by)) if read.tensor == name else read
        for read in mapped.reads
    )
    return replace(mapped, reads=reads)


def parted_index(index: tuple[Index, ...], place: int, by: int) -> tuple[Index, ...]:
    """Return where an element is after a dimension became two."""
    part = index[place]
    return (*index[:place], floor_divide(part, by), remainder(part, by), *index[place + 1 :])


def _running(read: Read, place: int, by: int) -> Axis | None:
    """Return the axis of which the dimension that was split now reads quotient and remainder."""
    match read.index[place]:
        case Index(((Div(Index(((Axis() as axis, 1),), 0), divisor), 1),), 0):
            return axis if divisor == by and axis.extent % by == 0 else None
    return None


def _weight(ops: list[TileOp], tensors: Mapping[str, TensorType]) -> tuple[int, int]:
    weights = [divisions(op, tensors).weight for op in ops]
    return sum(first for first, _ in weights), sum(second for _, second in weights)
