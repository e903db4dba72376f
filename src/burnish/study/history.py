"""Look back: what the ledger knows of a model, and a page of all that it knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.bench import machine
from burnish.bench.across import compare_across
from burnish.bench.cells import LedgerRow
from burnish.bench.fingerprint import machine_key
from burnish.bench.ledger import Ledger
from burnish.bench.measure import Comparison
from burnish.core import files, settings
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.report import benchmark_v3, dashboard
from burnish.report.over_time import DashboardReport, HistoryReport, Series, Trend, series_of
from burnish.store import layout
from burnish.study.requests.guarding import DashboardCommand, HistoryCommand
from burnish.study.requests.vocabulary import Place, names, path


def answer(asked: HistoryCommand, *, progress: Progress = SILENT) -> HistoryReport:
    """Return every series of a model on this machine, with its newest measurement judged."""
    ledger = _ledger(asked.ledger)
    here = machine_key(machine.here())
    rows = _rows(ledger, asked.model, names(asked.engine))
    every = series_of(row for row in rows if row.machine == here)
    trends = []
    for number, series in enumerate(every, 1):
        trends.append(Trend(series, _newest(ledger, series)))
        progress.step("history", number, len(every))
    elsewhere = sum(row.machine != here for row in rows)
    return HistoryReport(asked.model, here, tuple(trends), elsewhere)


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
            f"{ledger.path}: holds no measurement of {model}",
            hint=f"it has: {', '.join(known)}" if known else f"make one: {_bench(model)}",
        )
    return rows


def _called(model: str) -> str:
    """Return what rows call a model: a file has the name there that benchmarks show."""
    place = Path(model)
    return layout.stored(place).label if place.is_file() else model


def dashboard_answer(asked: DashboardCommand, *, progress: Progress = SILENT) -> DashboardReport:
    """Write one page of all measurements, or their JSON for PyTorch's dashboard."""
    ledger, target = _ledger(asked.ledger), Path(asked.output)
    rows = ledger.rows()
    if not rows:
        raise UsageError(
            f"{ledger.path}: holds no measurement", hint=f"make one: {_bench('MODEL')}"
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
    )


def _newest(ledger: Ledger, series: Series) -> Comparison | None:
    timed = series.timed[-2:]
    if len(timed) < 2:
        return None
    before, after = (ledger.finished(point.id).measurement for point in timed)
    return compare_across(before, after)


def _machines(ledger: Ledger, every: Sequence[Series]) -> dict[str, str]:
    """Return by fingerprint what a machine is, in words."""
    samples = {series.machine: series.points[-1].id for series in every}
    states = {key: ledger.finished(number).machine for key, number in samples.items()}
    return {
        key: ", ".join(
            (state.cpu, f"{state.usable_cores} cores", *(gpu.name for gpu in state.before.gpus))
        )
        for key, state in states.items()
    }


def _ledger(given: Place | None) -> Ledger:
    return Ledger(path(given) or settings.read().ledger)


def _bench(model: str) -> str:
    return f"burnish bench {model}"
