"""Why one is slower than the other: two breakdowns side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass

from burnish.analyze.breakdown import Breakdown, Row


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """What one operator, or one of the rows that are always there, costs in both."""

    label: str
    baseline_count: float
    baseline_s: float
    candidate_count: float
    candidate_s: float

    @property
    def change_s(self) -> float:
        """Return how much slower the candidate is here; negative: faster."""
        return self.candidate_s - self.baseline_s


@dataclass(frozen=True, slots=True)
class Difference:
    """Two breakdowns row by row, the worst regression first and the largest gain last."""

    baseline: str
    candidate: str
    baseline_wall_s: float
    candidate_wall_s: float
    rows: tuple[DifferenceRow, ...]

    @property
    def change_s(self) -> float:
        """Return how much longer the candidate's inference takes; negative: shorter."""
        return self.candidate_wall_s - self.baseline_wall_s

    def share(self, row: DifferenceRow) -> float:
        """Return a row's part of the whole change; not a number when nothing changed."""
        return row.change_s / self.change_s if self.change_s else math.nan


def difference(baseline: Breakdown, candidate: Breakdown, *, names: tuple[str, str]) -> Difference:
    """Return what changed from `baseline` to `candidate`, by the labels of their rows."""
    before = {row.label: row for row in baseline.rows}
    after = {row.label: row for row in candidate.rows}
    rows = [_row(label, before.get(label), after.get(label)) for label in {**before, **after}]
    return Difference(
        baseline=names[0],
        candidate=names[1],
        baseline_wall_s=baseline.wall_s,
        candidate_wall_s=candidate.wall_s,
        rows=tuple(sorted(rows, key=lambda row: (-row.change_s, row.label))),
    )


def _row(label: str, before: Row | None, after: Row | None) -> DifferenceRow:
    return DifferenceRow(
        label=label,
        baseline_count=before.count if before else 0,
        baseline_s=before.seconds_s if before else 0.0,
        candidate_count=after.count if after else 0,
        candidate_s=after.seconds_s if after else 0.0,
    )
