"""Candidate schedules of a group: tile shapes visited best-first, the most promising ones first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from burnish.tile.channels_last import layouts
from burnish.tile.collisions import Layouts
from burnish.tile.cost import Cost, carried_tensors, estimate_tiles
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.region import TileMap, partitioned, propagate
from burnish.tile.schedule import Schedule
from burnish.tile.sending import sending, sending_cost, sends
from burnish.tile.workload import Workload, workload

Walk = Literal["independent", "carried"]
"""Tiles that share nothing, or tiles walked in order that keep what neighbours share."""

Tile = tuple[int, ...]

_SPACING = 1.4
"""Neighbouring sizes of an axis differ by about this factor: closer ones cost the same."""


RUNS_PER_UNIT = 2
"""Runs that each thread should have, so that one which is late can be helped."""


@dataclass(frozen=True, slots=True)
class Space:
    """How far to look: schedules to return, tiles to estimate, ways to walk them."""

    top: int = 20
    visits: int = 150
    walks: tuple[Walk, ...] = ("independent", "carried")
    outermost: int = 0
    """What tiles must divide along the outermost axis, along which nothing is carried: then fewer
    tiles compute fewer rows, and no part of others. 0: no matter."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule and its predicted cost."""

    schedule: Schedule
    cost: Cost


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best candidates, and why there is none where there is none."""

    candidates: tuple[Candidate, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Visit:
    candidate: Candidate
    fault: str
    """Why this schedule cannot be used; empty: it can."""


def candidates(
    group: Group,
    graph: TileGraph,
    machine: Machine,
    space: Space = Space(),  # noqa: B008  # frozen
    seeds: Iterable[Tile] = (),
    orders: Layouts | None = None,
) -> Ranking:
    """Return the schedules of a group with the least predicted cost, the best first.

    `seeds` are the tiles from which to look, with sizes beyond an axis cut off; without any that
    fits, those are the whole output and contiguous blocks of it. `orders` is `orders_on` of graph
    and machine; whoever asks for many groups finds it once.
    """
    if sends(group):
        return _sending(group, graph, machine)
    known = orders if orders is not None else orders_on(graph, machine)
    work = workload(group, graph, known, machine.unit)
    sizes = _sizes(group.anchor, known.get(group.anchor.output), machine)
    if space.outermost and sizes:
        sizes[0] = tuple(n for n in axis_sizes(space.outermost) if space.outermost % n == 0)
    visits = tuple(_visit_best_first(work, machine, space, seeds, sizes))
    usable = [visit.candidate for visit in visits if not visit.fault]
    ranked = sorted(usable, key=lambda one: (one.cost.seconds, one.schedule.tile))[: space.top]
    if ranked:
        return Ranking(tuple(ranked))
    best = min(visits, key=lambda visit: visit.candidate.cost.scratch_bytes, default=None)
    return Ranking((), best.fault if best is not None else "its output has no element")


def _sending(group: Group, graph: TileGraph, machine: Machine) -> Ranking:
    if len(group.ops) > 1:
        return Ranking((), "what is sent to computed places is a kernel of its own")
    schedule = sending(group, machine)
    return Ranking((Candidate(schedule, sending_cost(group, graph, schedule, machine)),))


def orders_on(graph: TileGraph, machine: Machine) -> Layouts:
    """Return the tensors whose dimensions a machine's kernels lay out in another order."""
    return layouts(graph, machine.lanes("f32")) if machine.hw.kind == "cpu" else {}


