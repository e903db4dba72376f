"""Records and tables of what guards speed: two stored benchmarks compared, and the gate."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.bench.gate import GateOutcome
from burnish.bench.measure import Comparison, ParityMark
from burnish.core import units
from burnish.report.table import Cell, Table, Tone, table
from burnish.report.verdict import interval

SCHEMA = 1
_TONES = {
    GateOutcome.PASSED: Tone.GOOD,
    GateOutcome.WRONG: Tone.BAD,
    GateOutcome.SLOWER: Tone.BAD,
    GateOutcome.BROKEN: Tone.BAD,
    GateOutcome.UNSEEN: Tone.UNSURE,
}
_COLUMNS = (
    "subject",
    "engine",
    "outcome",
    "results",
    "speed",
    "smallest visible",
    "rounds",
    "compared",
)


@dataclass(frozen=True, slots=True)
class GateRow:
    """One subject of a baseline, measured again."""

    subject: str
    engine: str
    outcome: GateOutcome
    comparison: Comparison
    side_by_side: bool
    """Whether both took turns; if not, stored samples are compared with new ones."""
    tries: int
    parity: ParityMark | None = None
    """Whether it computes what the baseline did; None: that was not asked, or is not known."""
    unjudged: str = ""
    """Why that is not known; empty: it is, or nobody asked."""

    @property
    def said(self) -> str:
        """Return the outcome in a sentence's worth of words."""
        one = self.comparison
        if self.outcome is GateOutcome.WRONG and self.parity is not None:
            return self.parity.note
        if self.unjudged and self.outcome is GateOutcome.UNSEEN:
            return self.unjudged
        if self.outcome is GateOutcome.BROKEN or one.ratio is None or one.low is None:
            return one.reason or "nothing was measured"
        found = f"{units.ratio(one.ratio)} the speed ({interval(one)})"
        if self.outcome is GateOutcome.UNSEEN:
            hidden = units.share(one.minimum_detectable_effect or 0.0)
            return one.reason or f"{found}; differences below {hidden} are hidden by the noise"
        return f"{found}, measured {units.count(self.tries, 'time')}"


@dataclass(frozen=True, slots=True)
class GateReport:
    """Whether a model is as fast as a baseline, within a limit."""

    model: str
    baseline: str
    machine: str
    """The fingerprint of the machine, which is the baseline's as well."""
    max_slowdown: float
    measured_at: str
    rows: tuple[GateRow, ...]

    @property
    def headline(self) -> str:
        """Return the whole in one line."""
        limit = units.share(self.max_slowdown)
        slow = sum(row.outcome is GateOutcome.SLOWER for row in self.rows)
        unseen = sum(row.outcome is GateOutcome.UNSEEN for row in self.rows)
        broken = next((row for row in self.rows if row.outcome is GateOutcome.BROKEN), None)
        wrong = next((row for row in self.rows if row.outcome is GateOutcome.WRONG), None)
        if wrong is not None:
            return f"{self.model}: does not compute what the baseline did, on {wrong.engine}"
        if broken is not None:
            return f"{self.model}: could not be measured on {broken.engine}"
        if slow:
            rows = units.count(len(self.rows), "row")
            return f"{self.model}: slower, and {limit} is not excluded, in {slow} of {rows}"
        if any(row.unjudged for row in self.rows):
            return f"{self.model}: results could not be compared with the baseline's"
        if unseen:
            return f"{self.model}: {limit} slower could not have been seen"
        return f"{self.model}: not slower than the baseline by {limit}"


def gate_table(report: GateReport) -> Table:
    """Return one row per subject."""
    return table(
        "",
        _COLUMNS,
        [_gate_cells(row) for row in report.rows],
        numeric=_COLUMNS[4:7],
        remark=f"Against {report.baseline}. A row fails if it computes something else, or is slower"
        f" and a slowdown of {units.share(report.max_slowdown)} cannot be excluded; it passes if"
        " that is excluded and results are the same. Speeds above 1 are faster.",
    )


def _gate_cells(row: GateRow) -> tuple[Cell, ...]:
    one = row.comparison
    effect = one.minimum_detectable_effect
    return (
        Cell(row.subject),
        Cell(row.engine),
        Cell(row.outcome.value, one.reason, _TONES[row.outcome]),
        _results(row),
        Cell(units.ratio(one.ratio), interval(one)) if one.ratio is not None else Cell("–"),
        Cell("–" if effect is None else units.share(effect)),
        Cell(str(len(one.round_ratios))),
        Cell("side by side" if row.side_by_side else "with stored samples"),
    )


def _results(row: GateRow) -> Cell:
    if row.parity is None:
        return Cell("not compared", row.unjudged, Tone.UNSURE)
    tone = Tone.GOOD if row.parity.passed else Tone.BAD
    return Cell(row.parity.word, row.parity.note, tone)
