"""How long a group should take under a schedule: a roofline with every level of the memory.

Each nest computes at the device's peak, less what short vectors waste, and loads from the nearest
memory. What a level cannot hold until it is needed again comes from the next one. A CPU runs the
nests of a tile one after the other, so each is bound by its own slowest part, which hides most of
its others; a GPU overlaps the blocks that share a multiprocessor, so a kernel is bound by its
slowest part as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from burnish.core.placing import Lifetime
from burnish.hw.spec import MemoryLevel
from burnish.tile.footprint import element_bytes, placed
from burnish.tile.machine import Machine
from burnish.tile.region import TileMap, propagate, shift
from burnish.tile.schedule import Schedule
from burnish.tile.traffic import Traffic, piece_bytes, traffic
from burnish.tile.vectors import VectorChoice
from burnish.tile.workload import FLOPS_PER_OPERATION, NestFacts, ReadFacts, Workload

PUSHED_OUT = 0.5
"""Of what a unit's own memory could still hold when a kernel begins, what others have pushed out: a
norm of 128 rows of 512 took three times as long as one that finds all of it there."""


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
    operations: float = 0.0
    """Scalar operations of all tiles, with those done again, without what tiles keep."""


@dataclass(frozen=True, slots=True)
class _NestSeconds:
    """What one nest takes in all, were its parts the only limit, all units busy."""

    compute: float
    memory: tuple[float, ...]


def estimate(work: Workload, schedule: Schedule, machine: Machine) -> Cost:
    """Return the predicted cost of a group under a schedule."""
    tile_map = propagate(work.group, schedule.tile, work.accesses)
    return estimate_tiles(work, tile_map, schedule, machine)


def estimate_tiles(work: Workload, tile_map: TileMap, schedule: Schedule, machine: Machine) -> Cost:
    """Return the predicted cost of a group whose tiles are known already."""
    moved = traffic(work, tile_map, machine.transactions)
    collisions = _collisions(work, tile_map)
    scratch = _scratch_bytes(work, tile_map, schedule, collisions)
    outside = (each.tensor for each in moved.movements if each.tensor not in work.graph.constants)
    pieces = {name: piece_bytes(work, tile_map, name) for name in outside}
    behind = _Behind(machine, tile_map, moved, scratch, pieces)
    colliding = {work.copied[name].first for name in collisions}
    nests = [
        _nest_seconds(facts, tile_map, schedule, behind, collides=number in colliding)
        for number, facts in enumerate(work.nests)
        if not facts.in_place
    ]
    done = sum(
        facts.work * max(computed_elements(tile_map, schedule, facts.op.output), facts.elements)
        for facts in work.nests
    )
    return replace(_total(nests, tile_map, schedule, machine, scratch, moved), operations=done)


def computed_elements(tile_map: TileMap, schedule: Schedule, tensor: str) -> int:
    """Return how many elements of a nest's output all tiles compute, repeats included."""
    each = tile_map.elements(tensor)
    if schedule.carried is None or tile_map.tiles == 0:
        return tile_map.tiles * each
    counter, box = tile_map.counters[schedule.carried], tile_map.boxes[tensor]
    rows = tile_map.tiles // counter.extent
    runs = _runs(counter.extent, schedule)
    moved = shift(box, counter)
    if moved is None:
        return tile_map.tiles * each
    if not moved.step:
        return rows * runs * each
    size = box[moved.dimension].size
    fresh = min(moved.step, size)
    return rows * (each // max(size, 1)) * (fresh * (counter.extent - runs) + size * runs)


def _runs(tiles: int, schedule: Schedule) -> int:
    """Return into how many runs a row of tiles is cut."""
    return -(-tiles // max(schedule.run, 1))


def carried_tensors(tile_map: TileMap, schedule: Schedule) -> frozenset[str]:
    """Return the tensors of which neighbouring tiles along the carried axis share a part."""
    if schedule.carried is None:
        return frozenset()
    counter = tile_map.counters[schedule.carried]
    moved = ((tensor, box, shift(box, counter)) for tensor, box in tile_map.boxes.items())
    return frozenset(
        tensor for tensor, box, how in moved if how is not None and how.step and how.overlap(box)
    )


def _collisions(work: Workload, tile_map: TileMap) -> frozenset[str]:
    """Return the operands that collide in the first cache, as copies of them would be too long."""
    return _long(work, tile_map, work.copied)


def _long(work: Workload, tile_map: TileMap, names: Iterable[str]) -> frozenset[str]:
    """Return the tensors of which a tile needs more than stays near; prices know short copies."""
    types = work.graph.tensors
    return frozenset(
        name
        for name in names
        if element_bytes(types[name].dtype, tile_map.elements(name)) > work.unit.most_copied_bytes
    )


def _scratch_bytes(
    work: Workload, tile_map: TileMap, schedule: Schedule, collisions: frozenset[str]
) -> int:
    types = work.graph.tensors
    copied = {name: life for name, life in work.copied.items() if name not in collisions}
    long = _long(work, tile_map, work.turned)
    lives = {**work.lifetimes, **copied, **{name: work.turned[name] for name in long}}
    for name in carried_tensors(tile_map, schedule) & lives.keys():
        lives[name] = Lifetime(0, len(work.nests) - 1)
    sizes = {name: element_bytes(types[name].dtype, tile_map.elements(name)) for name in lives}
    return placed(lives, sizes).bytes


class _Behind:
    """Answers how many bytes must come from behind each level of the memory."""

    def __init__(
        self,
        machine: Machine,
        tile_map: TileMap,
        moved: Traffic,
        scratch_bytes: int,
        pieces: Mapping[str, float],
    ) -> None:
        self.machine = machine
        self._pieces = pieces
        self._tiles = tile_map.tiles
        self._movements = {movement.tensor: movement for movement in moved.movements}
        self._scratch = scratch_bytes
        self._distinct = sum(movement.distinct_bytes for movement in moved.movements)
        counters = enumerate(tile_map.counters)
        self._extents = {k: counter.extent for k, counter in counters if counter.extent != 1}
        self._distances = {position: self._distance(position) for position in self._extents}
        self._wave = min(machine.units, self._tiles) * self._distance(len(tile_map.counters))

    def of_memory(self, tensor: str, level: MemoryLevel) -> float:
        """Return the bytes of a tensor in memory that the level does not hold, over all tiles."""
        movement = self._movements[tensor]
        result = movement.moved_bytes
        if level.per_unit and self.machine.hw.kind == "gpu":
            # a block's own memory is empty when it starts
            return result * self._tiles
        split = self.machine.units if level.per_unit else 1
        for position, extent in self._extents.items():
            if position in movement.counters:
                result *= extent
            else:
                distance = self._distances[position]
                if not level.per_unit:
                    distance = max(distance, self._wave)
                misses = 1 + (extent - 1) * _excess(distance, level)
                result *= max(misses, min(split, extent))
                split = max(split // max(extent, 1), 1)
        # what was written by the last kernel, and weights of the last run, may still be there;
        # in a unit's own memory only if it was this unit's, and nothing else has passed since
        own = self.machine.units if level.per_unit else 1
        pushed_out = max(1 - 1 / own, PUSHED_OUT) if level.per_unit else 0.0
        gone = max(_excess(self._distinct / own, level), pushed_out)
        return max(result - movement.distinct_bytes, 0.0) + movement.distinct_bytes * gone

    def far_pieces(self, tensor: str) -> float:
        """Return how many pieces of a tensor are begun in the farthest memory, over all tiles.

        Constants lie as they are walked, and what the last cache holds is not far.
        """
        last = self.machine.levels[-2]
        if tensor not in self._pieces or not _excess(self._distinct, last):
            return 0.0
        return self.of_memory(tensor, last) / max(self._pieces[tensor], 1.0)

    def of_scratch(self, total_bytes: float, level: MemoryLevel) -> float:
        """Return the bytes of scratch accesses that the level does not hold."""
        sharing = 1 if level.per_unit else self.machine.units
        return total_bytes * _excess(self._scratch * sharing, level)

    def is_outside(self, tensor: str) -> bool:
        """Say whether a tensor lies in memory, not in scratch."""
        return tensor in self._movements

    def _distance(self, position: int) -> float:
        """Return the bytes that are touched while the counters behind this one run once."""
        result = float(self._scratch)
        inner = [(k, extent) for k, extent in self._extents.items() if k > position]
        for movement in self._movements.values():
            box = movement.box_bytes
            for k, extent in inner:
                if k in movement.counters:
                    box *= extent
            result += min(box, movement.distinct_bytes)
        return result


def _excess(needed_bytes: float, level: MemoryLevel) -> float:
    """Return which share of the accesses misses a level.

    None while half of it is enough, as other data passes through it too; all where it would have
    to be half as large again.
    """
    return min(max(needed_bytes / level.capacity_bytes - 0.5, 0.0), 1.0)


def _nest_seconds(
    facts: NestFacts, tile_map: TileMap, schedule: Schedule, behind: _Behind, *, collides: bool
) -> _NestSeconds:
    machine, output = behind.machine, facts.op.output
    elements = computed_elements(tile_map, schedule, output)
    every = tile_map.tiles * tile_map.elements(output)
    flops, near, rows = _near(facts, tile_map, machine)
    memory = [elements * near / machine.levels[0].bandwidth_bytes_per_s]
    outside = [*facts.first_reads, *([output] if behind.is_outside(output) else [])]
    inside = sum(tile_map.elements(name) * width for name, width in facts.again) * tile_map.tiles
    for level, following in pairwise(machine.levels):
        missed = sum(behind.of_memory(name, level) for name in outside)
        missed += behind.of_scratch(inside, level)
        memory.append(missed * elements / max(every, 1) / following.bandwidth_bytes_per_s)
    if machine.hw.kind == "cpu" and len(machine.levels) > 1:
        begun = sum(map(behind.far_pieces, outside)) * elements / max(every, 1)
        memory[-1] += begun * machine.unit.piece_s / machine.units
    share = machine.unit.peak_share if facts.contracts else 1.0
    share /= machine.unit.colliding if collides and machine.hw.kind == "cpu" else 1.0
    compute = elements * flops / (machine.peak_flops_per_s(facts.rate_dtype) * share)
    if machine.hw.kind == "cpu":
        compute += elements * rows * machine.unit.row_start_s / machine.units
    return _NestSeconds(compute, tuple(memory))


def _near(facts: NestFacts, tile_map: TileMap, machine: Machine) -> tuple[float, float, float]:
    """Return flops, bytes of the nearest memory and rows per element, with the best vectors."""
    lanes = machine.lanes(facts.op.body.dtype)
    sizes = [span.size for span in tile_map.boxes[facts.op.output]]
    found = [_vectorised(facts, choice, sizes, lanes, machine) for choice in facts.choices]
    near = facts.output_bytes + sum(read.count * read.width_bytes for read in facts.reads)
    return min(found, default=(facts.flops, near, 1.0))


def _vectorised(
    facts: NestFacts, choice: VectorChoice, sizes: Sequence[int], lanes: int, machine: Machine
) -> tuple[float, float, float]:
    unit = machine.unit
    length = _length(facts, choice, sizes)
    flops = facts.flops * (-(-length // lanes) * lanes / max(length, 1))
    if not choice.positions:
        # the lanes of each sum are added up in the end
        flops += FLOPS_PER_OPERATION * lanes
    near = facts.output_bytes
    packed = machine.hw.kind != "cpu" or _begins_with_panels(facts, choice, sizes, lanes)
    for read, lying in zip(facts.reads, choice.lying if packed else choice.unpacked, strict=True):
        if lying == "same":
            near += read.count * read.width_bytes / lanes
            continue
        served = _served(read, sizes, unit.register_rows)
        near += read.count * read.width_bytes / served
        if lying == "near":
            # a few whole vectors, and the lanes picked out of them
            flops += FLOPS_PER_OPERATION * read.count * unit.picked_operations / served
        elif lying == "apart":
            # element by element: as many loads as a vector has lanes
            flops += FLOPS_PER_OPERATION * read.count * lanes * unit.scattered_operations / served
    if choice.output_apart:
        flops += FLOPS_PER_OPERATION * lanes * unit.scattered_operations
    return flops, near, 1 / max(length, 1) if choice.positions else 1.0


def _begins_with_panels(
    facts: NestFacts, choice: VectorChoice, sizes: Sequence[int], lanes: int
) -> bool:
    """Say whether the weights of a product can be laid out as tiles walk them: in whole vectors."""
    if not facts.contracts or not choice.positions:
        return True
    along = choice.positions[0]
    return sizes[along] == facts.op.spatial[along].extent or sizes[along] % lanes == 0


def _length(facts: NestFacts, choice: VectorChoice, sizes: Sequence[int]) -> int:
    """Return how far vectors run: over outer axes too, while the inner ones are whole."""
    if not choice.positions:
        return choice.reduced_length
    length = 1
    for position in choice.positions:
        length *= sizes[position]
        if sizes[position] != facts.op.spatial[position].extent:
            break
    return length


def _served(read: ReadFacts, sizes: Sequence[int], register_rows: int) -> int:
    """Return how many outputs in registers one load serves."""
    result = 1
    for position in read.free:
        result *= sizes[position]
    return min(result, register_rows)


def _overlapped(parts: Sequence[float], exposed_share: float) -> float:
    longest = max(parts)
    return longest + exposed_share * (sum(parts) - longest)


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
        exposed = machine.unit.exposed_share
        busy = sum(_overlapped((nest.compute, *nest.memory), exposed) for nest in nests)
    length, walks = 1, tile_map.tiles
    if schedule.carried is not None:
        extent = tile_map.counters[schedule.carried].extent
        length, walks = schedule.run, tile_map.tiles // max(extent, 1) * _runs(extent, schedule)
    waves = -(-walks // machine.units)
    uneven = waves * machine.units / max(walks, 1)
    if machine.units > 1:
        uneven += machine.unit.unevenness * machine.units / max(walks, machine.units)
    starts = machine.unit.nest_start_s * len(nests) * waves * length
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
