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
from burnish.tile.index import Axis, Index
from burnish.tile.region import Box, TileMap
from burnish.tile.schedule import Schedule


@dataclass(frozen=True, slots=True)
class CarriedPart:
    """How a tensor's part moves from tile to tile."""

    axis: Axis
    """The axis of its nest along which rows are left out."""
    dimension: int
    step: int
    overlap: int
    """Rows that two tiles share; 0: the part is the same for all tiles."""


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
    moving = [place for place, span in enumerate(box) if _factor(span.origin, counter) != 0]
    if not moving:
        longer = [place for place, axis in enumerate(op.spatial) if axis.extent > 1]
        return CarriedPart(op.spatial[longer[0]], longer[0], 0, 0) if longer else None
    if len(moving) > 1:
        return None
    (place,) = moving
    step = _factor(box[place].origin, counter)
    if step is None or not 0 < step < box[place].size:
        return None
    return CarriedPart(op.spatial[place], place, step, box[place].size - step)


def _factor(origin: Index, counter: Axis) -> int | None:
    """Return how far an origin moves from tile to tile; None: by no fixed number."""
    total = 0
    for atom, factor in origin.terms:
        if atom == counter:
            total += factor
        elif not isinstance(atom, Axis):
            return None
    return total
