"""How groups of nests are chosen and run: the scheduler's protocol, and the one that predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from burnish.codegen.backend import Backend
from burnish.core import units
from burnish.tile.candidates import Space
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.measures import traffic_bytes
from burnish.tile.partition import Fusion
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature


@dataclass(frozen=True, slots=True)
class Choice:
    """How one group is run."""

    group: Group
    schedule: Schedule | None
    """None: ONNX Runtime runs the nodes of this group."""
    predicted_s: float | None = None
    predicted_bytes: float | None = None
    measured_s: float | None = None
    reason: str = ""
    """Why it is an ONNX Runtime part."""

    def __str__(self) -> str:
        costs = {"predicted": self.predicted_s, "measured": self.measured_s}
        said = [f"{name} {units.seconds(s)}" for name, s in costs.items() if s is not None]
        how = f"onnxruntime: {self.reason}" if self.schedule is None else str(self.schedule)
        return f"{self.group}\n  {', '.join([how, *said])}"


class Scheduler(Protocol):
    """Chooses for the tile-graphs of one model."""

    def partition(self, graph: TileGraph) -> tuple[Group, ...]:
        """Return the groups of a simplified graph, in an order in which they can run."""

    def schedule(self, groups: Sequence[Group], graph: TileGraph) -> tuple[Choice, ...]:
        """Return how they are run; a scheduler that measures may cut groups in two."""


_Nests = tuple[object, ...]
"""A graph without the numbers of its constants, which take memory and decide nothing here."""


@dataclass(slots=True)
class Predicted:
    """Chooses groups and tiles as the cost model predicts; equal groups are looked at once.

    So are equal graphs: where one model is planned in several ways, what it begins with is shared.
    """

    backend: Backend
    fusion: Fusion = "full"
    space: Space = Space(top=1)  # noqa: RUF009  # frozen
    rows: Mapping[str, int] = field(default_factory=dict)
    """How many outermost rows a tensor has for each one of a size that stays open."""
    _known: dict[tuple[str, int], Choice] = field(default_factory=dict)
    _partitions: list[tuple[_Nests, tuple[Group, ...]]] = field(default_factory=list)

    def partition(self, graph: TileGraph) -> tuple[Group, ...]:
        """Return the groups that should be fastest."""
        nests = _nests(graph)
        for other, groups in self._partitions:
            if nests == other:
                return groups
        found = self.backend.partition(graph, self.fusion).groups
        self._partitions.append((nests, found))
        return found

    def schedule(self, groups: Sequence[Group], graph: TileGraph) -> tuple[Choice, ...]:
        """Return the tiles that should be fastest for each group."""
        return tuple(self.choice(group, graph) for group in groups)

    def choice(self, group: Group, graph: TileGraph) -> Choice:
        """Return the tiles that should be fastest for a group."""
        key = signature(group, graph), self.rows.get(group.anchor.output, 0)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(group, graph)
        return replace(known, group=group)

    def _search(self, group: Group, graph: TileGraph) -> Choice:
        if (reason := self.backend.refusal(group, graph)) is not None:
            return Choice(group, None, reason=reason)
        space = replace(self.space, outermost=self.rows.get(group.anchor.output, 0))
        ranking = self.backend.candidates(group, graph, space)
        if not ranking.candidates:
            # nothing to compute, or nothing fits: the smallest tiles are always right
            return Choice(group, Schedule(tuple(1 for _ in group.anchor.shape)))
        best = ranking.candidates[0]
        moved = traffic_bytes(best.cost, self.backend.machine)
        return Choice(group, best.schedule, best.cost.seconds, moved)


def _nests(graph: TileGraph) -> _Nests:
    constants = frozenset(graph.constants)
    nodes = tuple(op.nodes for op in graph.ops)
    return graph.inputs, graph.outputs, dict(graph.tensors), constants, nodes, graph.ops
