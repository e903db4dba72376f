"""How many bytes a group moves between memory and its tiles, and how much it computes twice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from burnish.core.tensors import BITS
from burnish.hw.spec import HardwareSpec
from burnish.hw.unit import UNITS
from burnish.tile.graph import TensorType
from burnish.tile.index import axes_of, bounds
from burnish.tile.region import Box, TileMap
from burnish.tile.workload import Picked, Workload


@dataclass(frozen=True, slots=True)
class Transactions:
    """The least bytes that a device moves at once."""

    read_bytes: int
    write_bytes: int


@dataclass(frozen=True, slots=True)
class TensorTraffic:
    """What the tiles of a group move of one tensor that lies in memory."""

    tensor: str
    direction: Literal["read", "write"]
    box_bytes: float
    """Of the elements that one tile needs."""
    moved_bytes: float
    """Per tile, what is moved along with them included."""
    distinct_bytes: float
    """Of the elements that any tile needs, each counted once."""
    counters: frozenset[int]
    """The counters that decide which part it is, by position; other tiles share it."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a group moves and computes when it is cut into tiles."""

    tiles: int
    movements: tuple[TensorTraffic, ...]
    redundancy: Mapping[str, float]
    """How often each element of a nest's output is computed on average, by tensor."""
    operations: float
    """Scalar operations of all tiles, those done more than once counted as often."""

    @property
    def tile_bytes(self) -> float:
        """Return what one tile moves."""
        return sum(movement.moved_bytes for movement in self.movements)

    @property
    def total_bytes(self) -> float:
        """Return what all tiles move if nothing is kept between them."""
        return self.tiles * self.tile_bytes


def transactions(hw: HardwareSpec) -> Transactions:
    """Return a device's transaction sizes: lines of a CPU's cache, sectors of a GPU's."""
    unit = hw.unit or UNITS[hw.kind]
    return Transactions(unit.read_bytes, unit.write_bytes)


def traffic(work: Workload, tile_map: TileMap, sizes: Transactions) -> Traffic:
    """Return what a group moves and computes under a tile map.

    Constants are laid out when compiling, so that their tiles are always contiguous.
    """
    types, constants = work.graph.tensors, work.graph.constants
    reads = [
        movement(
            name, "read", tile_map, types[name], 1 if name in constants else sizes.read_bytes,
            work.picked.get(name, {}),
        )
        for name in work.inputs
    ]  # fmt: skip
    writes = [
        movement(name, "write", tile_map, types[name], sizes.write_bytes)
        for name in work.group.outputs
    ]
    redundancy: dict[str, float] = {}
    done = 0.0
    for nest in work.nests:
        computed, elements = tile_map.tiles * tile_map.elements(nest.op.output), nest.elements
        redundancy[nest.op.output] = max(computed / elements, 1.0) if elements else 1.0
        done += nest.work * elements * redundancy[nest.op.output]
    return Traffic(tile_map.tiles, (*reads, *writes), redundancy, done)


def movement(
    tensor: str,
    direction: Literal["read", "write"],
    tile_map: TileMap,
    kind: TensorType,
    transaction_bytes: int,
    picked: Mapping[int, Picked] = MappingProxyType({}),
) -> TensorTraffic:
    """Return what the tiles move of one tensor, in transactions of this many bytes.

    Along a dimension whose indices are fetched, `picked`, that is no more than are fetched.
    """
    box = tile_map.boxes[tensor]
    needed = (min(span.size, extent) for span, extent in zip(box, kind.shape, strict=True))
    shape = tuple(_fetched(size, picked.get(at), tile_map) for at, size in enumerate(needed))
    whole = tuple(_fetched(size, picked.get(at)) for at, size in enumerate(kind.shape))
    width = BITS[kind.dtype] / 8
    return TensorTraffic(
        tensor=tensor,
        direction=direction,
        box_bytes=math.prod(shape) * width,
        moved_bytes=moved_elements(shape, kind.shape, transaction_bytes / width) * width,
        distinct_bytes=_distinct(box, whole) * width,
        counters=_counters(box, tile_map),
    )


def _fetched(size: int, picked: Picked | None, tile_map: TileMap | None = None) -> int:
    """Return the size of a part, or how many indices of it one tile (or all) fetch if fewer."""
    if picked is None:
        return size
    sizes = {axis: axis.extent for axis in picked.axes}
    if tile_map is not None:
        spans = zip(picked.spatial, tile_map.boxes[picked.output], strict=True)
        sizes |= {axis: span.size for axis, span in spans if axis in picked.axes}
    return min(size, math.prod(sizes.values()))


def contiguous_run(part: tuple[int, ...], whole: tuple[int, ...]) -> int:
    """Return how many elements of a part lie side by side in the row-major whole."""
    run = 1
    for size, extent in zip(reversed(part), reversed(whole), strict=True):
        run *= size
        if size < extent:
            break
    return run


def piece_bytes(work: Workload, tile_map: TileMap, tensor: str) -> float:
    """Return how much of what one tile needs of a tensor lies side by side in memory."""
    kind, box = work.graph.tensors[tensor], tile_map.boxes[tensor]
    order = work.orders.get(tensor, range(len(box)))
    part = tuple(min(box[d].size, kind.shape[d]) for d in order)
    return contiguous_run(part, tuple(kind.shape[d] for d in order)) * BITS[kind.dtype] / 8


def moved_elements(part: tuple[int, ...], whole: tuple[int, ...], transaction: float) -> float:
    """Return the elements that are moved for a part, in transactions of this many elements."""
    if not math.prod(part):
        return 0.0
    run = contiguous_run(part, whole)
    return math.prod(part) * max(transaction / run, 1.0)


def _distinct(box: Box, shape: tuple[int, ...]) -> int:
    """Return how many elements lie in the box of at least one tile, at most."""
    result = 1
    for span, extent in zip(box, shape, strict=True):
        low, high = bounds(span.origin)
        tiles = math.prod(counter.extent for counter in axes_of(span.origin))
        covered = min(high + span.size, extent) - max(low, 0)
        result *= max(min(covered, span.size * tiles), 0)
    return result


def _counters(box: Box, tile_map: TileMap) -> frozenset[int]:
    used = {counter for span in box for counter in axes_of(span.origin)}
    return frozenset(
        position for position, counter in enumerate(tile_map.counters) if counter in used
    )
