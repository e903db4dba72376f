"""Predicted seconds of groups, each kind of group searched once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from burnish.tile.candidates import Candidate, Space, Tile, candidates, orders_on
from burnish.tile.collisions import Layouts
from burnish.tile.connect import NoGroupError
from burnish.tile.footprint import element_bytes
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.signature import signature

Predictor = Callable[[Group], float]
"""Seconds of a group as one kernel, predicted or measured; `NoGroupError`: it cannot be one."""

MOST_RECOMPUTED = 3.0
"""A group may compute this many times its work; beyond, even a wrong cost model must not go."""


@dataclass(slots=True)
class Predictions:
    """The cost model as a predictor, with memory: groups of one signature are searched once."""

    graph: TileGraph
    machine: Machine
    space: Space = Space(top=4, visits=24)  # noqa: RUF009  # frozen
    again: Space = Space(top=4, visits=10)  # noqa: RUF009  # frozen
    """How far to look from the tile of a smaller group with the same anchor."""
    orders: Layouts | None = None
    """How tensors lie in memory; None: as the machine's kernels lay them out."""
    _answers: dict[str, Candidate | str] = field(default_factory=dict)
    _tiles: dict[str, Tile] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.orders is None:
            self.orders = orders_on(self.graph, self.machine)

    def __call__(self, group: Group) -> float:
        """Return the seconds of the best candidate schedule."""
        return self.best(group).cost.seconds

    def best(self, group: Group) -> Candidate:
        """Return the best candidate; of equal groups, tensors are named as in the first one."""
        key = signature(group, self.graph)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._search(group)
        if isinstance(answer, str):
            raise NoGroupError(answer)
        self._tiles[group.anchor.output] = answer.schedule.tile
        return answer

    def _search(self, group: Group) -> Candidate | str:
        # a larger group with the same anchor mostly wants a tile like the smaller one's; but alone
        # the anchor may have wanted its whole output as one tile, from which tiles that leave room
        # for what others hand it, or that do not compute it again, are far away
        known = self._tiles.get(group.anchor.output)
        if known is None:
            return self._near(group, self.space, ())
        found = self._near(group, self.again, (known,))
        if isinstance(found, Candidate) and not self._is_beyond_scratch(group.anchor, known):
            return found
        anew = self._near(group, self.space, ())
        return min(anew, found, key=_seconds)

    def _near(self, group: Group, space: Space, seeds: Sequence[Tile]) -> Candidate | str:
        ranking = candidates(group, self.graph, self.machine, space, seeds, self.orders)
        if not ranking.candidates:
            return ranking.reason
        work = max(sum(op.work for op in group.ops), 1)
        for each in ranking.candidates:
            if each.cost.operations <= MOST_RECOMPUTED * work:
                return each
        times = ranking.candidates[0].cost.operations / work
        return f"its tiles would compute {times:.1f} times the work"

    def _is_beyond_scratch(self, anchor: TileOp, tile: Tile) -> bool:
        return element_bytes(anchor.dtype, math.prod(tile)) > self.machine.scratch_bytes


def _seconds(found: Candidate | str) -> float:
    """Return the seconds of what was found; infinite where it is a reason why there is nothing."""
    return found.cost.seconds if isinstance(found, Candidate) else math.inf
