"""Guard a repository: measure a model again, and fail if it got slower than it may."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from burnish.bench import machine
from burnish.bench.across import compare_across, require_same_machine
from burnish.bench.compare import compare
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.fingerprint import machine_key
from burnish.bench.gate import (
    FINER,
    GatedRow,
    GateOutcome,
    deciding_rounds,
    excluded,
    settled,
)
from burnish.bench.measure import (
    BenchReport,
    Comparison,
    MachineState,
    Measurement,
    ParityMark,
)
from burnish.bench.rounds import LONGEST_BUDGET_S
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import files, records, units
from burnish.core.errors import (
    CheckFailedError,
    MissingCapabilityError,
    UsageError,
    WrongResultError,
)
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.report import junit, markdown
from burnish.report.guarded import GateReport, GateRow, gate_table
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.store.trust import trusting
from burnish.study.casting import cast
from burnish.study.compare import stored
from burnish.study.given import model_of
from burnish.study.judge import judge_of
from burnish.study.kept_results import since
from burnish.study.requests.apart import require_other
from burnish.study.requests.guarding import GateCommand
from burnish.study.requests.line import joined
from burnish.study.requests.vocabulary import Place, names

SCHEMA = 1
_BUDGET_S = 60.0


@dataclass(frozen=True, slots=True)
class _Row:
    """One subject of the baseline, and the model that is to be as fast."""

    then: Measurement
    now: StoredModel
    """In the type that was asked for then."""
    written: StoredModel
    same: bool
    """Whether it is the very model of the baseline."""
    before: StoredModel | None
    """The baseline's model, if it is another one and is still there."""


def answer(asked: GateCommand, *, progress: Progress = SILENT) -> GateReport:
    """Return whether each engine is as fast as it was within the limit, and gives the same."""
    (model,) = trusting([model_of(asked.model, asked.store)], asked.trust_factory)
    here = machine.here()
    place = baseline_file(asked.baseline, here, str(model.onnx))
    for target in _targets(asked.output):
        require_other(target, [(place, "the baseline")], "-o")
    before = stored(place)
    again = joined("bench", model.onnx, "-o", place)
    require_same_machine(before.machine, here, f"make a baseline of this machine: {again}")
    chosen = _rows(before, model, names(asked.engine))
    _require_rounds(place, chosen, again)
    rows = tuple(_gated(row, before, asked, progress) for row in chosen)
    report = GateReport(
        model=model.label,
        baseline=str(place),
        machine=machine_key(here),
        max_slowdown=asked.max_slowdown,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        rows=rows,
    )
    for target in _targets(asked.output):
        files.write_text(target, _written(report, target))
    return report


def require(asked: GateCommand, report: GateReport) -> None:
    """Raise if something is wrong, slower than allowed, or that could not be seen."""
    wrong = [row for row in report.rows if row.outcome is GateOutcome.WRONG]
    if wrong:
        raise WrongResultError(
            f"{wrong[0].subject} does not compute what the baseline did: {wrong[0].said}",
            hint="if that is meant, make the baseline again: "
            f"{joined('bench', asked.model, '-o', report.baseline)}",
        )
    broken = [row for row in report.rows if row.outcome is GateOutcome.BROKEN]
    if broken:
        raise CheckFailedError(
            f"{broken[0].subject} could not be measured: {broken[0].said}",
            hint=f"see whether the engine works: burnish doctor --engine {broken[0].engine}",
        )
    slow = [row for row in report.rows if row.outcome is GateOutcome.SLOWER]
    if slow:
        raise CheckFailedError(
            f"{slow[0].subject} is slower than the baseline allows: {slow[0].said}",
            hint=f"see where the time goes: {joined('profile', asked.model)}",
        )
    unseen = [row for row in report.rows if row.outcome is GateOutcome.UNSEEN]
    unknown = next((row for row in unseen if row.unjudged), None)
    if unknown is not None:
        raise MissingCapabilityError(
            f"{unknown.subject}: {unknown.said}",
            hint="make the baseline again, of a model that is right: "
            f"{joined('bench', asked.model, '-o', report.baseline)}; or ask for speed alone: "
            "--no-verify",
        )
    if unseen:
        raise MissingCapabilityError(
            f"{unseen[0].subject}: {unseen[0].said}", hint=_what_decides(asked, unseen)
        )


def _what_decides(asked: GateCommand, unseen: Sequence[GateRow]) -> str:
    """Return the budget that would probably have been enough, or what can be asked for instead."""
    times = max(deciding_rounds(row.comparison, asked.max_slowdown) for row in unseen)
    budget_s = math.ceil((asked.budget or _BUDGET_S) * times)
    stored = not all(row.side_by_side for row in unseen)
    longer = " (and make the baseline again, as long)" if stored else ""
    if budget_s <= LONGEST_BUDGET_S:
        return f"measure longer, or on a quieter machine: --budget {budget_s}s{longer}"
    least = max((excluded(row.comparison) or 0.0 for row in unseen), default=0.0)
    allowed = math.ceil(least * 100)
    return (
        f"use a quieter machine, or allow what can be seen on this one: --max-slowdown {allowed}%"
    )


