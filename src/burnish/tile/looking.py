"""Nests that look at computed places: between which two numbers they lie, for whoever asks later.

    at.span[side] = max(r0, r1) where(side < 1, -1 - at[r0, r1], at[r0, r1])

Of whole numbers -1 - x never leaves the type, as -x may. What kernels fetch at a place that does
not exist is the nearest element, so they run to their end; then these numbers tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from burnish.tile.expr import Argument, Constant, Guard, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, at, number, unflatten

MOST_AT_ONCE = 8192
"""Elements: what holds more is looked at in parts first, side by side."""
PART = 2048


def looked_at(graph: TileGraph, places: Mapping[str, str]) -> TileGraph:
    """Return a graph that gives the span of tensors of places, too, each under a name."""
    looks = tuple(op for tensor, name in places.items() for op in _looks(graph, tensor, name))
    types = {op.output: TensorType(op.dtype, op.shape) for op in looks}
    return replace(
        graph,
        tensors={**graph.tensors, **types},
        outputs=tuple(dict.fromkeys((*graph.outputs, *places.values()))),
        ops=(*graph.ops, *looks),
    )


def _looks(graph: TileGraph, tensor: str, name: str) -> Iterator[TileOp]:
    """Yield the nests of a tensor's span; they count as work of who makes the tensor, or reads it.

    Behind the end of the last part there is a 0, which exists wherever there is anything.
    """
    kind = graph.tensors[tensor]
    makers = (op for op in graph.ops if op.output == tensor)
    whose = next(makers, None) or next(op for op in graph.ops if tensor in op.inputs)
    side = Axis("i0", 2)
    if kind.size <= MOST_AT_ONCE:
        over = tuple(Axis(f"r{dim}", size) for dim, size in enumerate(kind.shape) if size > 1)
        inner = iter(over)
        index = tuple(at(next(inner)) if size > 1 else number(0) for size in kind.shape)
        yield _span(name, (side,), over, Read(tensor, index), kind.dtype, whose.nodes)
        return
    part, inside = Axis("i1", -(-kind.size // PART)), Axis("r0", PART)
    position = at(part) * PART + at(inside)
    read = Read(tensor, unflatten(position, kind.shape), (Guard(position, 0, kind.size),), 0)
    parts = f"{name}.parts"
    yield _span(parts, (side, part), (inside,), read, kind.dtype, whose.nodes)
    every = Axis("r0", part.extent)
    among = Read(parts, (at(side), at(every)))
    greatest = Argument(0, kind.dtype)
    yield TileOp(name, (side,), (among,), greatest, (every,), "max", nodes=whose.nodes)


def _span(
    name: str,
    spatial: tuple[Axis, ...],
    over: tuple[Axis, ...],
    read: Read,
    dtype: str,
    nodes: tuple[str, ...],
) -> TileOp:
    found = Argument(0, dtype)
    below = call("subtract", Constant(-1, dtype), found)
    body = call("where", Inside((Guard(at(spatial[0]), 0, 1),)), below, found)
    return TileOp(name, spatial, (read,), body, over, "max" if over else None, nodes=nodes)
