"""Measure the groups of a matrix one after the other; what is known already is not measured."""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from burnish.bench import choose, machine
from burnish.bench.cells import CellTask, Finished
from burnish.bench.fingerprint import environment_key, machine_key
from burnish.bench.measure import BenchReport, MachineState, Measurement, Status
from burnish.bench.quiet import OPENING_S
from burnish.bench.recorded import cells_of, numbered, report_of
from burnish.bench.run import bench, sizes
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import units
from burnish.core.errors import ModelError, UsageError
from burnish.core.hashing import arrays_key
from burnish.core.progress import Progress
from burnish.engines.base import ENGINES, EngineOptions
from burnish.process.child import answer_limit_s
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.casting import cast, left_out, obstacle
from burnish.study.clock import Kind, TimeShare
from burnish.study.inputs import feeds_of
from burnish.study.judge import judge_of
from burnish.study.kept import KnownCells
from burnish.study.matrix import CellGroup, symbols
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.vocabulary import names


@dataclass(frozen=True, slots=True)
class CellPlan:
    """The cells of one group: subjects by their final names, and what each depends on."""

    group: CellGroup
    subjects: Mapping[str, BenchSubject]
    """With the models and the types that were named; nothing is converted yet."""
    tasks: Mapping[str, CellTask]
    baseline: str
    items_per_call: int
    baseline_is_asked: bool = True

    @property
    def labels(self) -> dict[str, str]:
        """Return what people call the model of each cell."""
        return {name: subject.model.label for name, subject in self.subjects.items()}

    def shown(self, report: BenchReport) -> BenchReport:
        """Return rows under names that no other model of the matrix has."""
        rows = (
            dataclasses.replace(one, model=self._called(one.subject)) for one in report.measurements
        )
        return dataclasses.replace(report, measurements=tuple(rows))

    def _called(self, name: str) -> str:
        subject = self.subjects[name]
        return choose.called(subject.model, subject.engine, self.group.alike)

    def kind(self, name: str) -> Kind:
        """Return what a cell is like: others of its kind take as long to begin with."""
        return self.tasks[name].engine, self.group.precision


def here() -> MachineState:
    """Return the machine as it is now."""
    now = machine.snapshot()
    return machine.state(before=now, after=now, elapsed_s=0.0, threads=1)


def planned(asked: BenchCommand, group: CellGroup, state: MachineState) -> CellPlan:
    """Return the cells of a group, each with the address of all that its figures depend on."""
    options = EngineOptions(
        threads=group.threads or machine.usable_cores(),
        cuda_graph=asked.cuda_graph,
        allow_fallback=asked.allow_fallback,
    )
    found = choose.subjects(group.models, names(asked.engine), options, alike=group.alike)
    baseline, is_asked = _baseline(found, asked)
    feeds = feeds_of(group.models[0], group)
    inputs_key = arrays_key(feeds.arrays)
    subjects = {
        group.label(one.label): dataclasses.replace(one, label=group.label(one.label))
        for one in found
    }
    keys = {model.onnx: onnx_files.content_key(model.onnx) for model in group.models}
    tasks = numbered(
        {
            name: CellTask(
                model_key=keys[one.model.onnx],
                precision=group.precision,
                engine=":".join(filter(None, (one.engine, one.options.mode))),
                options=dataclasses.asdict(one.options),
                bindings=sizes(feeds, group.generate),
                inputs_key=inputs_key,
                verified=asked.verify,
                rounds=asked.rounds,
                blocks=asked.blocks,
                machine=machine_key(state),
                environment=environment_key(state),
            )
            for name, one in subjects.items()
        }
    )
    items = items_of(group.models[0], feeds.bindings) * max(1, group.generate or 0)
    return CellPlan(group, subjects, tasks, group.label(baseline), items, is_asked)


def _baseline(found: Sequence[BenchSubject], asked: BenchCommand) -> tuple[str, bool]:
    """Return what the subjects of a group are compared with, and whether it is what was asked."""
    try:
        return choose.baseline(found, asked.baseline), True
    except UsageError:
        return found[0].label, False


def require_baseline(asked: BenchCommand, plans: Sequence[CellPlan]) -> tuple[str, ...]:
    """Raise if no group has the baseline that was asked for; return which have another."""
    if not any(plan.baseline_is_asked for plan in plans):
        choose.baseline([*plans[0].subjects.values()], asked.baseline)
    return tuple(
        f"{plan.group.models[0].label} has no subject {asked.baseline!r}: compared with "
        f"{plan.baseline}"
        for plan in plans
        if not plan.baseline_is_asked
    )


