"""The tile-graph: loop nests over tensors, in execution order; everything else is read off it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np

from burnish.core.arrays import Array
from burnish.tile.expr import (
    Accumulated,
    Argument,
    Coordinate,
    Expr,
    Guard,
    Inside,
    Number,
    operations,
    walk,
)
from burnish.tile.index import Axis, Fetch, Index, axes_of, fetches_of

Combine = Literal["sum", "max", "min", "prod"]


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and shape; shapes are static here."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    """Elements from each to its neighbour along each dimension; None: they lie densely."""

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Read:
    """One element of a tensor per point of a nest; `otherwise` where a guard does not hold."""

    tensor: str
    index: tuple[Index, ...]
    guards: tuple[Guard, ...] = ()
    otherwise: Number = 0

    @property
    def indices(self) -> tuple[Index, ...]:
        """Return every index expression of the read, those of the guards included."""
        return (*self.index, *(guard.index for guard in self.guards))


@dataclass(frozen=True)
class TileOp:
    """One loop nest: for each point of `spatial`, combine `body` over `reduced`, then `finish`.

    The output's dimensions are the spatial axes, in order: layout changes live in the reads.
    Without reduced axes there is no `combine`, and `body` alone is the value; with them, `finish`
    (default: the reduction itself) is evaluated once per output element, over spatial axes only.
    What is read off a nest is kept with it, so it has no slots: whoever plans asks often.
    """

    output: str
    spatial: tuple[Axis, ...]
    reads: tuple[Read, ...]
    body: Expr
    reduced: tuple[Axis, ...] = ()
    combine: Combine | None = None
    finish: Expr | None = None
    nodes: tuple[str, ...] = field(default=(), compare=False)
    """The ONNX nodes whose work this is."""

    def __post_init__(self) -> None:
        for finding in _findings(self):
            raise ValueError(f"nest {self.output!r}: {finding}")

    def __str__(self) -> str:
        from burnish.tile.text import nest_text

        return nest_text(self)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Return the output's shape."""
        return tuple(axis.extent for axis in self.spatial)

    @cached_property
    def dtype(self) -> str:
        """Return the output's element type."""
        return (self.finish or self.body).dtype

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Return the tensors that are read, each once, fetched indices included."""
        names = [read.tensor for read in self.reads]
        return tuple(dict.fromkeys([*names, *(fetch.tensor for fetch in self.fetches)]))

    @cached_property
    def coordinates(self) -> tuple[Index, ...]:
        """Return the indices that its expressions evaluate themselves."""
        finish = expression_indices(self.finish) if self.finish else []
        return (*expression_indices(self.body), *finish)

    @cached_property
    def fetches(self) -> tuple[Fetch, ...]:
        """Return every index that is read from a tensor."""
        read = (index for read in self.reads for index in read.indices)
        return tuple(fetch for each in (*read, *self.coordinates) for fetch in fetches_of(each))

    @cached_property
    def guards(self) -> tuple[Guard, ...]:
        """Return the conditions of its reads and of its body."""
        inside = (part.guards for part in walk(self.body) if isinstance(part, Inside))
        return tuple(chain(*(read.guards for read in self.reads), *inside))

    @cached_property
    def terms(self) -> int:
        """Return how many values are combined for each element of the output."""
        return math.prod(axis.extent for axis in self.reduced)

    @property
    def points(self) -> int:
        """Return how often the body is evaluated."""
        return math.prod(self.shape) * self.terms

    @property
    def work(self) -> int:
        """Return the scalar operations of the whole nest."""
        per_point = operations(self.body) + bool(self.reduced)
        after = operations(self.finish) if self.finish else 0
        return per_point * self.points + after * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class TileGraph:
    """Nests in execution order; every tensor is an input, a constant, or one nest's output."""

    tensors: Mapping[str, TensorType]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ops: tuple[TileOp, ...]
    constants: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for finding in _graph_findings(self):
            raise ValueError(finding)

    def __str__(self) -> str:
        from burnish.tile.text import graph_text

        return graph_text(self)

    def producer(self, tensor: str) -> TileOp | None:
        """Return the nest that writes a tensor; None for inputs and constants."""
        return next((op for op in self.ops if op.output == tensor), None)

    def consumers(self) -> dict[str, tuple[TileOp, ...]]:
        """Return the nests that read each tensor, in order."""
        result: dict[str, list[TileOp]] = {name: [] for name in self.tensors}
        for op in self.ops:
            for name in op.inputs:
                result[name].append(op)
        return {name: tuple(ops) for name, ops in result.items()}


def expression_indices(expr: Expr) -> list[Index]:
    """Return the indices that an expression evaluates itself (coordinates and conditions)."""
    found: list[Index] = []
    for part in walk(expr):
        match part:
            case Coordinate(index, _):
                found.append(index)
            case Inside(guards, _):
                found += [guard.index for guard in guards]
    return found


def arguments_of(expr: Expr) -> tuple[int, ...]:
    """Return the positions of the reads that an expression uses, each once."""
    found = (part.position for part in walk(expr) if isinstance(part, Argument))
    return tuple(dict.fromkeys(found))


def constant_type(array: Array) -> TensorType:
    """Return the type of a constant."""
    from burnish.core.array_types import name_of

    return TensorType(name_of(np.asarray(array)), tuple(np.asarray(array).shape))


def _findings(op: TileOp) -> Iterator[str]:
    names = [axis.name for axis in (*op.spatial, *op.reduced)]
    if len(set(names)) != len(names):
        yield "two axes have the same name"
    if bool(op.reduced) != (op.combine is not None):
        yield "an axis is reduced exactly when there is a combine"
    if op.finish is not None and not op.reduced:
        yield "only a reduction has a finish"
    if any(isinstance(part, Accumulated) for part in walk(op.body)):
        yield "the body uses the finished reduction"
    positions = {*arguments_of(op.body), *(arguments_of(op.finish) if op.finish else ())}
    if positions and max(positions) >= len(op.reads):
        yield "an argument has no read"
    else:
        yield from _axis_findings(op)


def _axis_findings(op: TileOp) -> Iterator[str]:
    known = {*op.spatial, *op.reduced}
    for axis in _used_axes(op, range(len(op.reads)), op.body):
        if axis not in known:
            yield f"axis {axis.name!r} is used but is no axis of the nest"
    if op.finish is not None:
        for axis in _used_axes(op, arguments_of(op.finish), op.finish):
            if axis in op.reduced:
                yield f"the finish uses the reduced axis {axis.name!r}"


def _used_axes(op: TileOp, positions: Iterable[int], expr: Expr) -> set[Axis]:
    indices = [index for position in positions for index in op.reads[position].indices]
    return {axis for index in (*indices, *expression_indices(expr)) for axis in axes_of(index)}


def _graph_findings(graph: TileGraph) -> Iterator[str]:
    known = {*graph.inputs, *graph.constants}
    for op in graph.ops:
        for name in op.inputs:
            if name not in known:
                yield f"nest {op.output!r} reads {name!r}, which is not computed before it"
        for read in op.reads:
            if len(read.index) != len(graph.tensors[read.tensor].shape):
                yield f"nest {op.output!r} reads {read.tensor!r} with another number of dimensions"
        if op.output in known:
            yield f"{op.output!r} is written twice"
        kind = graph.tensors[op.output]
        if kind != TensorType(op.dtype, op.shape, kind.strides):
            yield f"{op.output!r} is declared as {kind}"
        known.add(op.output)
    for name in graph.outputs:
        if name not in known:
            yield f"output {name!r} is never written"
