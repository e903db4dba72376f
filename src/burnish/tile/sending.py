"""How updates that are sent to their places should run, and what that costs.

All places that updates go to belong to one tile, so that each update is looked at once; tiles are
cut along what else the output has. The cost is that of three nests: nothing everywhere, the terms,
as if each had a place of its own, and what follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from burnish.tile.cost import Cost, estimate
from burnish.tile.graph import TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.schedule import Schedule
from burnish.tile.sent import Sent, passes, sent
from burnish.tile.workload import workload

LEAST_TERMS = 1 << 14
"""Terms that are worth a thread of their own."""


def sends(group: Group) -> bool:
    """Say whether a nest of a group sends its terms to places."""
    return any(sent(op) is not None for op in group.ops)


def sending(group: Group, machine: Machine) -> Schedule:
    """Return how the one nest of a group should send its terms."""
    op = group.anchor
    found = sent(op)
    assert found is not None
    return Schedule(_tile(op, found, machine))


def sending_cost(group: Group, graph: TileGraph, schedule: Schedule, machine: Machine) -> Cost:
    """Return what sending the terms of a group's one nest should cost under a schedule."""
    op = group.anchor
    found = sent(op)
    assert found is not None
    sizes = dict(zip(op.spatial, schedule.tile, strict=True))
    costs = []
    for nest in _nests(op, found):
        tile = tuple(sizes.get(axis, axis.extent) for axis in nest.spatial)
        costs.append(_alone(nest, graph, Schedule(tile), machine))
    terms = costs[0]
    return replace(
        terms,
        seconds=sum(each.seconds for each in costs),
        compute_s=sum(each.compute_s for each in costs),
        operations=sum(each.operations for each in costs),
    )


def _tile(op: TileOp, found: Sent, machine: Machine) -> tuple[int, ...]:
    """Return a tile with all places, of about as many as threads are worth it."""
    units = min(machine.units, max(found.terms // LEAST_TERMS, 1))
    free = [place for place, axis in enumerate(op.spatial) if axis not in found.places]
    tile = list(op.shape)
    for place in free:
        step = machine.lanes(op.dtype) if place == len(tile) - 1 else 1
        if units > 1 and tile[place] >= units * step:
            tile[place] = -(-tile[place] // (units * step)) * step
            break
    return tuple(max(size, 1) for size in tile)


def _nests(op: TileOp, found: Sent) -> Iterator[TileOp]:
    """Yield the nests of sending, the terms' first, each with an output of its own."""
    walks = passes(op, found)
    for nest in (walks.update, walks.start, walks.end):
        if nest is not None:
            yield replace(nest, output=f"{op.output}$each")


def _alone(op: TileOp, graph: TileGraph, schedule: Schedule, machine: Machine) -> Cost:
    tensors = {**graph.tensors, op.output: TensorType(op.dtype, op.shape)}
    inputs = tuple(name for name in op.inputs if name not in graph.constants)
    alone = TileGraph(tensors, inputs, (op.output,), (op,), graph.constants)
    work = workload(Group((op,), (op.output,)), alone, {}, machine.unit)
    return estimate(work, schedule, machine)