def baseline_file(given: str, here: MachineState, model: str) -> Path:
    """Return the baseline of this machine: the file itself, or the one in a folder of them."""
    place = Path(given)
    found = place / f"{machine_key(here)}.json" if place.is_dir() else place
    if not found.exists():
        what = "has no baseline of this machine" if place.is_dir() else "there is no such baseline"
        raise MissingCapabilityError(
            f"{place}: {what}",
            hint=f"make one: {joined('bench', model, '-o', found)}",
        )
    return found


def _require_rounds(place: Path, rows: Sequence[_Row], again: str) -> None:
    """Raise if stored samples are of so few processes that however many new ones show nothing."""
    for row in rows:
        found = len(row.then.rounds)
        if row.before is None and found < FEWEST_ROUNDS:
            raise MissingCapabilityError(
                f"{place}: has {units.count(found, 'round')} of {row.then.subject}, and "
                f"{FEWEST_ROUNDS} are needed for a verdict",
                hint=f"make it again, in more time: {again}",
            )


def _rows(before: BenchReport, model: StoredModel, engines: Sequence[str]) -> list[_Row]:
    rows = [
        one
        for one in before.measurements
        if one.failure is None and (not engines or one.engine in engines)
    ]
    keys = {one.model_key for one in rows}
    if len(keys) > 1:
        rows = [one for one in rows if one.subject.partition("@")[0] == model.label]
    if not rows:
        known = ", ".join(one.subject for one in before.measurements)
        raise UsageError(
            f"the baseline has nothing to compare {model.label} with", hint=f"it has: {known}"
        )
    return [_row_of(one, model) for one in rows]


def _row_of(then: Measurement, model: StoredModel) -> _Row:
    """Return what is to be measured: the model in the type that was asked for then."""
    now, _ = cast(model, then.engine, then.precision)
    keys = {onnx_files.content_key(one.onnx) for one in (model, now)}
    path = Path(then.file)
    same = then.model_key in keys
    if same or not path.is_file():
        return _Row(then, now, model, same, None)
    there = onnx_files.content_key(path) == then.model_key
    return _Row(then, now, model, same, StoredModel(path, path.stem) if there else None)


def _gated(row: _Row, before: BenchReport, asked: GateCommand, progress: Progress) -> GateRow:
    feeds = choose(row.now, bindings=dict(row.then.bindings), padding=asked.padding)[0]
    settings = {field.name for field in dataclasses.fields(EngineOptions)}
    options = EngineOptions(**{k: v for k, v in row.then.options.items() if k in settings})  # type: ignore[arg-type]
    models = {"baseline": row.before, "now": row.now}
    subjects = [
        BenchSubject(label, model, row.then.engine, options)
        for label, model in models.items()
        if model is not None
    ]
    judge = judge_of(subjects, row.before or row.written, feeds) if asked.verify else None
    known = _known(row, before, feeds) if asked.verify else None
    marks: list[ParityMark | None] = []

    def measure(number: int) -> tuple[Measurement, Measurement]:
        plan = BenchOptions(
            budget_s=asked.budget or _BUDGET_S,
            seed=number,
            visible=asked.max_slowdown * FINER,
        )
        report = bench(subjects, feeds, plan, judge=judge, progress=progress)
        then = report.measurement("baseline") if row.before else row.then
        now = report.measurement("now")
        marks.append(_worst(known, report.parity.get("now")))
        wrong = marks[-1] is not None and not marks[-1].passed and now.failure is None
        return then, dataclasses.replace(now, status="wrong") if wrong else now

    tried = settled(measure, _beside if row.before else compare_across, asked.max_slowdown)
    return _row(row, tried, marks[-1], known if isinstance(known, str) else "")


def _known(row: _Row, before: BenchReport, feeds: Feeds) -> ParityMark | str | None:
    """Return what is known before measuring of whether a model means what the baseline's did.

    None: nothing, for results are compared with the baseline's model while it is measured.
    """
    if row.same or row.before is not None:
        return None
    return since(before, row.then, row.written, feeds)


def _worst(known: ParityMark | str | None, seen: ParityMark | None) -> ParityMark | None:
    """Return what a row says of results: that they are wrong, if either says so."""
    if isinstance(known, str) or known is None:
        return None if isinstance(known, str) and (seen is None or seen.passed) else seen
    return known if seen is None or (seen.passed and not known.passed) else seen


def _beside(baseline: Measurement, candidate: Measurement) -> Comparison:
    return compare(baseline, [candidate])[0]


def _row(row: _Row, tried: GatedRow, parity: ParityMark | None, unjudged: str) -> GateRow:
    passed = tried.outcome is GateOutcome.PASSED
    return GateRow(
        subject=row.then.subject,
        engine=row.then.engine,
        outcome=GateOutcome.UNSEEN if passed and unjudged else tried.outcome,
        comparison=tried.comparison,
        side_by_side=row.before is not None,
        tries=tried.tries,
        parity=parity,
        unjudged=unjudged,
    )


def _targets(output: Place | Sequence[Place]) -> list[Path]:
    given = output if isinstance(output, list | tuple) else [output]
    return [Path(str(one)) for one in given if one]


def _written(report: GateReport, target: Path) -> str:
    match target.suffix.lower():
        case ".md":
            return (
                f"## {markdown.escaped(report.headline)}\n\n{markdown.table(gate_table(report))}\n"
            )
        case ".xml":
            return junit.text(report)
        case ".json":
            return records.text_of(records.document(report, schema=SCHEMA))
    raise UsageError(
        f"{target.name}: its ending says no format", hint="end it in .md, .xml or .json"
    )
