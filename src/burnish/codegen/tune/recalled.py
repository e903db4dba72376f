"""Choices where nothing is timed: what was fastest elsewhere, if the cache has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.codegen.backend import Backend
from burnish.codegen.schedule import Choice, Predicted
from burnish.codegen.tune.cache import Key, TuningCache, conditions
from burnish.codegen.tune.measure import TrialTask
from burnish.codegen.tune.trial import Tuned
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.measures import traffic_bytes


def keep(groups: Mapping[str, Tuned], cache: TuningCache, backend: Backend) -> None:
    """Put what was timed elsewhere, by `TrialTask.key`, where a back end finds it."""
    here = conditions(backend)
    for key, tuned in groups.items():
        cache.put(Key(key, here), tuned)


@dataclass(slots=True)
class Recalled:
    """Chooses groups as predicted, and of each what was fastest where it was timed."""

    predicted: Predicted
    cache: TuningCache
    taken: int = 0
    """How many groups somebody had timed."""

    def partition(self, graph: TileGraph) -> tuple[Group, ...]:
        """Return the groups that should be fastest."""
        return self.predicted.partition(graph)

    def schedule(self, groups: Sequence[Group], graph: TileGraph) -> tuple[Choice, ...]:
        """Return what was fastest of each group; one that nobody timed is as predicted."""
        layouts = self.predicted.backend.layouts(graph)
        return tuple(self._choice(TrialTask(group, graph, layouts)) for group in groups)

    def _choice(self, task: TrialTask) -> Choice:
        choice = self.predicted.choice(task.group, task.graph)
        backend = self.predicted.backend
        tuned = self.cache.get(Key(task.key, conditions(backend))) or Tuned()
        if choice.schedule is None or tuned.schedule is None:
            return choice
        try:
            cost = backend.price(task.group, task.graph, tuned.schedule)
        except NoGroupError:
            return choice  # no kernel can be written that way
        self.taken += 1
        moved = traffic_bytes(cost, backend.machine)
        return Choice(task.group, tuned.schedule, cost.seconds, moved, tuned.seconds)
