"""A matrix of measurements: its rows for programs, and its sizes against each other for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.figures import figures_in
from burnish.bench.measure import BenchReport, Measurement, ParityMark
from burnish.core import units
from burnish.core.precisions import precision_named
from burnish.report.table import NONE, Cell, Table, Tone, table
from burnish.report.verdict import SAYS_NOTHING

COLUMNS = (
    "model", "engine", "precision", "threads", "sizes", "batch", "status", "median_s", "low_s",
    "high_s", "p90_s", "p95_s", "p99_s", "items_per_s", "load_s", "first_call_s",
    "peak_memory_bytes", "model_bytes", "samples", "processes", "baseline", "speed_up",
    "speed_up_low", "speed_up_high", "verdict", "results", "max_rel", "measured_at", "reason",
    "card_s", "card_memory_bytes",
)  # fmt: skip
_COSTS = (
    "subject", "per second", "p90", "p95", "p99", "load", "first call", "peak memory", "on disk",
)  # fmt: skip
_LENGTHS = ("seq", "frame", "point", "sample")
_CARD = ("on the card", "card memory")
"""Columns that there are where something ran on a card."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What a pivot has one row of, apart from sizes."""

    model: str
    precision: str
    threads: str


def csv_lines(bench: BenchReport) -> Iterator[str]:
    """Yield the header and one line per cell, in SI units; what is not known is empty."""
    yield _csv(COLUMNS)
    for one in bench.measurements:
        row = _record(bench, one)
        yield _csv(["" if row[name] is None else row[name] for name in COLUMNS])


def tables(bench: BenchReport) -> tuple[Table, ...]:
    """Return what each cell takes besides its latency, and the pivots where sizes differ."""
    return (costs(bench), *pivots(bench), *types(bench))


def costs(bench: BenchReport) -> Table:
    """Return throughput, percentiles, what a fresh process pays, and memory."""
    known = any(one.card_s or one.card_memory_bytes for one in bench.measurements)
    columns = (*_COSTS, *(_CARD if known else ()))
    return table(
        "throughput, start and memory",
        columns,
        [_cost_row(bench, one)[: len(columns)] for one in bench.measurements],
        numeric=columns[1:],
        remark="Per second: inputs of one caller that waits for each answer; where a call "
        "generates, tokens. Load: importing the "
        "engine and building or opening the model. Percentiles need 29, 59 and 299 calls.",
    )


def pivots(bench: BenchReport) -> tuple[Table, ...]:
    """Return medians by size, one table for each model, type and number of threads.

    Lengths go across; everything else that differs goes down.
    """
    rows: dict[_Key, list[Measurement]] = {}
    for one in bench.measurements:
        rows.setdefault(_key(one), []).append(one)
    found = [(key, some, _varying(some)) for key, some in rows.items()]
    return tuple(_pivot(bench, key, some, axes) for key, some, axes in found if axes)


def types(bench: BenchReport) -> tuple[Table, ...]:
    """Return medians by type of arithmetic, where several were asked for."""
    columns = tuple(dict.fromkeys(precision_named(one.precision) for one in bench.measurements))
    if len(columns) < 2:
        return ()
    lines: dict[tuple[str, ...], dict[str, Measurement]] = {}
    for one in bench.measurements:
        threads = str(one.options.get("threads") or "–")
        place = (one.model or one.subject, engine_of(one), sizes_of(one), threads)
        lines.setdefault(place, {})[precision_named(one.precision)] = one
    rows: list[tuple[str | Cell, ...]] = [
        (*place, *(_median(bench, found.get(name)) for name in columns))
        for place, found in lines.items()
    ]
    head = ("model", "engine", "sizes", "threads", *(name or "as it is" for name in columns))
    remark = "Types were measured one after the other, not in turns: no verdict is made of them."
    return (table("median by type", head, rows, numeric=head[3:], remark=remark),)


def engine_of(one: Measurement) -> str:
    """Return an engine as it was asked for, with its mode."""
    return ":".join(filter(None, (one.engine, str(one.options.get("mode") or ""))))


def sizes_of(one: Measurement) -> str:
    """Return the sizes of one row: `batch=8,sequence=128`."""
    return ",".join(f"{name}={size}" for name, size in one.bindings.items())


def status_cell(one: Measurement) -> Cell:
    """Return what became of a row without figures; what was not tried did not fail."""
    untried = one.status in ("unsupported", "no time")
    return Cell("failed" if one.status == "ok" else one.status,
                tone=Tone.UNSURE if untried else Tone.BAD)  # fmt: skip


def span(low_s: float, high_s: float) -> str:
    """Return an interval in words; one that says nothing, of a block or two, is none."""
    if not says_something(low_s, high_s):
        return "no interval"
    return f"{units.seconds(low_s)} – {units.seconds(high_s)}"


def says_something(low_s: float, high_s: float) -> bool:
    """Return whether an interval is worth a word or a line."""
    return high_s <= SAYS_NOTHING * low_s


def length_of(one: Measurement, *, past: bool) -> int | None:
    """Return how many steps a decoder has behind it, or how long the inputs are."""
    for name, size in one.bindings.items():
        known = ("past",) if past else _LENGTHS
        if ("past" in name.lower()) == past and any(word in name.lower() for word in known):
            return size
    return None


