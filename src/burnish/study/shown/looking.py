"""What people are shown of profile, graph, whatif and advise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from burnish.analyze import kernel_names
from burnish.analyze.advise import Advice, AdviseReport
from burnish.analyze.amdahl import Denominators
from burnish.analyze.breakdown import ALWAYS_THERE, Breakdown, BreakdownRow, without_gaps
from burnish.analyze.difference import Difference, DifferenceRow
from burnish.analyze.profile import Profile, ProfileReport
from burnish.analyze.whatif import Outcome, SweepRow, WhatIfReport
from burnish.core import units
from burnish.report.graph.written import GraphReport
from burnish.report.table import Shown, Table, table
from burnish.study.requests.looking import Rows
from burnish.study.shown.diagnosis import first_lines, rank_lines, traffic_lines, what_next
from burnish.trace.attribute import TimeCoverage
from burnish.trace.events import Confidence

_NUMBERS = frozenset(("count", "time", "±", "share", "up to here", "ceiling"))
_HOW: Mapping[Confidence, str] = {
    "exact": "by name",
    "correlation": "by what launched it",
    "tensor": "through the engine's graph",
    "pattern": "by what such work usually is",
}
_GAINS = ("1.5×", "2×", "its limit", "∞", "ceiling", "of busy time")


def profile_lines(report: ProfileReport, shown: Rows = Rows()) -> Shown:  # noqa: B008  (frozen)
    """Yield one table per profile, what to know when reading it, and the difference."""
    if report.ranks is not None:
        yield from rank_lines(report.ranks)
    for profile in report.profiles:
        yield from _profile(profile, shown)
    if report.traffic is not None:
        yield from traffic_lines(report.traffic)
    differences: Mapping[str, Difference | None] = {
        "node": report.aligned,
        "kernel": report.by_kernel,
        "layer": report.by_layer,
    }
    asked_for = differences.get(shown.by)
    if asked_for is not None:
        yield _difference(asked_for, by=shown.by, top=shown.top)
    elif report.difference is not None:
        yield _difference(report.difference, by="operator", top=shown.top)


def count(value: float) -> str:
    """Return calls per inference; a tenth where inferences differ."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _profile(profile: Profile, shown: Rows) -> Shown:
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


def _table(profile: Profile, breakdown: Breakdown, shown: Rows) -> Table:
    by = "node" if shown.by == "ran" else shown.by
    second = ("operator",) if by == "node" else ()
    always = [row for row in breakdown.rows if row.kind in ALWAYS_THERE]
    rows = [
        row
        for row in breakdown.top(shown.top)
        if row in always or 100 * breakdown.share(row) >= shown.threshold
    ]
    whole = "of work" if shown.kernel_time_only else "a run"
    return table(
        f"{profile.label} on {profile.engine}, {units.seconds(breakdown.wall_s)} {whole}",
        (by, *second, "count", "time", "±", "share", "up to here", "ceiling"),
        [_row(breakdown, row, by=by) for row in rows],
        numeric=_NUMBERS,
    )


def _row(breakdown: Breakdown, row: BreakdownRow, *, by: str) -> tuple[str, ...]:
    ceiling = breakdown.ceiling(row)
    return (
        _name(row.label, by=by),
        *((row.op_type or "",) if by == "node" else ()),
        count(row.count) if row.count else "",
        units.recorded(row.seconds_s, row.count),
        _spread(row.spread) if breakdown.runs > 1 else "?",
        units.share(breakdown.share(row)),
        units.share(breakdown.cumulative(row)) if row.count else "",
        units.ratio(ceiling) if math.isfinite(ceiling) else "∞",
    )


def _spread(share: float) -> str:
    """Return how far a time may be off; beyond all of it, a figure would say nothing."""
    return units.share(share) if share <= 1 else "> 100 %"


def _name(label: str, *, by: str) -> str:
    return kernel_names.short(label) if by == "kernel" else _short(label)


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


def _coverage(coverage: TimeCoverage) -> str:
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
    return table(
        f"From {first} to {last}: {_signed(found.change_s)} a run, the worst regression first"
        " (~: not told apart)",
        columns,
        [_difference_row(found, row, by=by) for row in _furthest(found, top)],
        numeric=columns[1:],
    )


def _furthest(found: Difference, top: int) -> list[DifferenceRow]:
    """Return the rows that changed most, in the order of the difference."""
    kept = sorted(found.rows, key=lambda row: -abs(row.change_s))[:top]
    return [row for row in found.rows if row in kept]


def _difference_row(found: Difference, row: DifferenceRow, *, by: str) -> tuple[str, ...]:
    share = found.share(row)
    return (
        _name(row.label, by=by),
        count(row.baseline_count),
        units.recorded(row.baseline_s, row.baseline_count),
        count(row.candidate_count),
        units.recorded(row.candidate_s, row.candidate_count),
        _signed(row.change_s) if found.tells(row) else f"~ {_signed(row.change_s)}",
        row.fate or (units.share(share) if math.isfinite(share) else "–"),
    )


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else ''}{units.seconds(seconds)}"


def graph_lines(report: GraphReport) -> Shown:
    """Yield what was found, the files, and what to know when reading them."""
    if report.wall_s is None or report.coverage is None or report.unattributed_s is None:
        yield f"{report.label}: {units.count(report.nodes, 'node')}, no times"
    else:
        yield (
            f"{report.label}: {units.count(report.nodes, 'node')},"
            f" {units.seconds(report.wall_s)} an inference on {report.engine};"
            f" {units.share(report.coverage)} of the work is led back to nodes"
            f" ({units.recorded(report.unattributed_s, 0)} unattributed)"
        )
    if report.wall_s and report.after_wall_s:
        gain = units.ratio(report.wall_s / report.after_wall_s)
        yield f"after the change: {units.seconds(report.after_wall_s)} ({gain})"
    rows = [(str(file.path), units.size(file.size_bytes)) for file in report.files]
    yield table("", ("file", "size"), rows, numeric=("size",))
    yield from (f"note: {note}" for note in report.notes)


