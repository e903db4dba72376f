"""What neighbouring tiles share, kept from one to the next instead of computed anew.

A thread walks a run of tiles along one axis. Of a tensor in scratch whose part moves along with
the tiles, the rows that the next tile needs too are moved to the front of the buffer, and only the
rows behind them are computed; what does not move is computed for the first tile of a run only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.codegen.cpu.alias import Insertion
from burnish.tile.graph import TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis
from burnish.tile.region import Box, TileMap, shift
from burnish.tile.schedule import Schedule


@dataclass(frozen=True, slots=True)
class CarriedPart:
    """How a tensor's part moves from tile to tile."""

    axis: Axis | None
    """The axis of its nest along which rows are left out; None: the part is the same for all."""
    dimension: int = 0
    step: int = 0
    overlap: int = 0
    """Rows that two tiles share."""

    @property
    def stays(self) -> bool:
        """Say whether the first tile of a run computes it for all of them."""
        return self.axis is None


@dataclass(frozen=True, slots=True)
class Walk:
    """The order in which tiles are computed: one by one, or in runs along one axis."""

    tiles: TileMap
    schedule: Schedule

    @property
    def axis(self) -> Axis | None:
        """Return the counter along which runs go; None: every tile is a run."""
        place = self.schedule.carried
        return None if place is None else self.tiles.counters[place]

    @property
    def length(self) -> int:
        """Return the most tiles of a run."""
        return self.schedule.run

    @property
    def runs(self) -> int:
        """Return how many runs there are."""
        return math.prod(self.runs_along(counter) for counter in self.tiles.counters)

    def runs_along(self, counter: Axis) -> int:
        """Return how many runs there are along one axis; at least one, or none of no tiles."""
        return -(-counter.extent // self.length) if counter == self.axis else counter.extent


def carried(
    group: Group, tiles: TileMap, schedule: Schedule, inserted: Mapping[str, Insertion]
) -> dict[str, CarriedPart]:
    """Return the tensors in scratch of which something is kept from tile to tile."""
    if schedule.carried is None:
        return {}
    counter = tiles.counters[schedule.carried]
    scratch = set(group.scratch)
    found = {
        op.output: kept
        for op in group.ops
        if op.output in scratch and (kept := _kept(op, tiles.boxes[op.output], counter)) is not None
    }
    # what lies inside another tensor moves with it, or is computed anew
    for name in [each for each in found if each in inserted]:
        around = inserted[name].container.output
        while around in inserted:
            around = inserted[around].container.output
        own, outer = found[name], found.get(around)
        if outer is None or (own.step, own.overlap) != (outer.step, outer.overlap):
            del found[name]
    return found


def _kept(op: TileOp, box: Box, counter: Axis) -> CarriedPart | None:
    moved = shift(box, counter)
    if moved is None:
        return None
    if not moved.step:
        return CarriedPart(None)
    overlap = moved.overlap(box)
    if not overlap:
        return None
    return CarriedPart(op.spatial[moved.dimension], moved.dimension, moved.step, overlap)
