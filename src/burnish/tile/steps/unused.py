"""What nobody reads is dropped, and what is computed twice is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from burnish.core.arrays import Array
from burnish.tile.graph import TensorType, TileGraph, TileOp, constant_type
from burnish.tile.index import Fetch, Index, fetched
from burnish.tile.steps.substitution import index_mapped, op_mapped
from burnish.tile.steps.tidy import tidy


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that no tensor has, and take it."""
    while name in taken:
        name += "."
    taken.add(name)
    return name


def regraph(
    graph: TileGraph, ops: Iterable[TileOp], constants: Mapping[str, Array] | None = None
) -> TileGraph:
    """Return a graph of these nests with the inputs and outputs of `graph`, all of it needed."""
    held = {**graph.constants, **(constants or {})}
    kept = _needed(tuple(ops), graph.outputs)
    written = {op.output: TensorType(op.dtype, op.shape) for op in kept}
    used = {name for op in kept for name in op.inputs} | set(graph.outputs)
    outside = {name: graph.tensors[name] for name in graph.inputs}
    outside |= {name: _type_of(graph, held, name) for name in held if name in used}
    return TileGraph(
        {**outside, **written},
        graph.inputs,
        graph.outputs,
        kept,
        {name: array for name, array in held.items() if name in used},
    )


def drop_unused(graph: TileGraph) -> TileGraph:
    """Return the graph without nests and constants that no output depends on."""
    return regraph(graph, graph.ops)


def share(graph: TileGraph) -> TileGraph:
    """Return the graph with one nest where several compute the same; outputs keep their own."""
    same: dict[str, str] = {}
    first: dict[TileOp, str] = {}
    ops: list[TileOp] = []
    for original in graph.ops:
        op = tidy(_reading(original, same), graph.tensors)
        key = replace(op, output="")
        if key in first and op.output not in graph.outputs:
            same[op.output] = first[key]
            continue
        first.setdefault(key, op.output)
        ops.append(op)
    return regraph(graph, ops)


def _reading(op: TileOp, names: Mapping[str, str]) -> TileOp:
    """Return the nest with other tensors read, fetched ones too."""
    if not any(name in names for name in op.inputs):
        return op

    def of_fetch(fetch: Fetch) -> Index:
        return fetched(names.get(fetch.tensor, fetch.tensor), fetch.index, fetch.extent)

    mapped = op_mapped(op, lambda index: index_mapped(index, of_fetch))
    reads = tuple(
        replace(read, tensor=names.get(read.tensor, read.tensor)) for read in mapped.reads
    )
    return replace(mapped, reads=reads)


def _needed(ops: tuple[TileOp, ...], outputs: Iterable[str]) -> tuple[TileOp, ...]:
    wanted = set(outputs)
    kept: list[TileOp] = []
    for op in reversed(ops):
        if op.output in wanted:
            kept.append(op)
            wanted.update(op.inputs)
    return tuple(reversed(kept))


def _type_of(graph: TileGraph, held: Mapping[str, Array], name: str) -> TensorType:
    return graph.tensors[name] if name in graph.constants else constant_type(held[name])
