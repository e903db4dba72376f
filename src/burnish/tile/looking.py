"""Nests that look at whole numbers: between which two they lie, for whoever asks later.

    at.span[side] = max(r0, r1) where(side < 1, -1 - at[r0, r1], at[r0, r1])

Of whole numbers -1 - x never leaves the type, as -x may. What kernels fetch at a place that does
not exist is the nearest element, so they run to their end; then these numbers tell. Of divisors it
is looked at whether they are other than 0: at 1 for each, and 0 for each that is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from burnish.tile.demands import Demand
from burnish.tile.expr import Argument, Constant, Expr, Guard, Inside, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, Index, at, number, unflatten

MOST_AT_ONCE = 8192
"""Elements: what holds more is looked at in parts first, side by side."""
PART = 2048
SIDE = Axis("i0", 2)


def looked_at(graph: TileGraph, wanted: Mapping[Demand, str]) -> TileGraph:
    """Return a graph that gives the span of what demands are of, too, each under a name."""
    looks = tuple(op for one, name in wanted.items() for op in _looks(graph, one, name))
    types = {op.output: TensorType(op.dtype, op.shape) for op in looks}
    return replace(
        graph,
        tensors={**graph.tensors, **types},
        outputs=tuple(dict.fromkeys((*graph.outputs, *wanted.values()))),
        ops=(*graph.ops, *looks),
    )


def parts_of(name: str) -> str:
    """Return the name of what is between a tensor and its span where it holds much."""
    return f"{name}.parts"


@dataclass(frozen=True, slots=True)
class _Seen:
    """The part of a tensor that is looked at."""

    demand: Demand
    dtype: str
    shape: tuple[int, ...]
    column: tuple[Index, ...]
    """What stands behind the dimensions of the part, where it is a column."""

    @property
    def size(self) -> int:
        return TensorType(self.dtype, self.shape).size

    def read(self, index: tuple[Index, ...], guards: tuple[Guard, ...] = ()) -> Read:
        """Return a read of the part; behind its end there is what is right: 0, 1 for a divisor."""
        behind = int(self.demand.size is None)
        return Read(self.demand.tensor, (*index, *self.column), guards, behind)

    def number(self) -> Expr:
        """Return what is told of an element."""
        found = Argument(0, self.dtype)
        if self.demand.size is not None:
            return found if self.dtype in ("i32", "i64") else cast(found, "i64")
        is_zero = call("equal", found, Constant(0, self.dtype))
        return call("where", is_zero, Constant(0, "i32"), Constant(1, "i32"))


def _seen(graph: TileGraph, one: Demand) -> _Seen:
    kind = graph.tensors[one.tensor]
    if one.column is None:
        return _Seen(one, kind.dtype, kind.shape, ())
    return _Seen(one, kind.dtype, kind.shape[:-1], (number(one.column),))


def _looks(graph: TileGraph, one: Demand, name: str) -> Iterator[TileOp]:
    """Yield the nests of a span; they count as work of who makes the tensor, or reads it."""
    seen = _seen(graph, one)
    makers = (op for op in graph.ops if op.output == one.tensor)
    whose = next(makers, None) or next(op for op in graph.ops if one.tensor in op.inputs)
    if seen.size <= MOST_AT_ONCE:
        over = tuple(Axis(f"r{dim}", size) for dim, size in enumerate(seen.shape) if size > 1)
        inner = iter(over)
        index = tuple(at(next(inner)) if size > 1 else number(0) for size in seen.shape)
        yield _span(name, (SIDE,), over, seen, seen.read(index), whose.nodes)
        return
    part, inside = Axis("i1", -(-seen.size // PART)), Axis("r0", PART)
    position = at(part) * PART + at(inside)
    read = seen.read(unflatten(position, seen.shape), (Guard(position, 0, seen.size),))
    parts = _span(parts_of(name), (SIDE, part), (inside,), seen, read, whose.nodes)
    yield parts
    every = Axis("r0", part.extent)
    among = Read(parts.output, (at(SIDE), at(every)))
    greatest = Argument(0, parts.dtype)
    yield TileOp(name, (SIDE,), (among,), greatest, (every,), "max", nodes=whose.nodes)


def _span(
    name: str,
    spatial: tuple[Axis, ...],
    over: tuple[Axis, ...],
    seen: _Seen,
    read: Read,
    nodes: tuple[str, ...],
) -> TileOp:
    found = seen.number()
    below = call("subtract", Constant(-1, found.dtype), found)
    body = call("where", Inside((Guard(at(SIDE), 0, 1),)), below, found)
    return TileOp(name, spatial, (read,), body, over, "max" if over else None, nodes=nodes)
