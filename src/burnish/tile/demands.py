"""What must be true of whole numbers that are only known when a model runs, and need not be.

What is fetched at a place of a tensor is the nearest element where that place does not exist, and a
whole number divided by 0 is 0: kernels never stop. Where a model is sure to mean neither, nobody
has to look. Nests are asked as they were lowered, where each reads the very tensors that its node
was given: simpler ones may fetch from a tensor of which their node saw a part only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.tile.expr import Argument, Call, Expr, walk
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.index import Fetch
from burnish.tile.ranges import ANY, Range, Ranges, ranges

_DIVISIONS = ("divide", "modulo", "fmod")


@dataclass(frozen=True, slots=True)
class Demand:
    """What the elements of a tensor must be: places that exist, or other than 0."""

    tensor: str
    size: int | None
    """How many places there are; None: it divides."""
    column: int | None = None
    """The only part of the innermost dimension that must be so; None: all elements must."""
    forward: bool = False
    """Whether places are not counted from the end."""

    def is_met(self, known: Range) -> bool:
        """Say whether numbers in a range are sure to be what is wanted."""
        low, high = known
        if self.size is None:
            return low > 0 or high < 0
        return (0 if self.forward else -self.size) <= low and high < self.size


def demands(graph: TileGraph) -> tuple[Demand, ...]:
    """Return what may not be true of tensors that are no constants, each once."""
    found = {one: None for op in graph.ops for one in _of_nest(graph, op)}
    if not found:
        return ()
    known = ranges(graph)
    rooted = (_rooted(graph, one) for one in found)
    return tuple(dict.fromkeys(one for one in rooted if not one.is_met(_known(one, known))))


def unmet(wanted: tuple[Demand, ...], graph: TileGraph) -> tuple[Demand, ...]:
    """Return those that are still not sure, given other nests for the same tensors."""
    known = ranges(graph)
    return tuple(one for one in wanted if not one.is_met(_known(one, known)))


def _known(one: Demand, known: Ranges) -> Range:
    return known.get(one.tensor, ANY)


def _of_nest(graph: TileGraph, op: TileOp) -> Iterator[Demand]:
    for fetch in op.fetches:
        if fetch.tensor not in graph.constants:
            yield Demand(fetch.tensor, fetch.extent, _column(graph, fetch), fetch.forward)
    for expr in (op.body, *([op.finish] if op.finish else [])):
        for divisor in _divisors(expr):
            tensor = op.reads[divisor.position].tensor
            if tensor not in graph.constants:
                yield Demand(tensor, None)


def _column(graph: TileGraph, fetch: Fetch) -> int | None:
    """Return the column of a table of places, each row of which is one place, that is fetched."""
    if not fetch.index or fetch.index[-1].terms or graph.tensors[fetch.tensor].shape[-1] == 1:
        return None
    return fetch.index[-1].constant


def _divisors(expr: Expr) -> Iterator[Argument]:
    """Yield what whole numbers are divided by, where it is read."""
    for part in walk(expr):
        match part:
            case Call(function, (_, Argument() as by), dtype) if function in _DIVISIONS:
                if dtype[0] in "iu":
                    yield by


def _rooted(graph: TileGraph, one: Demand) -> Demand:
    """Return a demand of the tensor of which another is but another shape or order."""
    made: Mapping[str, TileOp] = {op.output: op for op in graph.ops}
    while one.column is None and (op := made.get(one.tensor)) is not None and _keeps_all(graph, op):
        one = dataclasses.replace(one, tensor=op.reads[0].tensor)
    return one


def _keeps_all(graph: TileGraph, op: TileOp) -> bool:
    """Say whether a nest gives each element that it reads, and nothing else."""
    if op.combine or op.fetches or len(op.reads) != 1 or op.reads[0].guards:
        return False
    source = graph.tensors[op.reads[0].tensor]
    same = source.size == graph.tensors[op.output].size
    return same and source.dtype == op.dtype and isinstance(op.body, Argument)