def is_a_sum(one: Measurement, name: str) -> bool:
    """Return whether a size says nothing new: a mask covers the past and the new tokens."""
    past, new = length_of(one, past=True), length_of(one, past=False)
    if past is None or new is None or "past" in name.lower() or "total" not in name.lower():
        return False
    return one.bindings.get(name) == past + new


def _csv(values: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _record(bench: BenchReport, one: Measurement) -> dict[str, object]:
    figures, mark = figures_in(bench, one), bench.parity.get(one.subject)
    comparison = bench.comparison(one.subject)
    numbers = {name: getattr(figures, name) for name in COLUMNS if hasattr(figures, name)}
    return {
        **numbers,
        "model": one.model or one.subject,
        "engine": engine_of(one),
        "precision": _precision(one),
        "threads": one.options.get("threads"),
        "sizes": sizes_of(one),
        "batch": one.batch,
        "status": one.status,
        "baseline": comparison.baseline if comparison else one.subject,
        "speed_up": comparison.ratio if comparison else None,
        "speed_up_low": comparison.low if comparison else None,
        "speed_up_high": comparison.high if comparison else None,
        "verdict": "baseline"
        if comparison is None
        else comparison.verdict.value * bool(one.blocks),
        "results": mark.word if mark else "not checked",
        "max_rel": mark.max_rel if mark else None,
        "measured_at": one.measured_at or bench.machine.date,
        "reason": one.failure or _reason(one, mark),
    }


def _reason(one: Measurement, mark: ParityMark | None) -> str:
    """Return why figures are to be doubted, of a cell that did not fail."""
    wrong = mark.note if mark and not mark.passed else ""
    cut_off = f"cut off after {units.count(len(one.rounds), 'round')}" if one.cut_off else ""
    return "; ".join(filter(None, (wrong, cut_off)))


def _cost_row(bench: BenchReport, one: Measurement) -> tuple[Cell, ...]:
    figures = figures_in(bench, one)
    if not figures.samples:
        return (
            Cell(one.subject),
            status_cell(one),
            *[NONE] * (len((*_COSTS, *_CARD)) - 2),
        )
    rate = figures.items_per_s
    times = (figures.p90_s, figures.p95_s, figures.p99_s, figures.load_s, figures.first_call_s)
    sizes = (figures.peak_memory_bytes, figures.model_bytes)
    return (
        Cell(one.subject),
        NONE if rate is None else Cell(units.significant(rate)),
        *(NONE if value is None else Cell(units.seconds(value)) for value in times),
        *(NONE if value is None else Cell(units.size(value)) for value in sizes),
        NONE if figures.card_s is None else Cell(units.seconds(figures.card_s)),
        NONE if figures.card_memory_bytes is None else Cell(units.size(figures.card_memory_bytes)),
    )


def _precision(one: Measurement) -> str:
    return precision_named(one.precision or (one.placement.precision if one.placement else ""))


def _key(one: Measurement) -> _Key:
    return _Key(
        one.model or one.subject,
        precision_named(one.precision),
        str(one.options.get("threads") or ""),
    )


def _varying(rows: Sequence[Measurement]) -> tuple[str, ...]:
    """Return the axes that have several sizes, lengths last; axes that go together count once."""
    columns: dict[tuple[int | None, ...], str] = {}
    every = dict.fromkeys(name for one in rows for name in one.bindings)
    for name in (name for name in every if not all(is_a_sum(one, name) for one in rows)):
        columns.setdefault(tuple(one.bindings.get(name) for one in rows), name)
    varying = [name for sizes, name in columns.items() if len(set(sizes)) > 1]
    return tuple(sorted(varying, key=lambda name: "seq" in name.lower()))


def _pivot(
    bench: BenchReport, key: _Key, rows: Sequence[Measurement], axes: Sequence[str]
) -> Table:
    *down, across = axes
    columns = sorted({one.bindings[across] for one in rows if across in one.bindings})
    lines: dict[tuple[object, ...], dict[int, Measurement]] = {}
    for one in sorted(rows, key=lambda one: [one.bindings.get(name, 0) for name in down]):
        place = (*(one.bindings.get(name, "–") for name in down), engine_of(one))
        lines.setdefault(place, {})[one.bindings[across]] = one
    head = (*down, "engine", *(f"{across}={size}" for size in columns))
    threads = units.count(int(key.threads), "thread") if key.threads else ""
    about = (key.model, key.precision, threads)
    return table(
        f"median by size: {', '.join(filter(None, about))}",
        head,
        [
            (*map(str, place), *(_median(bench, found.get(size)) for size in columns))
            for place, found in lines.items()
        ],
        numeric=(*down, *head[len(down) + 1 :]),
    )


def _median(bench: BenchReport, one: Measurement | None) -> Cell:
    if one is None:
        return NONE
    figures = figures_in(bench, one)
    if figures.median_s is None or figures.low_s is None or figures.high_s is None:
        return status_cell(one)
    wrong: Mapping[bool, Tone] = {True: Tone.BAD, False: Tone.PLAIN}
    within = span(figures.low_s, figures.high_s)
    return Cell(units.seconds(figures.median_s), within, wrong[one.status == "wrong"])