def items_of(model: StoredModel, bindings: Mapping[str, int]) -> int:
    """Return how many inputs one call takes: the size of what means a batch, else 1."""
    try:
        batch = symbols(model).get("batch", ())
    except ModelError:  # of unknown rank: only the user's data tells what its dimensions are
        batch = ()
    return next((bindings[name] for name in batch if name in bindings), 1)


def measured(
    asked: BenchCommand, plan: CellPlan, kept: KnownCells, reasons: Mapping[str, str]
) -> BenchReport:
    """Return one group's rows, from the ledger, where they are by now.

    What is not there has a row with its reason, which is not kept: it can be had another time.
    """
    rows = tuple(_refused(plan, name, why, "no time") for name, why in reasons.items())
    report = BenchReport(plan.baseline, rows, (), here(), asked.seed, "")
    missing = cells_of(report, plan.tasks, plan.labels)
    known = kept.known(plan.tasks)
    begun = _cut_off(plan, known, kept)
    cells = {one.measurement.subject: one for one in missing} | begun | known
    ordered = {name: cells[name] for name in plan.subjects}
    anchors = {one.session: one for name, one in begun.items() if name == plan.baseline}
    anchors = _anchors(plan, ordered, kept, anchors)
    found = report_of(ordered, anchors, baseline=plan.baseline, seed=asked.seed)
    return plan.shown(found)


def _cut_off(
    plan: CellPlan, known: Mapping[str, Finished], kept: KnownCells
) -> dict[str, Finished]:
    """Return the cells that were not finished, as far as rounds of them are kept; a note says so.

    The baseline that took turns with them is among them; of a group that is known nothing is.
    """
    if known.keys() >= plan.tasks.keys():
        return {}
    missing = {name: t for name, t in plan.tasks.items() if name not in known}
    asked = {**missing, plan.baseline: plan.tasks[plan.baseline]}
    _, found = kept.earlier(asked, plan.baseline)
    names = [name for name in found.cells if name in missing]
    if not names:
        return {}
    some = units.count(found.rounds, "round")
    others = f" and {units.count(len(names) - 1, 'other subject')}" if len(names) > 1 else ""
    note = f"{names[0]}{others}: cut off after {some}; the same command goes on with them"
    return {
        name: dataclasses.replace(
            cell,
            notes=(*cell.notes, note),
            measurement=dataclasses.replace(cell.measurement, cut_off=True),
        )
        for name, cell in found.cells.items()
    }


def needed(plan: CellPlan, kept: KnownCells, *, finishing: bool = False) -> tuple[str, ...]:
    """Return the cells to measure: those that are missing, and then always the baseline.

    It takes turns with them, again if need be: a cell is compared with a baseline of its own
    session only. `finishing`: those that had too few processes are missing, too.
    """
    known = kept.finished(plan.tasks) if finishing else kept.known(plan.tasks)
    missing = [name for name in plan.subjects if name not in known]
    return tuple(
        name for name in plan.subjects if missing and (name in missing or name == plan.baseline)
    )


def _anchors(
    plan: CellPlan,
    cells: Mapping[str, Finished],
    kept: KnownCells,
    begun: Mapping[str, Finished],
) -> dict[str, Finished]:
    """Return the baseline's cell of each session; `begun`: of a group that was cut off."""
    own = cells[plan.baseline]
    found = {own.session: own} | dict(begun)
    for session in dict.fromkeys(cell.session for cell in cells.values()):
        anchor = None if session in found else kept.anchor(session, own.task.key)
        if anchor is not None:
            found[session] = anchor
    return found


def fresh(
    asked: BenchCommand,
    plan: CellPlan,
    chosen: Sequence[str],
    share: TimeShare,
    progress: Progress,
    kept: KnownCells | None = None,
) -> tuple[Finished, ...]:
    """Measure cells together, and return them in order; some may say why they cannot be had.

    A budget that was asked for is kept, with all that comes before the first process. `kept`:
    where rounds are kept as they are finished, and where those of an earlier command are.
    """
    began = time.monotonic()
    feeds = feeds_of(plan.group.models[0], plan.group)
    subjects, refusals = _cast(plan, chosen)
    left = {name: left_out(one.model) for name, one in subjects.items()}
    baseline = plan.baseline if plan.baseline in subjects else next(iter(subjects), None)
    report = BenchReport(plan.baseline, (), (), here(), asked.seed, arrays_key(feeds.arrays))
    if baseline is not None:
        tasks = {name: plan.tasks[name] for name in subjects}
        written = plan.subjects[plan.baseline].model
        judge = judge_of([*subjects.values()], written, feeds) if asked.verify else None
        spent_s = 0.0 if asked.budget is None else time.monotonic() - began
        options = _thoroughness(asked, plan, share, spent_s)
        report = bench(
            [*subjects.values()],
            feeds,
            dataclasses.replace(options, baseline=baseline),
            judge=judge,
            progress=progress,
            journal=None
            if kept is None
            else kept.journal(tasks, baseline, partial(_cells, plan, left)),
        )
    refused = (_refused(plan, name, reason) for name, reason in refusals.items())
    rows = {one.subject: one for one in (*report.measurements, *refused)}
    asked_for = tuple(rows[name] for name in chosen)
    return _cells(plan, left, dataclasses.replace(report, measurements=asked_for))


