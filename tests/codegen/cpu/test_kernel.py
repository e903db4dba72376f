from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.target import InstructionSet, available
from burnish.core.arrays import Array
from burnish.runtime.buffers import SLACK_BYTES
from burnish.tile.connect import NoGroupError, grouped, wiring
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.region import partitioned, propagate
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel
from codegen.cpu.random_graphs import graphs

TARGETS = available()
SENTINEL = np.float32(123456.789)


def everything(graph: TileGraph) -> dict[str, Array]:
    """Return every tensor that the judge computes."""
    data = np.random.default_rng(1).standard_normal(graph.tensors["x"].shape).astype(np.float32)
    names = tuple(op.output for op in graph.ops)
    whole = TileGraph(graph.tensors, graph.inputs, names, graph.ops, graph.constants)
    return {**graph.constants, "x": data, **evaluate(whole, {"x": data})}


def legal(group: Group, tile: tuple[int, ...]) -> bool:
    """Say whether the tiles write each element of every output once."""
    tiles = propagate(group, tile)
    shapes = {op.output: op.shape for op in group.ops}
    return all(
        partitioned(tiles.boxes[name], shapes[name], tiles.counters) for name in group.outputs
    )


Layouts = dict[str, tuple[int, ...]]


def check(
    group: Group, schedule: Schedule, graph: TileGraph, target: InstructionSet, layouts: Layouts
) -> None:
    """Hold that a kernel gives what the judge gives, each element written by one tile."""
    values = everything(graph)
    kernel = generate(group, schedule, graph, target, layouts=layouts)

    def lying(array: Array, name: str) -> Array:
        strides = graph.tensors[name].strides
        return laid_out(array, name, layouts) if strides is None else apart(array, strides)

    outputs = {
        name: lying(np.full(graph.tensors[name].shape, SENTINEL, np.float32), name)
        for name in group.outputs
    }
    given_arrays = {n: lying(v, n) for n, v in values.items() if n in group.inputs}
    bound = load_kernel(kernel, target).bound({**given_arrays, **outputs})
    times = {name: np.zeros(array.shape, int) for name, array in outputs.items()}
    for number in range(kernel.tiles):
        for array in outputs.values():
            array.fill(SENTINEL)
        bound.run(number, number + 1)
        for name, array in outputs.items():
            times[name] += array != SENTINEL
    for name, count in times.items():
        assert (count == 1).all(), f"{name} is written {count.min()} to {count.max()} times"
    bound.run()
    for name, array in outputs.items():
        wanted = lying(values[name], name)
        np.testing.assert_allclose(array, wanted, rtol=2e-4, atol=2e-4)


def laid_out(array: Array, name: str, layouts: Layouts) -> Array:
    """Return the elements in the order in which they lie in memory."""
    return np.ascontiguousarray(array.transpose(layouts.get(name, range(array.ndim))))


def apart(array: Array, strides: tuple[int, ...]) -> Array:
    """Return the elements with this many places from one to the next along each dimension."""
    reach = 1 + sum((size - 1) * step for size, step in zip(array.shape, strides, strict=True))
    memory = np.zeros(max(reach, 1) + SLACK_BYTES, array.dtype)
    places = [step * array.itemsize for step in strides]
    result = np.lib.stride_tricks.as_strided(memory, array.shape, places)
    result[...] = array
    return result


def with_strides(graph: TileGraph, names: Sequence[str], data: st.DataObject) -> TileGraph:
    """Return a graph with room behind the rows or planes of some tensors."""
    tensors = dict(graph.tensors)
    for name in names:
        step, strides = 1, []
        for extent in reversed(graph.tensors[name].shape):
            step += data.draw(st.sampled_from([0, 0, 3, 16]))
            strides.append(step)
            step *= max(extent, 1)
        tensors[name] = replace(tensors[name], strides=tuple(reversed(strides)))
    return replace(graph, tensors=tensors)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@given(data=st.data(), graph=graphs())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_grouping_and_any_tile_gives_what_the_judge_gives(
    target: InstructionSet, data: st.DataObject, graph: TileGraph
) -> None:
    wires = wiring(graph)
    count = len(graph.ops)
    last = data.draw(st.integers(0, count - 1))
    first = data.draw(st.integers(0, last))
    try:
        group = grouped(wires, range(first, last + 1))
    except NoGroupError:
        group = grouped(wires, [last])
    tile = tuple(data.draw(st.integers(1, max(axis.extent, 1))) for axis in group.anchor.spatial)
    if not legal(group, tile):
        group = grouped(wires, [last])
    names = [*(n for n in group.inputs if n not in graph.constants), *group.outputs]
    layouts = {
        name: tuple(data.draw(st.permutations(range(len(graph.tensors[name].shape)))))
        for name in names
        if data.draw(st.booleans())
    }
    inner = set(names) - layouts.keys() - {*graph.inputs}
    graph = with_strides(graph, [name for name in names if name in inner], data)
    carried = data.draw(st.none() | st.integers(0, len(tile) - 1)) if tile else None
    run = data.draw(st.integers(1, 4)) if carried is not None else 1
    check(group, Schedule(tile, carried, run), graph, target, layouts)
