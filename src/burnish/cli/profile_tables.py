"""Profiles as tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from burnish.analyze.breakdown import Breakdown, Row
from burnish.analyze.difference import Difference, DifferenceRow
from burnish.analyze.profile import Profile, ProfileReport
from burnish.cli.output import Table
from burnish.core import units

_NUMBERS = frozenset(("count", "time", "share", "up to here", "ceiling"))


def tables(report: ProfileReport, *, by: str, top: int) -> Iterator[Table | str]:
    """Yield one table per profile, what to know when reading it, and the difference."""
    for profile in report.profiles:
        breakdown = profile.by_operator if by == "operator" else profile.by_node
        yield _table(profile, breakdown, by=by, top=top)
        yield from _remarks(profile)
    if report.difference is not None:
        yield _difference(report.difference, top=top)


def count(value: float) -> str:
    """Return calls per inference; a tenth where inferences differ."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _table(profile: Profile, breakdown: Breakdown, *, by: str, top: int) -> Table:
    second = ("operator",) if by == "node" else ()
    return Table(
        title=f"{profile.label} on {profile.engine}, {units.seconds(breakdown.wall_s)} a run",
        columns=(by, *second, "count", "time", "share", "up to here", "ceiling"),
        rows=[_row(breakdown, row, by=by) for row in breakdown.top(top)],
        right=_NUMBERS,
    )


def _row(breakdown: Breakdown, row: Row, *, by: str) -> tuple[str, ...]:
    ceiling = breakdown.ceiling(row)
    return (
        row.label,
        *((row.op_type or "",) if by == "node" else ()),
        count(row.count) if row.count else "",
        units.seconds(row.seconds_s),
        units.share(breakdown.share(row)),
        units.share(breakdown.cumulative(row)) if row.count else "",
        units.ratio(ceiling) if math.isfinite(ceiling) else "∞",
    )


def _remarks(profile: Profile) -> Iterator[str]:
    breakdown = profile.by_operator
    yield (
        f"Medians of {units.count(breakdown.runs, 'run')}, node by node. A whole profiled run took"
        f" {units.seconds(breakdown.measured_wall_s)}, one without profiling"
        f" {units.seconds(profile.plain_s)}: use burnish bench for latencies."
    )
    yield (
        f"{units.share(profile.named_share)} of the nodes' time is in nodes that the model"
        " names; the rest is in nodes that the engine made."
    )
    if breakdown.measured_wall_s > 2 * breakdown.wall_s:
        yield "Note: runs were interrupted for most of their time; the machine is busy."
    yield from (f"Note: {note}." for note in profile.notes)


def _difference(found: Difference, *, top: int) -> Table:
    first, last = found.baseline, found.candidate
    columns = ("operator", f"{first}: count", "time ", f"{last}: count", "time", "change", "share")
    return Table(
        title=(
            f"From {first} to {last}: {_signed(found.change_s)} a run, the worst regression first"
        ),
        columns=columns,
        rows=[_difference_row(found, row) for row in _furthest(found, top)],
        right=frozenset(columns[1:]),
    )


def _furthest(found: Difference, top: int) -> list[DifferenceRow]:
    """Return the rows that changed most, in the order of the difference."""
    kept = sorted(found.rows, key=lambda row: -abs(row.change_s))[:top]
    return [row for row in found.rows if row in kept]


def _difference_row(found: Difference, row: DifferenceRow) -> tuple[str, ...]:
    share = found.share(row)
    return (
        row.label,
        count(row.baseline_count),
        units.seconds(row.baseline_s),
        count(row.candidate_count),
        units.seconds(row.candidate_s),
        _signed(row.change_s),
        units.share(share) if math.isfinite(share) else "–",
    )


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{units.seconds(seconds)}"
