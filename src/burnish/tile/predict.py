"""Predicted seconds of groups, each kind of group searched once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from burnish.tile.candidates import Space, Tile, candidates
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.signature import signature

Predictor = Callable[[Group], float]
"""Seconds of a group as one kernel, predicted or measured; `NoGroupError`: it cannot be one."""

MOST_RECOMPUTED = 3.0
"""A group may compute this many times its work; beyond, even a wrong cost model must not go."""


@dataclass(frozen=True, slots=True)
class _Answer:
    seconds: float
    reason: str
    tile: Tile | None


@dataclass(slots=True)
class Predictions:
    """The cost model as a predictor, with memory: groups of one signature are searched once."""

    graph: TileGraph
    machine: Machine
    space: Space = Space(top=4, visits=24)  # noqa: RUF009  # frozen
    again: Space = Space(top=4, visits=10)  # noqa: RUF009  # frozen
    """How far to look from the tile of a smaller group with the same anchor."""
    _answers: dict[str, _Answer] = field(default_factory=dict)
    _tiles: dict[str, Tile] = field(default_factory=dict)

    def __call__(self, group: Group) -> float:
        """Return the seconds of the best candidate schedule."""
        key = signature(group, self.graph)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._search(group)
        if answer.tile is None:
            raise NoGroupError(answer.reason)
        self._tiles[group.anchor.output] = answer.tile
        return answer.seconds

    def _search(self, group: Group) -> _Answer:
        # a larger group with the same anchor mostly wants a tile like the smaller one's
        known = self._tiles.get(group.anchor.output)
        if known is None:
            ranking = candidates(group, self.graph, self.machine, self.space)
        else:
            ranking = candidates(group, self.graph, self.machine, self.again, [known])
        if not ranking.candidates:
            return _Answer(0.0, ranking.reason, None)
        work = sum(op.work for op in group.ops)
        for each in ranking.candidates:
            if each.cost.traffic.operations <= MOST_RECOMPUTED * max(work, 1):
                return _Answer(each.cost.seconds, "", each.schedule.tile)
        times = ranking.candidates[0].cost.traffic.operations / work
        return _Answer(0.0, f"its tiles would compute {times:.1f} times the work", None)
