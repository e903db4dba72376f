"""Measure the groups of a matrix one after the other, on this machine, in the time there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.cells import Finished
from burnish.bench.measure import BenchReport
from burnish.core.progress import Progress
from burnish.process.child import answer_limit_s
from burnish.study.clock import SLACK, Clock, Kind, Overall, TimeShare, minutes
from burnish.study.kept import KnownCells
from burnish.study.measuring import (
    CellPlan,
    another_s,
    fresh,
    measured,
    needed,
    process_s,
    refusal,
)
from burnish.study.requests.judging import BenchCommand


@dataclass(frozen=True, slots=True)
class InTurn:
    """Measures what is missing of groups; what there is no time for has rows that say so.

    When nothing is missing, cells that an earlier budget left with too few processes are measured
    anew: as many as can have enough now.
    """

    asked: BenchCommand
    kept: KnownCells
    clock: Clock
    progress: Progress

    def rows(self, plans: Sequence[CellPlan]) -> list[BenchReport]:
        """Return the rows of every group, in order."""
        found: list[BenchReport] = []
        waiting = [self._needed(plan) for plan in plans]
        self._look_back(plans)
        baselines = {plan.baseline for plan in plans}
        for number, plan in enumerate(plans):
            fits = self.clock.fitting(waiting[number:], baselines)
            now, *later = (
                {name: kind for name, kind in group.items() if name in fits}
                for group in waiting[number:]
            )
            left_out = {
                name: self._too_long(kind)
                for name, kind in waiting[number].items()
                if name not in now
            }
            # what cannot be had takes no time to say
            now |= {
                name: plan.kind(name) for name in needed(plan, self.kept) if refusal(plan, name)
            }
            if now:
                after = [kind for group in later for kind in group.values()]
                left_out |= self._measure(plan, now, after)
            known = self.kept.known(plan.tasks)
            reasons = {name: why for name, why in left_out.items() if name not in known}
            found.append(measured(self.asked, plan, self.kept, reasons))
        return found

    def _needed(self, plan: CellPlan) -> dict[str, Kind]:
        """Return the cells that take time."""
        return {name: plan.kind(name) for name in self._names(plan) if not refusal(plan, name)}

    def _names(self, plan: CellPlan) -> tuple[str, ...]:
        return needed(plan, self.kept, finishing=self.clock.finishing)

    def _look_back(self, plans: Sequence[CellPlan]) -> None:
        """Learn from cells that were measured before what a process of theirs takes."""
        for plan in plans if self.clock.finishing else ():
            for name, cell in self.kept.known(plan.tasks).items():
                self.clock.learn(plan.kind(name), process_s(cell, 0.0), another_s(cell, 0.0))

    def _measure(
        self, plan: CellPlan, now: Mapping[str, Kind], later: Sequence[Kind]
    ) -> dict[str, str]:
        """Measure cells of one group, keep them at once, and learn what such cells take.

        Returns why some were not measured: those that the time did not reach.
        """
        clock, began_s = self.clock, self.clock.spent_s
        missing = len(set(now) & self._missing(plan))
        budget_s = clock.share_s([*now.values()], later)
        share = TimeShare(budget_s, clock.whole_s)
        overall = Overall(self.progress, clock, missing)
        cells = fresh(self.asked, plan, [*now], share, overall, self.kept)
        self.kept.add(cells)
        unreached = {
            one.measurement.subject: one.reason for one in cells if one.status == "no time"
        }
        clock.done += missing - len(set(unreached) & self._missing(plan))
        reached = [one for one in cells if one.measurement.subject not in unreached]
        self._learn(reached, now, clock.spent_s - began_s, budget_s)
        return unreached

    def _missing(self, plan: CellPlan) -> set[str]:
        """Return the cells that count as new when they are measured: the baseline may not."""
        kept = self.kept
        known = kept.finished(plan.tasks) if self.clock.finishing else kept.known(plan.tasks)
        return set(plan.tasks) - set(known)

    def _learn(
        self, cells: Sequence[Finished], kinds: Mapping[str, Kind], took_s: float, budget_s: float
    ) -> None:
        """Note what a process of each kind took, with its part of what none was timed for."""
        hung_s = min(took_s, answer_limit_s(budget_s if self.asked.budget else None))
        tried = [one for one in cells if one.status != "unsupported" or one.measurement.launches]
        each_s = {one.measurement.subject: process_s(one, hung_s) for one in tried}
        counted_s = sum(
            each_s[one.measurement.subject] * max(1, one.figures.processes) for one in tried
        )
        for name, seconds_s in each_s.items():
            self.clock.learn(kinds[name], seconds_s * max(1.0, took_s / counted_s))

    def _too_long(self, kind: Kind) -> str:
        """Return why a cell of this kind is left out."""
        clock = self.clock
        left_s = max(0.0, SLACK * (clock.budget_s or 0.0) - clock.spent_s)
        return (
            f"a process of {kind[0]} takes about {minutes(clock.least_s(kind))} here, and "
            f"{minutes(left_s)} were left for all others; the same command goes on with it"
        )
