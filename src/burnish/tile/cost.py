"""How long a group should take under a schedule: a roofline with every level of the memory.

Each nest computes at the device's peak, less what short vectors waste, and loads from the nearest
memory. What a level cannot hold until it is needed again comes from the next one. A CPU runs the
nests of a tile one after the other, so each is bound by its own slowest part, which hides most of
its others; a GPU overlaps the blocks that share a multiprocessor, so a kernel is bound by its
slowest part as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.hw.spec import MemoryLevel
from burnish.tile.footprint import footprint, scratch_sizes
from burnish.tile.index import Axis
from burnish.tile.machine import Machine
from burnish.tile.region import TileMap, propagate
from burnish.tile.schedule import Schedule
from burnish.tile.traffic import Movement, Traffic, traffic
from burnish.tile.workload import FLOPS_PER_OPERATION, NestFacts, ReadFacts, Workload

PEAK_SHARE = 0.85
"""Of the peak rate that a register-blocked sum of products reaches when its operands are near; with
what its loads expose, about 0.79 (64 to 81 of 100 measured)."""

EXPOSED = 0.25
"""Share of a CPU's shorter parts that its longest one does not hide: waiting for memory and
computing overlap, but not wholly."""

REGISTER_ROWS = 6
"""Rows of outputs that a kernel keeps in registers: one load serves as many multiply-adds."""

NEST_START_S = 30e-9
"""What entering one nest for one tile costs: set-up of loops and addresses."""

UNEVENNESS = 0.1
"""Share of a tile's time by which units finish apart; more tiles per unit even it out."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Predicted seconds of one kernel, and what they are made of."""

    seconds: float
    compute_s: float
    """If memory were free and no unit waited."""
    memory_s: Mapping[str, float]
    """By level, if it were the only limit."""
    launch_s: float
    """Starting the kernel and its nests."""
    waves: int
    """How many tiles the busiest unit runs."""
    scratch_bytes: int
    traffic: Traffic


@dataclass(frozen=True, slots=True)
class _NestSeconds:
    """What one nest takes in all, were its parts the only limit, all units busy."""

    compute: float
    memory: tuple[float, ...]


def estimate(work: Workload, schedule: Schedule, machine: Machine) -> Cost:
    """Return the predicted cost of a group under a schedule."""
    return estimate_tiles(work, propagate(work.group, schedule.tile), schedule, machine)


def estimate_tiles(work: Workload, tile_map: TileMap, schedule: Schedule, machine: Machine) -> Cost:
    """Return the predicted cost of a group whose tiles are known already."""
    group = work.group
    moved = traffic(group, tile_map, work.graph, machine.transactions)
    kept = carried_tensors(tile_map, schedule)
    scratch = footprint(group, scratch_sizes(group, tile_map), kept).bytes
    behind = _Behind(machine, tile_map, moved, scratch)
    done: set[str] = set()
    nests = []
    for facts in work.nests:
        volume = computed_elements(tile_map, schedule, facts.op.output)
        nests.append(_nest_seconds(facts, tile_map, volume, behind, done))
        done |= {facts.op.output, *(read.tensor for read in facts.reads)}
    return _total(nests, tile_map, schedule, machine, scratch, moved)


def computed_elements(tile_map: TileMap, schedule: Schedule, tensor: str) -> int:
    """Return how many elements of a nest's output all tiles compute, repeats included."""
    each = tile_map.elements(tensor)
    if schedule.carried is None or tile_map.tiles == 0:
        return tile_map.tiles * each
    counter = tile_map.counters[schedule.carried]
    walk = 1
    for span in tile_map.boxes[tensor]:
        step = next((abs(f) for atom, f in span.origin.terms if atom == counter), 0)
        fresh = min(step, span.size) if step else span.size
        walk *= fresh * (counter.extent - 1) + span.size if step else span.size
    return tile_map.tiles // counter.extent * walk


def carried_tensors(tile_map: TileMap, schedule: Schedule) -> frozenset[str]:
    """Return the tensors of which neighbouring tiles along the carried axis share a part."""
    if schedule.carried is None:
        return frozenset()
    counter = tile_map.counters[schedule.carried]
    return frozenset(
        tensor
        for tensor, box in tile_map.boxes.items()
        for span in box
        if any(atom == counter and abs(f) < span.size for atom, f in span.origin.terms)
    )


