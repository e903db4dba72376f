"""Profiles as tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.analyze import kernel_names
from burnish.analyze.breakdown import ALWAYS_THERE, Breakdown, Row, without_gaps
from burnish.analyze.difference import Difference, DifferenceRow
from burnish.analyze.profile import Profile, ProfileReport
from burnish.cli.diagnosis_tables import first_lines, of_ranks, what_next
from burnish.cli.output import Table
from burnish.core import units
from burnish.trace.attribute import Coverage
from burnish.trace.events import Confidence

_NUMBERS = frozenset(("count", "time", "±", "share", "up to here", "ceiling"))
_HOW: Mapping[Confidence, str] = {
    "exact": "by name",
    "correlation": "by what launched it",
    "tensor": "through the engine's graph",
    "pattern": "by what such work usually is",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """Which rows are shown, and of what."""

    by: str
    top: int = 20
    threshold: float = 0.0
    """The least share of the time that a row has."""
    kernel_time_only: bool = False


def tables(report: ProfileReport, shown: Shown) -> Iterator[Table | str]:
    """Yield one table per profile, what to know when reading it, and the difference."""
    if report.ranks is not None:
        yield from of_ranks(report.ranks)
    for profile in report.profiles:
        yield from _profile(profile, shown)
    differences = {
        "node": report.aligned,
        "kernel": report.by_kernel,
        "layer": report.by_layer,
    }
    by = shown.by if differences.get(shown.by) is not None else "operator"
    difference = differences.get(by) or report.difference
    if difference is not None:
        yield _difference(difference, by=by, top=shown.top)


def count(value: float) -> str:
    """Return calls per inference; a tenth where inferences differ."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _profile(profile: Profile, shown: Shown) -> Iterator[Table | str]:
    breakdowns = {
        "operator": profile.by_operator,
        "node": profile.by_origin,
        "layer": profile.by_layer,
        "kernel": profile.by_kernel,
        "ran": profile.by_node,
    }
    breakdown = breakdowns[shown.by]
    if shown.kernel_time_only:
        breakdown = without_gaps(breakdown)
    if profile.diagnosis is not None:
        yield from first_lines(profile.diagnosis)
    yield _table(profile, breakdown, shown)
    if profile.diagnosis is not None:
        yield from what_next(profile.diagnosis, kernels=shown.by != "kernel")
    yield from _remarks(profile)


def _table(profile: Profile, breakdown: Breakdown, shown: Shown) -> Table:
    by = "node" if shown.by == "ran" else shown.by
    second = ("operator",) if by == "node" else ()
    always = [row for row in breakdown.rows if row.kind in ALWAYS_THERE]
    rows = [
        row
        for row in breakdown.top(shown.top)
        if row in always or breakdown.share(row) >= shown.threshold
    ]
    whole = "of work" if shown.kernel_time_only else "a run"
    return Table(
        title=f"{profile.label} on {profile.engine}, {units.seconds(breakdown.wall_s)} {whole}",
        columns=(by, *second, "count", "time", "±", "share", "up to here", "ceiling"),
        rows=[_row(breakdown, row, by=by) for row in rows],
        right=_NUMBERS,
    )


def _row(breakdown: Breakdown, row: Row, *, by: str) -> tuple[str, ...]:
    ceiling = breakdown.ceiling(row)
    return (
        kernel_names.short(row.label) if by == "kernel" else _short(row.label),
        *((row.op_type or "",) if by == "node" else ()),
        count(row.count) if row.count else "",
        units.seconds(row.seconds_s),
        _spread(row.spread) if breakdown.runs > 1 else "?",
        units.share(breakdown.share(row)),
        units.share(breakdown.cumulative(row)) if row.count else "",
        units.ratio(ceiling) if math.isfinite(ceiling) else "∞",
    )


def _spread(share: float) -> str:
    """Return how far a time may be off; beyond all of it, a figure would say nothing."""
    return units.share(share) if share <= 1 else "> 100 %"


def _short(label: str) -> str:
    """Return the label of a set of nodes with its first members only."""
    around, brace, inside = label.partition("{")
    members = inside.removesuffix("}").split(", ") if brace else label.split(" + ")
    if len(members) <= 3:
        return label
    first, more = ", ".join(members[:2]), len(members) - 2
    return f"{around}{{{first} and {more} more}}" if brace else f"{first} and {more} more"


def _remarks(profile: Profile) -> Iterator[str]:
    breakdown = profile.by_operator
    recorded = f"Medians of {units.count(breakdown.runs, 'run')}, node by node."
    if profile.plain_s is not None:
        yield (
            f"{recorded} A whole profiled run took {units.seconds(breakdown.measured_wall_s)}, one"
            f" without profiling {units.seconds(profile.plain_s)}: use burnish bench for latencies."
        )
    else:
        yield f"{recorded} A whole run took {units.seconds(breakdown.measured_wall_s)}."
    if profile.coverage is not None:
        yield _coverage(profile.coverage)
    if breakdown.measured_wall_s > 2 * breakdown.wall_s:
        yield "Note: runs were interrupted for most of their time; the machine is busy."
    yield from (f"Note: {note}." for note in profile.notes)


def _coverage(coverage: Coverage) -> str:
    found = coverage.seconds_s.items()
    parts = [
        f"{units.share(seconds_s / coverage.total_s)} {_HOW[confidence]}"
        for confidence, seconds_s in found
        if confidence != "none" and seconds_s
    ]
    how = f": {', '.join(parts)}" if parts else ""
    left = units.count(coverage.unattributed, "span")
    rest = f"; {left} unattributed" if coverage.unattributed else ""
    return (
        f"{units.share(coverage.share)} of {units.seconds(coverage.total_s)} of work is led back"
        f" to the model's nodes{how}{rest}."
    )


def _difference(found: Difference, *, by: str, top: int) -> Table:
    first, last = found.baseline, found.candidate
    columns = (by, f"{first}: count", "time ", f"{last}: count", "time", "change", "share")
    return Table(
        title=(
            f"From {first} to {last}: {_signed(found.change_s)} a run, the worst regression first"
            " (~: not told apart)"
        ),
        columns=columns,
        rows=[_difference_row(found, row, by=by) for row in _furthest(found, top)],
        right=frozenset(columns[1:]),
    )


def _furthest(found: Difference, top: int) -> list[DifferenceRow]:
    """Return the rows that changed most, in the order of the difference."""
    kept = sorted(found.rows, key=lambda row: -abs(row.change_s))[:top]
    return [row for row in found.rows if row in kept]


def _difference_row(found: Difference, row: DifferenceRow, *, by: str) -> tuple[str, ...]:
    share = found.share(row)
    return (
        kernel_names.short(row.label) if by == "kernel" else _short(row.label),
        count(row.baseline_count),
        units.seconds(row.baseline_s),
        count(row.candidate_count),
        units.seconds(row.candidate_s),
        _signed(row.change_s) if found.tells(row) else f"~ {_signed(row.change_s)}",
        row.fate or (units.share(share) if math.isfinite(share) else "–"),
    )


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{units.seconds(seconds)}"
