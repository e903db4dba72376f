"""Tables and charts of what was measured: latencies, and where the time goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from burnish.analyze.breakdown import Breakdown, BreakdownRow, RowKind
from burnish.analyze.difference import ROUNDING_S, difference
from burnish.bench import stats
from burnish.bench.measure import BenchReport, Comparison, Measurement, Verdict
from burnish.core import units
from burnish.core.precisions import precision_named
from burnish.report.charts.bars import BarGroup
from burnish.report.charts.intervals import LatencyBar
from burnish.report.matrix import engine_of, says_something, span, status_cell
from burnish.report.record import RunReport
from burnish.report.table import NONE, Cell, Shown, Table, Tone, table
from burnish.report.verdict import interval

SHOWN_OPERATORS = 12
SHOWN_NODES = 15
_MOST_BASELINES = 2
"""More are not told by name: a matrix has one for each group."""
_MOST_NAMED = 3
"""More subjects than this are not named one by one in a note."""
_LATENCY = (
    "subject", "median", "p90", "speed-up", "verdict", "results", "first call", "peak memory",
)  # fmt: skip
_OPERATORS = (
    "operator", "count", "time", "count after", "time after", "change", "share after", "ceiling",
)  # fmt: skip
_TONES = {
    Verdict.FASTER: Tone.GOOD,
    Verdict.SLOWER: Tone.BAD,
    Verdict.NO_DIFFERENCE: Tone.UNSURE,
    Verdict.NOT_ENOUGH: Tone.UNSURE,
}


def bench_lines(bench: BenchReport, *, more: Iterable[Table] = ()) -> Shown:
    """Yield the latencies, all that a reader of them must know, and how to measure again.

    `more`: what else is shown of them, behind the latencies.
    """
    machine = f"{bench.machine.cpu}, {units.count(bench.machine.usable_cores, 'usable core')}"
    gpus = [gpu.name for gpu in bench.machine.before.gpus]
    yield replace(latency_table(bench), title="; ".join((machine, *gpus)))
    yield from more
    yield from (f"note: {note}" for note in notes(bench))
    yield from (f"degraded: {warning}" for warning in bench.machine.warnings)
    if bench.rerun:
        yield f"again: {bench.rerun}"


def latency_table(bench: BenchReport) -> Table:
    """Return one row per subject; one that failed has a row with the reason."""
    common, often = _common(bench), _often(bench)
    alone_of = _one_model(bench)
    whose = f" of {alone_of}" if alone_of else ""
    told = f" All{whose} on {', '.join(common)}." if common else whose and f" All{whose}."
    alone = any(len(one.rounds) == 1 for one in bench.measurements)
    told += " Of one process alone, the interval is of its blocks: others may differ." * alone
    return table(
        "",
        _LATENCY,
        [_latency_row(bench, one, common, often) for one in bench.measurements],
        numeric=_LATENCY[1:4] + _LATENCY[6:],
        remark="Medians: of the middle third of the blocks of calls, over all processes, with 95 %"
        f" intervals. Speed-ups are their quotients, against {_baselines(bench)}, from"
        f" interleaved runs in fresh processes. Every subject got the same inputs.{told}",
    )


def _baselines(bench: BenchReport) -> str:
    """Return what others are compared with: one subject at each shape."""
    names = dict.fromkeys(one.baseline for one in bench.comparisons)
    if len(names) > _MOST_BASELINES:
        return "the baseline of the same size, type and threads"
    return " and ".join(names) or bench.baseline


def notes(bench: BenchReport) -> tuple[str, ...]:
    """Return what a reader of the latencies must know besides, each once with its subjects."""
    about: dict[str, dict[str, None]] = {}
    for subject, note in _subject_notes(bench):
        about.setdefault(note, {})[subject] = None
    told = [f"{_whom(bench, subjects)}: {note}" for note, subjects in about.items()]
    return tuple(dict.fromkeys((*bench.notes, *told)))


def _whom(bench: BenchReport, subjects: Collection[str]) -> str:
    """Return whom a note is about; in a matrix that may be all that an engine ran, or many."""
    if len(subjects) <= _MOST_NAMED:
        return ", ".join(subjects)
    engines = dict.fromkeys(engine_of(one) for one in bench.measurements if one.subject in subjects)
    ran = {one.subject for one in bench.measurements if one.launches and engine_of(one) in engines}
    if ran <= set(subjects):
        return ", ".join(engines)
    return f"{next(iter(subjects))} and {units.count(len(subjects) - 1, 'other subject')}"


def _often(bench: BenchReport) -> frozenset[str]:
    """Return the reasons that several rows share: they are told once, in a note."""
    seen = Counter(one.failure for one in bench.measurements)
    return frozenset(why for why, times in seen.items() if why is not None and times > _MOST_NAMED)


def _subject_notes(bench: BenchReport) -> Iterator[tuple[str, str]]:
    often = _often(bench)
    for one in bench.measurements:
        if one.failure in often and one.failure is not None:
            yield one.subject, one.failure
        if one.placement is not None:
            yield from ((one.subject, note) for note in one.placement.notes)
        if one.launches and not one.converged:
            yield one.subject, "calls were not steady when the warm-up ended"
    for comparison in bench.comparisons:
        reached = bench.measurement(comparison.candidate).status != "no time"
        unsure = comparison.verdict is Verdict.NOT_ENOUGH and "failed: " not in comparison.reason
        if unsure and reached:
            yield comparison.candidate, comparison.reason


def latencies(bench: BenchReport) -> tuple[LatencyBar, ...]:
    """Return the lines of the latency chart."""
    return tuple(_latency(bench, one) for one in bench.measurements)


def operator_groups(report: RunReport) -> tuple[BarGroup, ...]:
    """Return the operators with the most time in either model, then all others as one."""
    breakdowns = _before_and_after(report)
    order = _labels(breakdowns)
    rows = [[_found(b, label) for b in breakdowns] for label in order]
    seconds = [tuple(row.seconds_s if row else 0.0 for row in both) for both in rows]
    told = _told(breakdowns[0], breakdowns[-1]) if breakdowns[1:] else frozenset(order)
    groups = [
        BarGroup(name, times, name in told) for name, times in zip(order, seconds, strict=True)
    ]
    rest = groups[SHOWN_OPERATORS:]
    shown = groups[:SHOWN_OPERATORS]
    if rest:
        together = tuple(map(sum, zip(*(group.seconds_s for group in rest), strict=True)))
        shown.append(BarGroup(units.count(len(rest), "other operator"), together, quiet=True))
    always = (RowKind.UNATTRIBUTED, RowKind.BETWEEN)
    fixed = [BarGroup(kind.value, _of_kind(breakdowns, kind), quiet=True) for kind in always]
    return (*shown, *(group for group in fixed if any(group.seconds_s)))


def operator_table(report: RunReport) -> Table:
    """Return every operator before and after, and what removing it could still give."""
    before, after = _before_and_after(report)[0], _before_and_after(report)[-1]
    always = [RowKind.UNATTRIBUTED.value, RowKind.BETWEEN.value]
    labels = [*_labels((before, after)), *always]
    told = _told(before, after)
    return table(
        "",
        _OPERATORS,
        [_operator_row(before, after, label, told) for label in labels],
        numeric=_OPERATORS[1:],
        remark="~: not told apart from no change by these runs. Ceiling: how many times faster a"
        " run gets if the row costs nothing. Times are those"
        " of profiled runs, which are slower than plain ones: the latencies above count.",
    )


def node_table(report: RunReport) -> Table:
    """Return the slowest nodes of the optimised model."""
    breakdown = report.profile[-1].by_node
    rows = [row for row in breakdown.rows if row.kind is RowKind.NODE][:SHOWN_NODES]
    columns = ("node", "operator", "time", "share", "ceiling")
    return table(
        "",
        columns,
        [
            (
                Cell(row.label, code=True),
                row.op_type or "–",
                units.recorded(row.seconds_s, row.count),
                units.share(breakdown.share(row)),
                _ceiling(breakdown, row),
            )
            for row in rows
        ],
        numeric=columns[2:],
    )


def _latency_row(
    bench: BenchReport, one: Measurement, common: list[str], often: Collection[str]
) -> tuple[Cell, ...]:
    comparison = bench.comparison(one.subject)
    apart = (engine_of(one), *(fact for fact in _conditions(one) if fact not in common))
    return (
        Cell(apart[0], " · ".join(apart[1:]))
        if _one_model(bench)
        else Cell(_alone(one), " · ".join(apart)),
        _median_cell(stats.shown_time(bench, one)),
        _p90_cell(one),
        _speed_up_cell(comparison),
        _verdict_cell(one, comparison, often),
        _results_cell(bench, one),
        Cell(units.seconds(one.first_call_s)) if one.first_call_s is not None else NONE,
        Cell(units.size(one.peak_memory_bytes)) if one.peak_memory_bytes is not None else NONE,
    )


def _one_model(bench: BenchReport) -> str:
    """Return the model that every engine ran, which no row need name; empty: there are others."""
    names = {_alone(one) for one in bench.measurements}
    engines = {engine_of(one) for one in bench.measurements}
    return next(iter(names)) if len(names) == 1 and len(engines) > 1 else ""


def _name(one: Measurement) -> str:
    """Return the subject without its engine, which is shown beside it."""
    rest = one.subject.replace(f"@{engine_of(one)}", "", 1)
    return rest.removesuffix(one.engine).rstrip(" @·,:").removesuffix(" on") or one.subject


def _alone(one: Measurement) -> str:
    """Return the subject without all that is shown beside it: engine, sizes, type and threads."""
    first, *words = _name(one).split(" ")
    beside = {*_conditions(one), f"threads={one.options.get('threads')}"}
    others = [word for word in words if not all(part in beside for part in word.split(","))]
    return " ".join((first, *others))


def _common(bench: BenchReport) -> list[str]:
    """Return the conditions that are the same for all that could be measured."""
    every = [_conditions(one) for one in bench.measurements if one.placement is not None]
    return [fact for fact in every[0] if all(fact in facts for facts in every)] if every else []


def _conditions(one: Measurement) -> list[str]:
    facts = [] if one.placement or not one.precision else [precision_named(one.precision)]
    if one.placement is not None:
        # what quantised models compute in is told by their operators: engines say f32 of them
        found = one.precision if one.precision in ("i8", "i4") else one.placement.precision
        facts += [one.placement.device, precision_named(found)]
        if one.placement.threads is not None:
            facts.append(units.count(one.placement.threads, "thread"))
    return [*facts, *(f"{name}={size}" for name, size in one.bindings.items())]


def _median_cell(found: stats.Interval | None) -> Cell:
    if found is None:
        return NONE
    return Cell(units.seconds(found.estimate), span(found.low, found.high))


def _p90_cell(one: Measurement) -> Cell:
    if not one.blocks:
        return NONE
    found = stats.percentile(one.samples_s, 0.9)
    if found.value_s is None or found.missing_samples:
        return Cell("–", f"needs {found.missing_samples} more")
    return Cell(units.seconds(found.value_s))


def _speed_up_cell(comparison: Comparison | None) -> Cell:
    if comparison is None:
        return Cell("baseline")
    if comparison.ratio is None:
        return NONE
    return Cell(units.ratio(comparison.ratio), interval(comparison))


def _verdict_cell(one: Measurement, comparison: Comparison | None, often: Collection[str]) -> Cell:
    if one.failure is not None:
        reason = "see the note" if one.failure in often else one.failure
        return Cell(status_cell(one).text, reason, status_cell(one).tone)
    return NONE if comparison is None else verdict_cell(comparison)


def verdict_cell(comparison: Comparison) -> Cell:
    """Return the verdict, and what it could not have seen."""
    effect = comparison.minimum_detectable_effect
    reason = ""
    if comparison.verdict is Verdict.NO_DIFFERENCE and effect is not None:
        reason = f"{units.share(effect)} would show"
    return Cell(comparison.verdict.value, reason, _TONES[comparison.verdict])


def _results_cell(bench: BenchReport, one: Measurement) -> Cell:
    mark = bench.parity.get(one.subject)
    if mark is None:
        return Cell("not checked", tone=Tone.UNSURE)
    error = "" if mark.max_rel is None else f"max rel {units.error(mark.max_rel)}"
    if mark.passed:
        return Cell(mark.word, mark.note or error, Tone.GOOD)
    return Cell(mark.word, mark.note or error, Tone.BAD)


def _latency(bench: BenchReport, one: Measurement) -> LatencyBar:
    same_model = one.model_key == bench.measurement(bench.baseline).model_key
    series = "baseline" if same_model else "accent"
    if one.subject in bench.wrong:
        series = "bad"
    found = stats.shown_time(bench, one)
    if found is None:
        return LatencyBar(_name(one), one.engine, series, None, remark="failed")
    rounds = tuple(math.exp(level) for level in stats.round_levels(one.blocks).values())
    told = says_something(found.low, found.high)
    low_s, high_s = (found.low, found.high) if told else (None, None)
    return LatencyBar(_name(one), one.engine, series, found.estimate, low_s, high_s, rounds)


def _before_and_after(report: RunReport) -> tuple[Breakdown, ...]:
    ends = (report.profile[0], *report.profile[1:][-1:])
    return tuple(profile.by_operator for profile in ends)


def _labels(breakdowns: tuple[Breakdown, ...]) -> list[str]:
    """Return the operators, that with the most time in any of the breakdowns first."""
    most: dict[str, float] = {}
    for breakdown in breakdowns:
        for row in breakdown.rows:
            if row.kind is RowKind.OPERATOR:
                most[row.label] = max(most.get(row.label, 0.0), row.seconds_s)
    return sorted(most, key=lambda label: (-most[label], label))


def _found(breakdown: Breakdown, label: str) -> BreakdownRow | None:
    return next((row for row in breakdown.rows if row.label == label), None)


def _of_kind(breakdowns: tuple[Breakdown, ...], kind: RowKind) -> tuple[float, ...]:
    return tuple(
        sum(row.seconds_s for row in breakdown.rows if row.kind is kind) for breakdown in breakdowns
    )


def _told(before: Breakdown, after: Breakdown) -> frozenset[str]:
    """Return what changed for certain: the others' intervals meet."""
    found = difference(before, after, names=("", ""))
    return frozenset(row.label for row in found.rows if found.tells(row))