def whatif_lines(report: WhatIfReport) -> Shown:
    """Yield the lengths that shares are of, the outcomes, the sweep, and what must be known."""
    yield _lengths(report)
    if report.outcomes:
        yield _outcomes(report)
    if report.sweep:
        yield _sweep(report)
    yield from _facts(report)
    notes = (*report.notes, *(note for outcome in report.outcomes for note in outcome.notes))
    yield from dict.fromkeys(f"note: {note}" for note in notes)


def _lengths(report: WhatIfReport) -> Table:
    found = report.denominators
    rows = [(label, units.seconds(seconds)) for label, seconds in _parts(found)]
    path = report.paths.if_parallel_s
    rows += [
        ("longest path, as executed", units.seconds(report.paths.as_executed_s)),
        ("longest path, if only data were waited for", units.seconds(path) if path else "–"),
    ]
    return table(f"{report.label} ({report.source})", ("what", "time"), rows, numeric=("time",))


def _parts(found: Denominators) -> list[tuple[str, float]]:
    rows = [("wall, unprofiled", found.unprofiled_s), ("wall, profiled", found.profiled_s)]
    rows += [
        ("sum of nodes or kernels", found.work_s),
        ("  of the wall: at work", found.busy_s),
        # what did not happen, or was not recorded, is no part
        ("  copying", found.copy_s or None),
        ("  launching", found.launch_s or None),
        ("  waiting for the device", found.sync_s or None),
        ("  idle, or between nodes", found.idle_s or None),
        ("  added by profiling", found.profiler_s),
    ]
    return [(label, seconds) for label, seconds in rows if seconds is not None]


def _outcomes(report: WhatIfReport) -> Table:
    checked = any(outcome.checked is not None for outcome in report.outcomes)
    columns = [
        "scenario", "changes", "events", "their time", "wall after", "busy after", "gain",
        "between", "ceiling", "of busy time", *(("measured", "error") if checked else ()),
    ]  # fmt: skip
    return table(
        f"What would happen, against {units.seconds(report.baseline_s)}",
        columns,
        [_outcome(outcome, checked=checked) for outcome in report.outcomes],
        numeric=columns[2:],
    )


def _outcome(outcome: Outcome, *, checked: bool) -> tuple[str, ...]:
    row = (
        outcome.scenario,
        _shortened(outcome.actions),
        str(outcome.events),
        units.recorded(outcome.events_s, outcome.events),
        units.seconds(outcome.wall_s),
        units.seconds(outcome.busy_s),
        units.gain(outcome.gain),
        " – ".join(map(units.ratio, outcome.gains)) if outcome.gains else "–",
        units.gain(outcome.ceiling.against_wall) if outcome.ceiling else "–",
        units.gain(outcome.ceiling.against_busy) if outcome.ceiling else "–",
    )
    if not checked:
        return row
    if outcome.checked is None or outcome.error is None:
        return (*row, "–", "–")
    return (*row, units.gain(outcome.checked.ratio), units.share(outcome.error))


def _shortened(actions: tuple[str, ...]) -> str:
    shown = "; ".join(actions[:3])
    return f"{shown}; and {len(actions) - 3} more" if len(actions) > 3 else shown


def _sweep(report: WhatIfReport) -> Table:
    return table(
        f"Gain of the whole when one operator gets faster, against "
        f"{units.seconds(report.baseline_s)}",
        ("operator", "events", "time", *_GAINS),
        [_swept(row) for row in report.sweep],
        numeric=("events", "time", *_GAINS),
    )


def _swept(row: SweepRow) -> tuple[str, ...]:
    limit = row.gain_at_roofline
    return (
        row.op_type,
        str(row.events),
        units.recorded(row.seconds_s, row.events),
        units.gain(row.gain_at_1_5),
        units.gain(row.gain_at_2),
        units.gain(limit) if limit is not None else "unknown",
        units.gain(row.gain_at_infinity),
        units.gain(row.ceiling.against_wall),
        units.gain(row.ceiling.against_busy),
    )


def _facts(report: WhatIfReport) -> list[str]:
    lines = [f"attributed: {units.share(report.attributed)} of the work belongs to known nodes"]
    if report.correction is not None:
        found = report.correction
        lines.append(
            f"corrected: {units.seconds(found.floor_s)} of profiling off each node, times "
            f"{found.factor:.2f}, {units.seconds(found.gap_s)} before each"
        )
    if report.device is not None:
        lines.append(f"limits: {report.device}")
    return lines


def advise_lines(report: AdviseReport) -> Shown:
    """Yield the advice as a table, the commands below it where they can be copied."""
    title = f"{report.label} on {report.engine}: {units.seconds(report.baseline_s)}"
    if report.limit_s is not None:
        title += f", {units.seconds(report.limit_s)} at the limits of {report.device}"
    rows = [_advice(number, one) for number, one in enumerate(report.advice, 1)]
    yield table(title, ("", "what", "gain", "how sure", "evidence"), rows, numeric=("gain",))
    yield from (f"note: {note}" for note in report.notes)
    yield from (f"{number}. {one.command}" for number, one in enumerate(report.advice, 1))


def _advice(number: int, one: Advice) -> tuple[str, ...]:
    found = units.gain(one.gain) if one.gain is not None else "measure"
    prefix = "at most " if one.confidence == "bound" else ""
    return (str(number), one.what, prefix + found, one.confidence, one.evidence)
