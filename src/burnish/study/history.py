"""Look back: what the ledger knows of a model, and a page of all that it knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.bench import machine
from burnish.bench.across import compare_each
from burnish.bench.cells import Finished, LedgerRow
from burnish.bench.fingerprint import machine_key
from burnish.bench.ledger import Ledger
from burnish.bench.measure import MachineState, Measurement
from burnish.core import files, settings, units
from burnish.core.command import command
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.report import benchmark_v3, dashboard
from burnish.report.over_time import DashboardReport, HistoryReport, Series, Trend, series_of
from burnish.store import layout
from burnish.study.requests.guarding import DashboardCommand, HistoryCommand
from burnish.study.requests.vocabulary import Place, names, path

_MOST_NAMED = 5


def answer(asked: HistoryCommand, *, progress: Progress = SILENT) -> HistoryReport:
    """Return every series of a model on this machine, with its newest measurement judged."""
    ledger = _ledger(asked.ledger)
    here = machine_key(machine.here())
    rows = _rows(ledger, asked.model, names(asked.engine))
    every = series_of(row for row in rows if row.machine == here)
    newest = []
    for number, series in enumerate(every, 1):
        newest.append(_newest(ledger, series))
        progress.step("history", number, len(every))
    judged = iter(compare_each([pair for pair in newest if pair is not None]))
    trends = [
        Trend(series, next(judged) if pair else None)
        for series, pair in zip(every, newest, strict=True)
    ]
    elsewhere = sum(row.machine != here for row in rows)
    notes = (*_of_other_files(ledger, every), *_damaged(ledger))
    return HistoryReport(asked.model, here, tuple(trends), elsewhere, notes)


def _damaged(ledger: Ledger) -> tuple[str, ...]:
    """Return a note on what of a ledger cannot be read."""
    if not ledger.damaged:
        return ()
    few = ", ".join(map(str, sorted(ledger.damaged)[:_MOST_NAMED]))
    more = ", …" if len(ledger.damaged) > _MOST_NAMED else ""
    told = units.count(len(ledger.damaged), "measurement")
    return (f"{told} cannot be read and did not count: {few}{more}",)


def _of_other_files(ledger: Ledger, every: Sequence[Series]) -> tuple[str, ...]:
    """Return a note for each series whose newest measurement is of another file than the last."""
    found = []
    for series in every:
        last = series.timed[-2:]
        if len({point.model_key for point in last}) < 2:
            continue
        cells = [_finished(ledger, point.id) for point in last]
        before, after = (cell.measurement.file if cell else "" for cell in cells)
        if before and after and before != after:
            found.append(f"{series.model} on {series.engine} was {before} before, and is {after}")
    return tuple(dict.fromkeys(found))


def _rows(ledger: Ledger, model: str, engines: Sequence[str]) -> list[LedgerRow]:
    """Return what was measured of a model on these engines, or say what there is."""
    every = ledger.rows(model=_called(model))
    rows = [row for row in every if not engines or row.engine in engines]
    if every and not rows:
        raise UsageError(
            f"{ledger.path}: holds no measurement of {model} on {', '.join(engines)}",
            hint=f"it has: {', '.join(dict.fromkeys(row.engine for row in every))}",
        )
    if not rows:
        known = sorted({row.model for row in ledger.rows()})
        raise UsageError(
            "; ".join((f"{ledger.path}: holds no measurement of {model}", *_damaged(ledger))),
            hint=f"it has: {', '.join(known)}" if known else f"make one: {_bench(model)}",
        )
    return rows


def _called(model: str) -> str:
    """Return what rows call a model: a file has the name there that benchmarks show."""
    layout.require_utf8(model)
    place = Path(model)
    return layout.stored(place).label if place.is_file() else model


def dashboard_answer(asked: DashboardCommand, *, progress: Progress = SILENT) -> DashboardReport:
    """Write one page of all measurements, or their JSON for PyTorch's dashboard."""
    ledger, target = _ledger(asked.ledger), Path(asked.output)
    rows = ledger.rows()
    if not rows:
        raise UsageError(
            "; ".join((f"{ledger.path}: holds no measurement", *_damaged(ledger))),
            hint=f"make one: {_bench('MODEL')}",
        )
    every = series_of(rows)
    if target.suffix == ".json":
        files.write_text(target, benchmark_v3.text(rows))
    else:
        files.write_text(target, dashboard.page(every, _machines(ledger, every)))
    progress.step("dashboard", 1, 1, str(target))
    return DashboardReport(
        page=str(target),
        ledger=str(ledger.path),
        models=len({series.model for series in every}),
        series=len(every),
        measurements=len(rows),
        notes=_damaged(ledger),
    )


def _newest(ledger: Ledger, series: Series) -> tuple[Measurement, Measurement] | None:
    """Return the last two measurements of a series; None: there is one, or they are damaged."""
    timed = series.timed[-2:]
    if len(timed) < 2:
        return None
    before, after = (_finished(ledger, point.id) for point in timed)
    if before is None or after is None:
        return None
    return before.measurement, after.measurement


def _finished(ledger: Ledger, number: int) -> Finished | None:
    """Return a measurement with its samples; None: it is damaged, which the ledger remembers."""
    try:
        return ledger.finished(number)
    except ModelError:
        if number not in ledger.damaged:
            raise
        return None


def _machines(ledger: Ledger, every: Sequence[Series]) -> dict[str, str]:
    """Return by fingerprint what a machine is, in words."""
    samples = {series.machine: series.points[-1].id for series in every}
    cells = {key: _finished(ledger, number) for key, number in samples.items()}
    return {key: key if cell is None else _in_words(cell.machine) for key, cell in cells.items()}


def _in_words(state: MachineState) -> str:
    gpus = (gpu.name for gpu in state.before.gpus)
    return ", ".join((state.cpu, f"{state.usable_cores} cores", *gpus))


def _ledger(given: Place | None) -> Ledger:
    return Ledger(path(given) or settings.read().ledger)


def _bench(model: str) -> str:
    return command("bench", model)
