"""How `burnish whatif` shows what it found."""

from __future__ import annotations

import math

from burnish.analyze.amdahl import Denominators
from burnish.analyze.whatif import Outcome, SweepRow, WhatIfReport
from burnish.cli.output import Table
from burnish.core import units

_GAINS = ("1.5×", "2×", "its limit", "∞", "ceiling", "of busy time")


def tables(report: WhatIfReport) -> list[Table | str]:
    """Return the lengths that shares are of, the outcomes, the sweep, and what must be known."""
    shown: list[Table | str] = [_lengths(report)]
    if report.outcomes:
        shown.append(_outcomes(report))
    if report.sweep:
        shown.append(_sweep(report))
    notes = dict.fromkeys(
        (*report.notes, *(note for outcome in report.outcomes for note in outcome.notes))
    )
    return [*shown, *_facts(report), *(f"note: {note}" for note in notes)]


def _lengths(report: WhatIfReport) -> Table:
    found = report.denominators
    rows = [(label, units.seconds(seconds)) for label, seconds in _parts(found)]
    path = report.paths.if_parallel_s
    rows += [
        ("longest path, as executed", units.seconds(report.paths.as_executed_s)),
        ("longest path, if only data were waited for", units.seconds(path) if path else "–"),
    ]
    return Table(f"{report.label} ({report.source})", ("what", "time"), rows, frozenset({"time"}))


def _parts(found: Denominators) -> list[tuple[str, float]]:
    rows = [("wall, unprofiled", found.unprofiled_s), ("wall, profiled", found.profiled_s)]
    rows += [
        ("sum of nodes or kernels", found.work_s),
        ("  of the wall: at work", found.busy_s),
        ("  copying", found.copy_s),
        ("  launching", found.launch_s),
        ("  waiting for the device", found.sync_s),
        ("  idle, or between nodes", found.idle_s),
        ("  added by profiling", found.profiler_s),
    ]
    return [(label, seconds) for label, seconds in rows if seconds is not None]


def _outcomes(report: WhatIfReport) -> Table:
    checked = any(outcome.checked is not None for outcome in report.outcomes)
    columns = [
        "scenario", "changes", "events", "their time", "wall after", "busy after", "gain",
        "ceiling", "of busy time", *(("measured", "error") if checked else ()),
    ]  # fmt: skip
    return Table(
        f"What would happen, against {units.seconds(report.baseline_s)}",
        columns,
        [_outcome(outcome, checked=checked) for outcome in report.outcomes],
        frozenset(columns[2:]),
    )


def _outcome(outcome: Outcome, *, checked: bool) -> tuple[str, ...]:
    row = (
        outcome.scenario,
        _shortened(outcome.actions),
        str(outcome.events),
        units.seconds(outcome.events_s),
        units.seconds(outcome.wall_s),
        units.seconds(outcome.busy_s),
        gain(outcome.gain),
        gain(outcome.ceiling.against_wall) if outcome.ceiling else "–",
        gain(outcome.ceiling.against_busy) if outcome.ceiling else "–",
    )
    if not checked:
        return row
    if outcome.checked is None or outcome.error is None:
        return (*row, "–", "–")
    return (*row, gain(outcome.checked.ratio), units.share(outcome.error))


def _shortened(actions: tuple[str, ...]) -> str:
    shown = "; ".join(actions[:3])
    return f"{shown}; and {len(actions) - 3} more" if len(actions) > 3 else shown


def _sweep(report: WhatIfReport) -> Table:
    return Table(
        f"Gain of the whole when one operator gets faster, against "
        f"{units.seconds(report.baseline_s)}",
        ("operator", "events", "time", *_GAINS),
        [_swept(row) for row in report.sweep],
        frozenset({"events", "time", *_GAINS}),
    )


def _swept(row: SweepRow) -> tuple[str, ...]:
    limit = row.gain_at_roofline
    return (
        row.op_type,
        str(row.events),
        units.seconds(row.seconds_s),
        gain(row.gain_at_1_5),
        gain(row.gain_at_2),
        gain(limit) if limit is not None else "unknown",
        gain(row.gain_at_infinity),
        gain(row.ceiling.against_wall),
        gain(row.ceiling.against_busy),
    )


def gain(value: float) -> str:
    """Return a speed-up with the digits that small gains need: `1.005×`."""
    if math.isinf(value):
        return "∞"
    return f"{value:.3f}×" if value < 2 else units.ratio(value)


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