class _Behind:
    """Answers how many bytes must come from behind each level of the memory."""

    def __init__(
        self, machine: Machine, tile_map: TileMap, moved: Traffic, scratch_bytes: int
    ) -> None:
        self.machine = machine
        self._tiles = tile_map.tiles
        self._extents = [counter.extent for counter in tile_map.counters]
        self._movements = {movement.tensor: movement for movement in moved.movements}
        self._scratch = scratch_bytes
        self._distinct = sum(movement.distinct_bytes for movement in moved.movements)
        self._distances = [self._distance(position) for position in range(len(self._extents))]
        self._wave = min(machine.units, self._tiles) * self._distance(len(self._extents))

    def of_memory(self, tensor: str, level: MemoryLevel) -> float:
        """Return the bytes of a tensor in memory that the level does not hold, over all tiles."""
        movement = self._movements[tensor]
        result = movement.moved_bytes
        if level.per_unit and self.machine.hw.kind == "gpu":
            # a block's own memory is empty when it starts
            return result * self._tiles
        split = self.machine.units if level.per_unit else 1
        for position, extent in enumerate(self._extents):
            if position in movement.counters:
                result *= extent
            else:
                distance = self._distances[position]
                if not level.per_unit:
                    distance = max(distance, self._wave)
                misses = 1 + (extent - 1) * _excess(distance, level)
                result *= max(misses, min(split, extent))
                split = max(split // max(extent, 1), 1)
        if level.per_unit:
            return result
        # what was written by the last kernel, and weights of the last run, may still be there
        first = self._first_touch(movement, level)
        return max(result - min(movement.distinct_bytes, result), 0.0) + first

    def of_scratch(self, total_bytes: float, level: MemoryLevel) -> float:
        """Return the bytes of scratch accesses that the level does not hold."""
        sharing = 1 if level.per_unit else self.machine.units
        return total_bytes * _excess(self._scratch * sharing, level)

    def is_outside(self, tensor: str) -> bool:
        """Say whether a tensor lies in memory, not in scratch."""
        return tensor in self._movements

    def _first_touch(self, movement: Movement, level: MemoryLevel) -> float:
        return movement.distinct_bytes * _excess(self._distinct, level)

    def _distance(self, position: int) -> float:
        """Return the bytes that are touched while the counters behind this one run once."""
        inner = range(position + 1, len(self._extents))
        result = float(self._scratch)
        for movement in self._movements.values():
            repeats = math.prod(self._extents[k] for k in inner if k in movement.counters)
            result += min(movement.box_bytes * repeats, movement.distinct_bytes)
        return result


def _excess(needed_bytes: float, level: MemoryLevel) -> float:
    """Return which share of the accesses misses a level: none while all fits, all at twice that."""
    return min(max(needed_bytes / level.capacity_bytes - 1, 0.0), 1.0)


def _nest_seconds(
    facts: NestFacts, tile_map: TileMap, elements: int, behind: _Behind, done: set[str]
) -> _NestSeconds:
    machine = behind.machine
    choices = [
        _vectorised(facts, tile_map, position, machine)
        for position in range(len(facts.vector_axes))
    ]
    flops, near_bytes = min(choices, default=(_plain_flops(facts), _plain_bytes(facts)))
    near = elements * near_bytes
    memory = [near / machine.levels[0].bandwidth_bytes_per_s]
    repeat = elements / max(tile_map.tiles * tile_map.elements(facts.op.output), 1)
    for level, following in zip(machine.levels, machine.levels[1:], strict=False):
        missed = _missed(facts, tile_map, level, behind, done) * repeat
        memory.append(missed / following.bandwidth_bytes_per_s)
    share = PEAK_SHARE if facts.contracts else 1.0
    compute = elements * flops / (machine.peak_flops_per_s(facts.rate_dtype) * share)
    return _NestSeconds(compute, tuple(memory))


def _missed(
    facts: NestFacts, tile_map: TileMap, level: MemoryLevel, behind: _Behind, done: set[str]
) -> float:
    """Return the bytes that a nest takes from behind a level, over all tiles."""
    result = 0.0
    widths = {read.tensor: read.width_bytes for read in facts.reads if read.tensor not in done}
    again = {read.tensor: read.width_bytes for read in facts.reads if read.tensor in done}
    for tensor in widths:
        result += behind.of_memory(tensor, level)
    output = facts.op.output
    if behind.is_outside(output):
        result += behind.of_memory(output, level)
    else:
        again[output] = facts.output_bytes
    for tensor, width in again.items():
        total = tile_map.tiles * tile_map.elements(tensor) * width
        result += behind.of_scratch(total, level)
    return result


def _vectorised(
    facts: NestFacts, tile_map: TileMap, position: int, machine: Machine
) -> tuple[float, float]:
    """Return flops and near bytes per output element with vectors along one of the axes."""
    axis = facts.vector_axes[position]
    lanes = machine.lanes(facts.op.body.dtype)
    sizes = _axis_sizes(facts, tile_map)
    length = sizes[axis]
    padding = -(-length // lanes) * lanes / max(length, 1)
    points = math.prod(each.extent for each in facts.op.reduced)
    flops = (facts.point_flops * points + facts.element_flops) * padding
    if axis in facts.op.reduced:
        # the lanes of each sum are added up in the end
        flops += FLOPS_PER_OPERATION * lanes
    near = facts.output_bytes
    for read in facts.reads:
        count = points if read.in_body else 1
        stride = read.strides[position]
        if stride == 0:
            near += count * read.width_bytes / lanes
        elif stride == 1:
            near += count * read.width_bytes / _reuse(read, sizes, facts)
        else:
            # element by element: as many loads as a vector has lanes
            flops += FLOPS_PER_OPERATION * count * lanes / _reuse(read, sizes, facts)
            near += count * read.width_bytes / _reuse(read, sizes, facts)
    return flops, near


def _reuse(read: ReadFacts, sizes: Mapping[Axis, int], facts: NestFacts) -> int:
    """Return how many outputs in registers one load serves."""
    free = [sizes[axis] for axis in facts.op.spatial if axis not in read.axes]
    return min(math.prod(free), REGISTER_ROWS) if read.in_body and facts.op.reduced else 1


def _axis_sizes(facts: NestFacts, tile_map: TileMap) -> dict[Axis, int]:
    box = tile_map.boxes[facts.op.output]
    sizes = {axis: span.size for axis, span in zip(facts.op.spatial, box, strict=True)}
    return sizes | {axis: axis.extent for axis in facts.op.reduced}


def _plain_flops(facts: NestFacts) -> float:
    return facts.point_flops + facts.element_flops


def _plain_bytes(facts: NestFacts) -> float:
    return facts.output_bytes + sum(read.width_bytes for read in facts.reads)


def _overlapped(parts: Sequence[float]) -> float:
    longest = max(parts)
    return longest + EXPOSED * (sum(parts) - longest)


def _total(
    nests: Sequence[_NestSeconds],
    tile_map: TileMap,
    schedule: Schedule,
    machine: Machine,
    scratch_bytes: int,
    moved: Traffic,
) -> Cost:
    compute = sum(nest.compute for nest in nests)
    levels = range(len(machine.levels))
    memory = [sum(nest.memory[level] for nest in nests) for level in levels]
    if machine.hw.kind == "gpu":
        busy = max(compute, *memory)
    else:
        busy = sum(_overlapped((nest.compute, *nest.memory)) for nest in nests)
    length = tile_map.counters[schedule.carried].extent if schedule.carried is not None else 1
    walks = tile_map.tiles // max(length, 1)
    waves = -(-walks // machine.units)
    uneven = waves * machine.units / max(walks, 1)
    if machine.units > 1:
        uneven += UNEVENNESS * machine.units / max(walks, machine.units)
    starts = NEST_START_S * len(nests) * waves * length
    launch = machine.hw.launch_overhead_s + (starts if machine.hw.kind == "cpu" else 0.0)
    return Cost(
        seconds=busy * uneven + launch,
        compute_s=compute,
        memory_s={machine.levels[k].name: memory[k] for k in levels},
        launch_s=launch,
        waves=waves * length,
        scratch_bytes=scratch_bytes,
        traffic=moved,
    )
