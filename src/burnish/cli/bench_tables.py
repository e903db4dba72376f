"""What `burnish bench` shows to people."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.bench import stats
from burnish.bench.measure import BenchReport, Comparison, Measurement, ParityMark, Verdict
from burnish.cli.output import Table
from burnish.core import units

_TIMES = ("subject", "median", "95 % interval", "p90", "first call", "peak memory", "parity")
_SPEEDS = ("subject", "speed-up", "interval", "verdict", "parity")
_NONE = "–"


def tables(report: BenchReport) -> Iterator[Table | str]:
    """Yield times, comparisons, then all that a reader of the numbers must know."""
    times = [_time_row(report, one) for one in report.measurements]
    yield Table(_title(report), _TIMES, times, right=frozenset(_TIMES[1:6]))
    if report.comparisons:
        speeds = [_speed_row(report, one) for one in report.comparisons]
        title = f"speed-up over {report.baseline}"
        yield Table(title, _SPEEDS, speeds, right=frozenset(_SPEEDS[1:3]))
    yield from _grouped(_subject_notes(report))
    yield from (f"note: {note}" for note in dict.fromkeys(report.notes))
    yield from (f"degraded: {warning}" for warning in report.machine.warnings)
    if report.rerun:
        yield f"again: {report.rerun}"


def _title(report: BenchReport) -> str:
    first = report.measurements[0]
    shape = ", ".join(f"{name}={size}" for name, size in first.bindings.items())
    machine = f"{report.machine.cpu}, {units.count(report.machine.usable_cores, 'usable core')}"
    gpus = [gpu.name for gpu in report.machine.before.gpus]
    return "; ".join(filter(None, (shape, machine, *gpus)))


def _time_row(report: BenchReport, one: Measurement) -> tuple[str, ...]:
    peak = one.peak_memory_bytes
    return (
        one.subject,
        *_time_cells(one),
        _seconds(one.first_call_s),
        _NONE if peak is None else units.size(peak),
        _parity(report.parity.get(one.subject)),
    )


def _time_cells(one: Measurement) -> tuple[str, str, str]:
    if not one.blocks:
        return ("failed", _NONE, _NONE)
    median = stats.median_interval(one.blocks)
    p90 = stats.percentile(one.samples_s, 0.9)
    shown = (
        _seconds(p90.value_s) if not p90.missing_samples else f"needs {p90.missing_samples} more"
    )
    interval = f"{units.seconds(median.low)} – {units.seconds(median.high)}"
    return (units.seconds(median.estimate), interval, shown)


def _speed_row(report: BenchReport, one: Comparison) -> tuple[str, ...]:
    return (
        one.candidate,
        _NONE if one.ratio is None else units.ratio(one.ratio),
        _interval(one),
        one.verdict.value,
        _parity(report.parity.get(one.candidate)),
    )


def _interval(comparison: Comparison) -> str:
    if comparison.low is None or comparison.high is None:
        return _NONE
    return f"{units.ratio(comparison.low)} – {units.ratio(comparison.high)}"


def _parity(mark: ParityMark | None) -> str:
    if mark is None:
        return "not checked"
    far = "" if mark.max_rel is None else f" ({units.error(mark.max_rel)})"
    return f"{mark.word}{far}"


def _seconds(value: float | None) -> str:
    return _NONE if value is None else units.seconds(value)


def _grouped(notes: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield each note once, with all the subjects that it is about."""
    subjects: dict[str, dict[str, None]] = {}
    for subject, note in notes:
        subjects.setdefault(note, {})[subject] = None
    yield from (f"note: {', '.join(about)}: {note}" for note, about in subjects.items())


def _subject_notes(report: BenchReport) -> Iterator[tuple[str, str]]:
    for one in report.measurements:
        if one.failure is not None:
            yield one.subject, f"failed: {one.failure}"
        elif not one.converged:
            yield one.subject, "calls were not steady when the warm-up ended"
        if one.placement is not None:
            yield from ((one.subject, note) for note in one.placement.notes)
    for comparison in report.comparisons:
        yield from _comparison_notes(comparison)
    for subject, mark in report.parity.items():
        if not mark.passed:
            yield subject, f"wrong: {mark.note}"


def _comparison_notes(comparison: Comparison) -> Iterator[tuple[str, str]]:
    effect = comparison.minimum_detectable_effect
    if comparison.verdict is Verdict.NO_DIFFERENCE and effect is not None:
        yield comparison.candidate, f"a difference of {units.share(effect)} would have shown"
    if comparison.verdict is Verdict.NOT_ENOUGH and "failed: " not in comparison.reason:
        yield comparison.candidate, comparison.reason