def axis_sizes(extent: int, lanes: int = 1) -> tuple[int, ...]:
    """Return the tile sizes to try along an axis, growing; `lanes` favours whole vectors."""
    if extent <= 1:
        return (max(extent, 1),)
    divisors = {size for size in range(1, math.isqrt(extent) + 1) if extent % size == 0}
    divisors |= {extent // size for size in divisors}
    powers = {1 << bit for bit in range(extent.bit_length()) if 1 << bit <= extent}
    vectors = {size for size in powers | divisors if size % lanes == 0}
    orders = ({1, extent}, vectors & divisors, vectors, divisors, powers)
    chosen: set[int] = set()
    for sizes in orders:
        for size in sorted(sizes, reverse=True):
            if all(max(size, other) >= _SPACING * min(size, other) for other in chosen - {size}):
                chosen.add(size)
    return tuple(sorted(chosen))


def _sizes(
    anchor: TileOp, order: tuple[int, ...] | None, machine: Machine
) -> list[tuple[int, ...]]:
    """Return the tile sizes to try along each axis; innermost channels in whole vectors."""
    lanes = machine.lanes(anchor.dtype)
    longer = [axis for axis in order or range(len(anchor.shape)) if anchor.shape[axis] > 1]
    innermost = longer[-1] if longer else len(anchor.shape) - 1
    result = []
    for axis, extent in enumerate(anchor.shape):
        sizes = axis_sizes(extent, lanes if axis == innermost else 1)
        if order and axis == innermost:
            # where all channels are less than a vector (of truth values, say), they stay together
            sizes = tuple(size for size in sizes if size % lanes == 0) or (extent,)
        result.append(sizes)
    return result


def _visit_best_first(
    work: Workload,
    machine: Machine,
    space: Space,
    seeds: Iterable[Tile],
    sizes: list[tuple[int, ...]],
) -> Iterator[_Visit]:
    anchor = work.group.anchor
    if not math.prod(anchor.shape):
        return
    seen: set[Tile] = set()
    queue: list[tuple[float, Tile]] = []
    visited = 0
    given = list(dict.fromkeys(_clamped(seeds, anchor.shape)))
    whole = (
        (min(anchor.shape[0], sizes[0][-1]), *anchor.shape[1:]) if space.outermost else anchor.shape
    )
    waiting = given or list(dict.fromkeys(_starts(whole, sizes)))
    while (waiting or queue) and visited < space.visits:
        tile = waiting.pop(0) if waiting else None
        if tile is None:
            _, expanded = heapq.heappop(queue)
            waiting = [near for near in _neighbours(expanded, sizes) if near not in seen]
            continue
        seen.add(tile)
        visited += 1
        visits = tuple(_visits(work, tile, machine, space))
        yield from visits
        urgency = min((_key(visit, machine) for visit in visits), default=math.inf)
        heapq.heappush(queue, (urgency, tile))


def _visits(work: Workload, tile: Tile, machine: Machine, space: Space) -> Iterator[_Visit]:
    tile_map = propagate(work.group, tile, work.accesses)
    fault = _written_twice(work.group, tile_map)
    for schedule in _walks(work.group, tile, tile_map, machine, space):
        cost = estimate_tiles(work, tile_map, schedule, machine)
        yield _Visit(Candidate(schedule, cost), fault or _too_large(cost, machine))


def _walks(
    group: Group, tile: Tile, tile_map: TileMap, machine: Machine, space: Space
) -> Iterator[Schedule]:
    if "independent" in space.walks:
        yield Schedule(tile)
    if "carried" not in space.walks or machine.hw.kind != "cpu":
        return
    for axis, counter in enumerate(tile_map.counters):
        if space.outermost and not axis:
            continue
        run = _run(tile_map.tiles, counter.extent, machine.units)
        schedule = Schedule(tile, carried=axis, run=run)
        if run > 1 and carried_tensors(tile_map, schedule) & group.written:
            yield schedule


def _run(tiles: int, along: int, units: int) -> int:
    """Return the longest runs of tiles along one axis that leave each unit its share of them."""
    rows = tiles // along if along else 0
    if not rows:
        return 1
    wanted = RUNS_PER_UNIT * units if units > 1 else 1
    return -(-along // min(-(-wanted // rows), along))


def _written_twice(group: Group, tile_map: TileMap) -> str:
    shapes = {op.output: op.shape for op in group.ops}
    for name in group.outputs[:-1]:
        if not partitioned(tile_map.boxes[name], shapes[name], tile_map.counters):
            return f"{name!r} is needed outside, and tiles would compute parts of it twice"
    return ""


def _too_large(cost: Cost, machine: Machine) -> str:
    if cost.scratch_bytes <= machine.scratch_bytes:
        return ""
    return (
        f"its least scratch is {cost.scratch_bytes:,} bytes, "
        f"and {machine.hw.name} has room for {machine.scratch_bytes:,}"
    )


def _key(visit: _Visit, machine: Machine) -> float:
    """Return what orders the search: seconds, more where the schedule cannot be used yet."""
    cost = visit.candidate.cost
    excess = max(cost.scratch_bytes / machine.scratch_bytes, 1.0)
    return cost.seconds * excess * (2.0 if visit.fault else 1.0)


def _starts(shape: Tile, sizes: list[tuple[int, ...]]) -> Iterator[Tile]:
    """Yield the whole output, and contiguous blocks of it of several lengths."""
    yield shape
    for position in range(len(shape)):
        choices = sizes[position]
        middle = choices[len(choices) // 2]
        if middle not in (1, shape[position]):
            yield (*(1 for _ in shape[:position]), middle, *shape[position + 1 :])


def _neighbours(tile: Tile, sizes: list[tuple[int, ...]]) -> Iterator[Tile]:
    """Yield the tiles with one axis a step shorter or longer."""
    for position in reversed(range(len(tile))):
        shorter = [size for size in sizes[position] if size < tile[position]][-1:]
        longer = [size for size in sizes[position] if size > tile[position]][:1]
        for size in (*shorter, *longer):
            yield (*tile[:position], size, *tile[position + 1 :])


def _clamped(seeds: Iterable[Tile], shape: Tile) -> Iterator[Tile]:
    for seed in seeds:
        if len(seed) == len(shape):
            yield tuple(max(min(s, e), 1) for s, e in zip(seed, shape, strict=True))