def _operator_row(
    before: Breakdown, after: Breakdown, label: str, told: Collection[str]
) -> tuple[Cell, ...]:
    first, last = _found(before, label), _found(after, label)
    change = (last.seconds_s if last else 0.0) - (first.seconds_s if first else 0.0)
    return (
        Cell(label),
        *_count_and_time(first),
        *_count_and_time(last),
        _change_cell(change, told=label in told),
        Cell(units.share(after.share(last)) if last else "–"),
        Cell(_ceiling(after, last) if last else "–"),
    )


def _change_cell(change_s: float, *, told: bool) -> Cell:
    if abs(change_s) < ROUNDING_S:
        return Cell("0")
    said = f"{'+' if change_s > 0 else '−'}{units.seconds(abs(change_s))}"
    return Cell(said) if told else Cell(f"~ {said}")


def _count_and_time(row: BreakdownRow | None) -> tuple[Cell, Cell]:
    if row is None:
        return NONE, NONE
    whole = row.count == int(row.count)
    number = f"{row.count:.0f}" if whole else f"{row.count:.1f}"
    return Cell(number if row.count else "–"), Cell(units.recorded(row.seconds_s, row.count))


def _ceiling(breakdown: Breakdown, row: BreakdownRow) -> str:
    value = breakdown.ceiling(row)
    return units.ratio(value) if math.isfinite(value) else "∞"
