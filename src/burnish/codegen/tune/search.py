"""The fastest schedule of one group: candidates tried, what is known reused."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from burnish.codegen.backend import Backend
from burnish.codegen.tune.cache import Key, TuningCache, conditions
from burnish.codegen.tune.measure import OrtCandidate, TrialTask
from burnish.codegen.tune.trial import Trial, Tuned, identity
from burnish.tile.candidates import Ranking, Space
from burnish.tile.schedule import Schedule

VISITS = 80
"""Tiles whose cost is predicted; measuring then corrects the order of the best."""


class Measurer(Protocol):
    """Tries schedules, and ONNX Runtime."""

    def try_all(
        self, task: TrialTask, schedules: Sequence[Schedule], ort: OrtCandidate | None = None
    ) -> tuple[Trial, ...]:
        """Return one trial per schedule, in order, and one of ONNX Runtime if it takes part."""


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """What is known of a group: its own kernels, and ONNX Runtime if that takes part."""

    tuned: Tuned
    ort: Trial | None = None


@dataclass(slots=True)
class Tuner:
    """Tunes groups for one device; results are kept under its conditions."""

    measurer: Measurer
    cache: TuningCache
    backend: Backend
    most: int = 20
    """The most schedules that anybody will ask for."""
    _rankings: dict[str, Ranking] = field(default_factory=dict)

    def known(self, task: TrialTask, part: OrtCandidate | None = None) -> KnownGroup:
        """Return what was found before, in this process or another."""
        tuned = self.cache.get(self._key(task)) or Tuned()
        ort = self.cache.get(self._ort_key(task, part)) if part else None
        return KnownGroup(tuned, ort.trials[0] if ort and ort.trials else None)

    def tune(self, task: TrialTask, top: int, part: OrtCandidate | None = None) -> KnownGroup:
        """Return what is found when the `top` most promising schedules are tried.

        Only those are run that have not been before, and the fastest of those that have, so that
        all are compared under the same circumstances.
        """
        known = self.known(task, part)
        missing = part if known.ort is None else None
        if known.tuned.searched >= top and missing is None:
            return known
        ranking = self._ranking(task, top)
        fresh = _fresh(_wanted(ranking, task), known.tuned.trials, top)
        best = known.tuned.schedule
        schedules = [*fresh, best] if best is not None else fresh
        trials: tuple[Trial, ...] = ()
        if fresh or missing is not None:
            trials = self.measurer.try_all(task, schedules, missing)
        merged = _merged(known.tuned.trials, trials[: len(schedules)], ranking)
        searched = max(known.tuned.searched, top)
        tuned = Tuned(merged, searched, ranking.reason)
        ort = trials[len(schedules) :]
        if ort and part is not None:
            self.cache.put(self._ort_key(task, part), Tuned(ort, 1))
            known = replace(known, ort=ort[0])
        return self._kept(task, tuned, known)

    def _ranking(self, task: TrialTask, top: int) -> Ranking:
        key = task.signature
        if key not in self._rankings:
            space = Space(top=max(self.most, top), visits=VISITS)
            self._rankings[key] = self.backend.candidates(task.group, task.graph, space)
        return self._rankings[key]

    def _kept(self, task: TrialTask, tuned: Tuned, known: KnownGroup) -> KnownGroup:
        if tuned != known.tuned:
            self.cache.put(self._key(task), tuned)
        return KnownGroup(tuned, known.ort)

    def _key(self, task: TrialTask) -> Key:
        return Key(task.signature, conditions(self.backend), task.places)

    def _ort_key(self, task: TrialTask, part: OrtCandidate) -> Key:
        own = self._key(task)
        return replace(own, signature=f"{own.signature} ort {part.kind}")


def _wanted(ranking: Ranking, task: TrialTask) -> list[tuple[Schedule, float]]:
    """Return what may be tried, the most promising first, with the seconds that are predicted."""
    if ranking.candidates or not task.graph.tensors[task.group.anchor.output].size:
        return [(each.schedule, each.cost.seconds) for each in ranking.candidates]
    # nothing fits where it should: the smallest tiles are right all the same
    return [(Schedule(tuple(1 for _ in task.group.anchor.shape)), 0.0)]


def _fresh(
    wanted: Sequence[tuple[Schedule, float]], trials: Sequence[Trial], top: int
) -> list[Schedule]:
    """Return what to try next: as many as are missing, by what was measured of others like them."""
    tried = {identity(trial.schedule) for trial in trials}
    rest = [each for each in wanted if identity(each[0]) not in tried]
    rest.sort(key=lambda each: each[1] * _surprise(each[0], trials))
    return [schedule for schedule, _ in rest[: max(top - len(tried), 0)]]


def _surprise(schedule: Schedule, trials: Sequence[Trial]) -> float:
    """Return how many times longer than predicted the nearest tiles that were tried have taken.

    What a cost model does not know of a kernel (a cache that thrashes, vectors that run short)
    it mostly does not know of the tiles next to it, either.
    """
    known = [
        (_apart(trial.schedule, schedule), trial.seconds / trial.predicted_s)
        for trial in trials
        if trial.schedule is not None and trial.seconds is not None and trial.predicted_s
    ]
    nearest = min((apart for apart, _ in known), default=0.0)
    ratios = [ratio for apart, ratio in known if apart == nearest]
    return statistics.median(ratios) if ratios else 1.0


def _apart(first: Schedule, second: Schedule) -> float:
    """Return by how many doublings two tiles differ, and one more where only one carries on."""
    steps = (abs(math.log2(a / b)) for a, b in zip(first.tile, second.tile, strict=True))
    return sum(steps) + (first.carried != second.carried)


def _merged(old: Sequence[Trial], new: Sequence[Trial], ranking: Ranking) -> tuple[Trial, ...]:
    """Return all trials, a schedule that was tried again as it was the last time."""
    predicted = {identity(each.schedule): each.cost.seconds for each in ranking.candidates}
    found = {identity(trial.schedule): trial for trial in old}
    for trial in new:
        key = identity(trial.schedule)
        before = found[key].predicted_s if key in found else None
        found[key] = replace(trial, predicted_s=predicted.get(key, before))
    return tuple(found.values())
