"""Why one is slower than the other: two breakdowns side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from burnish.analyze.breakdown import Breakdown, BreakdownRow

ROUNDING_S = 1e-12
"""Less than any clock tells: sums of the same times in another order differ by as much."""


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """What one operator, or one of the rows that are always there, costs in both."""

    label: str
    baseline_count: float
    baseline_s: float
    candidate_count: float
    candidate_s: float
    baseline_interval_s: tuple[float, float]
    """Between these the baseline's time lies."""
    candidate_interval_s: tuple[float, float]

    @property
    def change_s(self) -> float:
        """Return how much slower the candidate is here; negative: faster."""
        return self.candidate_s - self.baseline_s

    @property
    def is_clear(self) -> bool:
        """Return whether it is told apart from no change: the two intervals do not meet."""
        (low, high), (other_low, other_high) = self.baseline_interval_s, self.candidate_interval_s
        return self.change_s != 0 and (high < other_low or other_high < low)

    @property
    def fate(self) -> str:
        """Return `appears`, `vanishes`, or nothing for what is in both."""
        if not self.baseline_count and self.candidate_count:
            return "appears"
        return "vanishes" if self.baseline_count and not self.candidate_count else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two breakdowns row by row, the worst regression first and the largest gain last."""

    baseline: str
    candidate: str
    baseline_wall_s: float
    candidate_wall_s: float
    rows: tuple[DifferenceRow, ...]
    fewest_runs: int
    """How many inferences the side with fewer has; one tells nothing of how times spread."""

    def tells(self, row: DifferenceRow) -> bool:
        """Return whether a row's change is told apart from none.

        What is in one of them only changed, however few the inferences.
        """
        return bool(row.fate) or (self.fewest_runs > 1 and row.is_clear)

    @property
    def change_s(self) -> float:
        """Return how much longer the candidate's inference takes; negative: shorter."""
        change_s = self.candidate_wall_s - self.baseline_wall_s
        return change_s if abs(change_s) > ROUNDING_S else 0.0

    def share(self, row: DifferenceRow) -> float:
        """Return a row's part of the whole change; not a number when nothing changed."""
        return row.change_s / self.change_s if self.change_s else math.nan


def difference(baseline: Breakdown, candidate: Breakdown, *, names: tuple[str, str]) -> Difference:
    """Return what changed from `baseline` to `candidate`, by the labels of their rows."""
    before = {row.label: row for row in baseline.rows}
    after = {row.label: row for row in candidate.rows}
    rows = [_row(label, before.get(label), after.get(label)) for label in {**before, **after}]
    return of_rows(rows, (baseline, candidate), names)


def of_rows(
    rows: Iterable[DifferenceRow], sides: tuple[Breakdown, Breakdown], names: tuple[str, str]
) -> Difference:
    """Return a difference of these rows, what became slower first."""
    before, after = sides
    return Difference(
        baseline=names[0],
        candidate=names[1],
        baseline_wall_s=before.wall_s,
        candidate_wall_s=after.wall_s,
        rows=tuple(sorted(rows, key=lambda row: (-row.change_s, row.label))),
        fewest_runs=min(before.runs, after.runs),
    )


def _row(label: str, before: BreakdownRow | None, after: BreakdownRow | None) -> DifferenceRow:
    return row_of(label, [before] if before else [], [after] if after else [])


def row_of(
    label: str, before: Sequence[BreakdownRow], after: Sequence[BreakdownRow]
) -> DifferenceRow:
    """Return what some rows cost in both, each side's together."""
    return DifferenceRow(
        label=label,
        baseline_count=sum(row.count for row in before),
        baseline_s=sum(row.seconds_s for row in before),
        candidate_count=sum(row.count for row in after),
        candidate_s=sum(row.seconds_s for row in after),
        baseline_interval_s=_interval(before),
        candidate_interval_s=_interval(after),
    )


def _interval(rows: Sequence[BreakdownRow]) -> tuple[float, float]:
    return sum(row.low_s for row in rows), sum(row.high_s for row in rows)
