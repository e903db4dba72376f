"""From a benchmark to the cells of a ledger, and from cells back to a benchmark."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from burnish.bench.cells import CellTask, Finished
from burnish.bench.compare import ERROR_RATE, compare
from burnish.bench.figures import figures_of
from burnish.bench.fingerprint import environment_key, machine_key
from burnish.bench.measure import BenchReport, Comparison, Measurement, ParityMark, Verdict
from burnish.core.hashing import value_key


def session_of(report: BenchReport) -> str:
    """Return a name for what was measured together that nothing else has."""
    return value_key([report.inputs_key, report.machine.date, uuid.uuid4().hex])[:16]


def tasks_of(report: BenchReport, *, rounds: int, blocks: int) -> dict[str, CellTask]:
    """Return by subject what each measurement of a report depended on."""
    return numbered(
        {
            one.subject: CellTask(
                model_key=one.model_key,
                precision=one.precision,
                engine=":".join(filter(None, (one.engine, str(one.options.get("mode") or "")))),
                options=one.options,
                bindings=one.bindings,
                inputs_key=report.inputs_key,
                verified=bool(report.parity),
                rounds=rounds,
                blocks=blocks,
                machine=machine_key(report.machine),
                environment=environment_key(report.machine),
            )
            for one in report.measurements
        }
    )


def numbered(tasks: Mapping[str, CellTask]) -> dict[str, CellTask]:
    """Return tasks of which no two are equal: what is the same twice is numbered."""
    seen: Counter[str] = Counter()
    found: dict[str, CellTask] = {}
    for name, task in tasks.items():
        found[name] = replace(task, copy=seen[task.key])
        seen[task.key] += 1
    return found


def cells_of(
    report: BenchReport, tasks: Mapping[str, CellTask], models: Mapping[str, str]
) -> tuple[Finished, ...]:
    """Return the finished cells of a report; `tasks` and `models` (their names) by subject."""
    session = session_of(report)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return tuple(
        _cell(report, replace(one, measured_at=now), session, tasks[one.subject], models)
        for one in report.measurements
    )


def _cell(
    report: BenchReport, one: Measurement, session: str, task: CellTask, models: Mapping[str, str]
) -> Finished:
    parity = report.parity.get(one.subject)
    wrong = parity.note if parity is not None and not parity.passed else ""
    return Finished(
        task=task,
        session=session,
        measured_at=one.measured_at,
        status=one.status,
        reason=one.failure or wrong,
        model=models[one.subject],
        figures=figures_of(one),
        measurement=one,
        machine=report.machine,
        parity=parity,
        baseline=one.subject == report.baseline,
        notes=report.notes,
    )


def report_of(
    cells: Mapping[str, Finished], anchors: Mapping[str, Finished], *, baseline: str, seed: int
) -> BenchReport:
    """Return one benchmark of cells by subject; `anchors`: the baseline of each session.

    Cells are compared with the baseline that took turns with them, and with no other.
    """
    rows = {name: replace(cell.measurement, subject=name) for name, cell in cells.items()}
    first = cells[baseline]
    marks: dict[str, ParityMark] = {
        name: cell.parity for name, cell in cells.items() if cell.parity is not None
    }
    return BenchReport(
        baseline=baseline,
        measurements=tuple(rows.values()),
        comparisons=_comparisons(cells, anchors, rows, baseline),
        machine=first.machine,
        seed=seed,
        inputs_key=first.task.inputs_key,
        notes=tuple(dict.fromkeys(note for cell in cells.values() for note in cell.notes)),
        parity=marks,
    )


def _comparisons(
    cells: Mapping[str, Finished],
    anchors: Mapping[str, Finished],
    rows: Mapping[str, Measurement],
    baseline: str,
) -> tuple[Comparison, ...]:
    found: dict[str, Comparison] = {}
    sessions = dict.fromkeys(cell.session for name, cell in cells.items() if name != baseline)
    for session in sessions:
        names = [n for n, cell in cells.items() if cell.session == session and n != baseline]
        if session in anchors:
            anchor = replace(anchors[session].measurement, subject=baseline)
            rate = ERROR_RATE / len(sessions)  # a group keeps its promise over all of them
            for one in compare(anchor, [rows[name] for name in names], rate):
                found[one.candidate] = one
        else:
            found |= {name: _apart(baseline, name) for name in names}
    return tuple(found[name] for name in rows if name in found)


def _apart(baseline: str, candidate: str) -> Comparison:
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        verdict=Verdict.NOT_ENOUGH,
        reason=f"was not measured together with {baseline}; --again does that",
        round_ratios=(),
        ratio=None,
        low=None,
        high=None,
        confidence=0.95,
        minimum_detectable_effect=None,
    )
