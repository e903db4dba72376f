"""Choices without measuring: groups and tiles as the cost model predicts them."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.codegen.backend import Backend
from burnish.codegen.choice import Choice
from burnish.tile.candidates import Space
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.measures import traffic_bytes
from burnish.tile.partition import Fusion
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature


@dataclass(slots=True)
class Predicted:
    """Chooses groups and tiles for a device; equal groups are looked at once."""

    backend: Backend
    fusion: Fusion = "full"
    space: Space = Space(top=1)  # noqa: RUF009  # frozen
    _known: dict[str, Choice] = field(default_factory=dict)

    def __call__(self, graph: TileGraph) -> tuple[Choice, ...]:
        """Return the groups of a simplified graph with the tiles that should be fastest."""
        return tuple(
            self.choice(group, graph) for group in self.backend.partition(graph, self.fusion).groups
        )

    def choice(self, group: Group, graph: TileGraph) -> Choice:
        """Return the tiles that should be fastest for a group."""
        key = signature(group, graph)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(group, graph)
        return Choice(group, known.schedule, known.predicted_s, known.predicted_bytes)

    def _search(self, group: Group, graph: TileGraph) -> Choice:
        ranking = self.backend.candidates(group, graph, self.space)
        if not ranking.candidates:
            # nothing to compute, or nothing fits: the smallest tiles are always right
            return Choice(group, Schedule(tuple(1 for _ in group.anchor.shape)))
        best = ranking.candidates[0]
        moved = traffic_bytes(best.cost, self.backend.machine)
        return Choice(group, best.schedule, best.cost.seconds, moved)