def _thoroughness(
    asked: BenchCommand, plan: CellPlan, share: TimeShare, spent_s: float
) -> BenchOptions:
    left_s = max(0.0, share.seconds_s - spent_s)
    return BenchOptions(
        rounds=asked.rounds,
        blocks=asked.blocks,
        seed=asked.seed,
        budget_s=left_s,
        ends_s=None if asked.budget is None else left_s,
        whole_budget_s=share.of_s,
        items_per_call=plan.items_per_call,
        generate=plan.group.generate,
        limit_s=answer_limit_s(share.seconds_s if asked.budget else None, BenchOptions().limit_s),
    )


def _cells(plan: CellPlan, left: Mapping[str, str], report: BenchReport) -> tuple[Finished, ...]:
    """Return the cells of a report of this group, or of a round of it.

    `left`: what of each subject is not in the group's type.
    """
    labels, precision = plan.labels, plan.group.precision
    rows = tuple(
        dataclasses.replace(
            _noted(one, left.get(one.subject)), model=labels[one.subject], precision=precision
        )
        for one in report.measurements
    )
    whole = dataclasses.replace(report, measurements=rows, baseline=plan.baseline)
    return cells_of(whole, plan.tasks, labels)


def _noted(one: Measurement, note: str | None) -> Measurement:
    if not note or one.placement is None:
        return one
    placement = dataclasses.replace(one.placement, notes=(*one.placement.notes, note))
    return dataclasses.replace(one, placement=placement)


def _cast(plan: CellPlan, chosen: Sequence[str]) -> tuple[dict[str, BenchSubject], dict[str, str]]:
    """Return the subjects with models in the group's type, and why others cannot be had."""
    ready: dict[str, BenchSubject] = {}
    refusals: dict[str, str] = {}
    for name in chosen:
        subject = plan.subjects[name]
        if why := refusal(plan, name):
            refusals[name] = why
            continue
        try:
            model, precision = cast(subject.model, subject.engine, plan.group.precision)
        except ModelError as error:
            refusals[name] = f"{error.problem} ({error.hint})"
            continue
        options = dataclasses.replace(subject.options, precision=precision)
        ready[name] = dataclasses.replace(subject, model=model, options=options)
    return ready, refusals


def refusal(plan: CellPlan, name: str) -> str:
    """Return why a cell cannot be had, as far as that is known without trying; empty: it may."""
    engine = plan.subjects[name].engine
    available = ENGINES[engine].availability()
    if not available.ok:
        return f"{available.reason} ({available.remedy})"
    return obstacle(engine, plan.group.precision)


def process_s(cell: Finished, hung_s: float) -> float:
    """Return what one process of a cell took; one that hung, as long as it was waited for."""
    found = cell.measurement
    if not found.launches:
        return hung_s if found.status == "hung" else OPENING_S
    return _timed_s(found) + max(
        one.load_s + one.first_call_s + one.warmup_s for one in found.launches
    )


def another_s(cell: Finished, hung_s: float) -> float:
    """Return what one more process of a cell takes, for which the first has compiled."""
    found = cell.measurement
    if not found.launches or not found.samples_s:
        return process_s(cell, hung_s)
    alone = len(found.launches) == 1
    longest_s = statistics.median(found.samples_s) if alone else math.inf
    return _timed_s(found) + min(
        one.load_s + min(one.first_call_s, longest_s) + one.warmup_s for one in found.launches
    )


def _timed_s(found: Measurement) -> float:
    return math.fsum(found.samples_s) / len(found.launches)


def _refused(plan: CellPlan, name: str, reason: str, status: Status = "unsupported") -> Measurement:
    """Return the row of a cell that cannot be had, or not now."""
    subject, task = plan.subjects[name], plan.tasks[name]
    return Measurement(
        subject=name,
        model_key=task.model_key,
        engine=subject.engine,
        options=task.options,
        bindings=task.bindings,
        launches=(),
        blocks=(),
        placement=None,
        failure=reason,
        file=str(subject.model.onnx),
        status=status,
        items_per_call=plan.items_per_call,
        model=subject.model.label,
        precision=plan.group.precision,
    )
