"""What people are shown of compare, gate, history and dashboard."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.bench.stats import Interval
from burnish.core import units
from burnish.report.guarded import GateReport, gate_table
from burnish.report.measured import verdict_cell
from burnish.report.over_time import DashboardReport, HistoryReport, Trend
from burnish.report.table import NONE, Cell, Shown, table
from burnish.report.verdict import interval
from burnish.study.compare import ComparedRow, CompareReport

_BARS = "▁▂▃▄▅▆▇█"
_BARS_SHOWN = 16
_HISTORY = (
    "model", "engine", "newest", "measured", "first", "best", "last", "trend", "verdict",
)  # fmt: skip
_COMPARED = ("subject", "engine", "before", "after", "speed-up", "verdict", "smallest visible")


def compare_lines(report: CompareReport) -> Shown:
    """Yield the rows, and what must be known of them."""
    yield table(
        f"{report.before} ({report.before_date}) → {report.after} ({report.after_date})",
        _COMPARED,
        [_compared(row) for row in report.rows],
        numeric=(*_COMPARED[2:5], _COMPARED[6]),
    )
    reasons = dict.fromkeys(row.comparison.reason for row in report.rows)
    yield from (f"note: no verdict: {reason}" for reason in reasons if reason)
    yield from (f"note: {note}" for note in report.notes)


def gate_lines(report: GateReport) -> Shown:
    """Yield the rows and the outcome."""
    yield gate_table(report)
    yield report.headline


def history_lines(report: HistoryReport) -> Shown:
    """Yield one row for each series, and what is left out."""
    yield table(
        f"{report.model} on this machine",
        _HISTORY,
        [_trend(trend) for trend in report.trends],
        numeric=_HISTORY[3:7],
        remark="The newest measurement against the one before, from their samples; they were taken"
        " at different times.",
    )
    if report.elsewhere:
        told = units.count(report.elsewhere, "measurement")
        yield f"note: {told} of other machines are left out; burnish dashboard -o page.html has all"
    yield from (f"note: {note}" for note in report.notes)


def dashboard_lines(report: DashboardReport) -> Shown:
    """Yield where the page is, and what is in it."""
    models, found = units.count(report.models, "model"), units.count(report.series, "row")
    yield f"{report.page}: {models}, {found} of {report.measurements:,} measurements"
    yield from (f"note: {note}" for note in report.notes)


def _trend(trend: Trend) -> tuple[Cell, ...]:
    series, timed = trend.series, trend.series.timed
    facts = (
        series.sizes,
        series.precision,
        *(units.count(n, "thread") for n in [series.threads] if n),
    )
    times = [point.median_s for point in timed if point.median_s is not None]
    newest = series.points[-1]
    return (
        Cell(series.model, " · ".join(fact for fact in facts if fact)),
        Cell(series.engine),
        Cell(newest.measured_at, "" if newest.status == "ok" else newest.status),
        Cell(str(len(series.points))),
        Cell(units.seconds(times[0])) if times else NONE,
        Cell(units.seconds(min(times))) if times else NONE,
        Cell(units.seconds(times[-1])) if times else NONE,
        Cell(sparkline(times)),
        verdict_cell(trend.newest) if trend.newest is not None else NONE,
    )


def sparkline(values: Sequence[float]) -> str:
    """Return a line of bars, the last values only; higher is slower, by 10 % at least in all."""
    shown = values[-_BARS_SHOWN:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    step = max(high - low, 0.1 * high) / (len(_BARS) - 1)
    return "".join(_BARS[round((value - low) / step)] for value in shown)


def _compared(row: ComparedRow) -> tuple[Cell, ...]:
    one = row.comparison
    effect = one.minimum_detectable_effect
    return (
        Cell(one.candidate),
        Cell(row.engine),
        _time(row.before),
        _time(row.after),
        Cell(units.ratio(one.ratio), interval(one)) if one.ratio is not None else NONE,
        verdict_cell(one),
        Cell(units.share(effect)) if effect is not None else NONE,
    )


def _time(found: Interval | None) -> Cell:
    if found is None:
        return NONE
    return Cell(
        units.seconds(found.estimate), f"{units.seconds(found.low)} – {units.seconds(found.high)}"
    )
