"""Rewrite a model on disk into a better one, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from burnish.core import files, units
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.sizes import JUDGE
from burnish.parity.request import VerifyRequest
from burnish.rewrite.options import Conversion, OptimizeOptions
from burnish.rewrite.passes import STEPS
from burnish.rewrite.pipeline import RewriteResult
from burnish.rewrite.result import Miss, RewriteReport
from burnish.store import onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel
from burnish.study import rewriting
from burnish.study.acceptance import Acceptance
from burnish.study.accuracy import ScoredTask, Task, TaskAccuracy, scored_task, task_of
from burnish.study.check import CheckReport
from burnish.study.conversion import (
    ConversionReport,
    Seen,
    comparable,
    converted,
    renamed,
    with_reasons,
    without_functions,
)
from burnish.study.fewer_bits import gain_of, repair_after, repair_of, seen_in
from burnish.study.given import model_of
from burnish.study.int8_gain import Int8Gain
from burnish.study.moved import feeds_of
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.repair import Repair
from burnish.study.repair_integers import keeping
from burnish.study.requests.rewriting import OptimizeCommand
from burnish.study.requests.vocabulary import path, shapes
from burnish.study.trial import FusionTrial, tried
from burnish.study.variant import require_apart, share_data_sets, size_bytes, target_of


def answer(asked: OptimizeCommand, *, progress: Progress = SILENT) -> OptimizeReport:
    """Rewrite a model into the asked file, or into a place of its own, and return what was done.

    Raises `RewriteRejectedError`, which has the report, where the result does not compute the same.
    """
    model = model_of(asked.model, asked.store)
    options = rewriting.options_of(asked)
    named = path(asked.output)
    target = named or target_of(model, rewriting.variant_suffix(options.conversion))
    require_apart(model, target)
    files.check_file(target, None if named else onnx_files.OWN)
    request = VerifyRequest(
        model,
        shapes=shapes(asked.shape),
        samples=asked.samples,
        seed=asked.seed,
        padding=asked.padding,
        data=path(asked.data),
        budget_s=asked.budget or 0.0,
    )
    task = task_of(path(asked.labels), asked.metric, request.data)
    first = None if task is None else _scored_first(model, options, request, task)
    report = optimize_file(
        model, target, options, request=request if asked.verify else None,
        trial=rewriting.trial_of(asked), progress=progress,
    )  # fmt: skip
    if first is not None:
        accuracy = _scored(model, report, options, request, first)
        report = dataclasses.replace(report, accuracy=accuracy)
    if named is None and not options.conversion.changes_types:
        share_data_sets(model, target)
    return report


def _scored_first(
    model: StoredModel, options: OptimizeOptions, request: VerifyRequest, task: Task
) -> ScoredTask:
    """Return what the original scores on the user's labels."""
    only_named = Conversion(axes=options.conversion.axes)
    with comparable(model, model, only_named) as (original, _):
        return scored_task(original, feeds_of(original, request), task)


def _scored(
    model: StoredModel,
    report: OptimizeReport,
    options: OptimizeOptions,
    request: VerifyRequest,
    first: ScoredTask,
) -> TaskAccuracy:
    """Return what the original and what was made of it score on the user's labels."""
    made = StoredModel(report.target, report.target.stem)
    with comparable(model, made, options.conversion) as (original, changed):
        return first.accuracy(changed, feeds_of(original, request))


def optimize_file(
    model: StoredModel,
    target: Path,
    options: OptimizeOptions = OptimizeOptions(),  # noqa: B008  (frozen)
    *,
    request: VerifyRequest | None = None,
    trial: FusionTrial = FusionTrial(),  # noqa: B008  (frozen)
    progress: Progress = SILENT,
) -> OptimizeReport:
    """Rewrite `model` into `target`; with a `request`, only if that finds no difference.

    The request says with which inputs and tolerances; its models are filled in here. `trial`
    says which rules of the user's own take part, how each fusion is tried, and who watches. A rule
    or step without which the engine loads the result at each of its levels, and does not crash, is
    left out.
    """
    isolated.start(JUDGE)

    def attempt(chosen: OptimizeOptions) -> OptimizeReport:
        return _attempt(model, target, chosen, request=request, trial=trial, progress=progress)

    try:
        return attempt(options)
    except RewriteRejectedError as rejected:
        if not rejected.fault:
            raise
        for suspects in _suspected(rejected.report.rewrite):
            with suppress(RewriteRejectedError):
                without = (*options.disable, *suspects)
                report = attempt(dataclasses.replace(options, disable=without))
                return _left_out(report, suspects, rejected.report, rejected.fault)
        raise


def _attempt(
    model: StoredModel,
    target: Path,
    options: OptimizeOptions,
    *,
    request: VerifyRequest | None,
    trial: FusionTrial,
    progress: Progress,
) -> OptimizeReport:
    source = renamed(onnx_files.read(model.onnx), options.conversion)
    result, check = tried(source, without_functions(options), trial)
    progress.step("optimize", 1, 1, _summary(result.report))
    gain = gain_of(result.model, model, options)
    if gain is not None:
        progress.step("probe", 1, 1, str(gain))
    seen = seen_in(result.model, model, options, request)
    made = _Made(model, target, result, check, seen, gain)
    repair = repair_of(result.model, model, options, request, seen)
    try:
        return _repaired(made, options, repair, request, progress)
    except RewriteRejectedError as rejected:
        again = repair_after(rejected, result.model, model, options, request, seen)
        if again is None:
            raise
        return _repaired(made, options, again, request, progress)


def _repaired(
    made: _Made,
    options: OptimizeOptions,
    repair: Repair | None,
    request: VerifyRequest | None,
    progress: Progress,
) -> OptimizeReport:
    """Write a model of which some nodes stay in fp32, if any must, and say of each why."""
    if repair is None:
        return _written(made, options, request, progress)
    progress.step("repair", 1, 1, f"{len(repair.keep)} nodes stay in fp32")
    report = _written(made, keeping(options, repair.keep), request, progress)
    changed = with_reasons(report.conversion, repair.reasons)
    return dataclasses.replace(report, conversion=changed, repair=repair)


@dataclass(frozen=True, slots=True)
class _Made:
    """A rewritten model, before its numbers are changed."""

    model: StoredModel
    target: Path
    result: RewriteResult
    check: CheckReport | None
    seen: Seen
    gain: Int8Gain | None


def _written(
    made: _Made, options: OptimizeOptions, request: VerifyRequest | None, progress: Progress
) -> OptimizeReport:
    """Change a model's numbers, and write it if it is accepted."""
    model, target, result = made.model, made.target, made.result
    final, changed = converted(result.model, options, made.seen)
    report = OptimizeReport(
        model=model.label,
        source_key=onnx_files.content_key(model.onnx),
        target=target,
        target_key=None,
        rewrite=result.report,
        parity=None,
        check=made.check,
        gain=made.gain,
        conversion=changed,
        source_bytes=size_bytes(model.onnx),
    )
    history = History(report.source_key, _steps(result.report, changed))
    judge = Acceptance(model, result.model, options, request, report, progress)
    key = onnx_files.write(final, target, history=history, accept=judge)
    return dataclasses.replace(judge.report, target_key=key, target_bytes=size_bytes(target))


def _suspected(rewrite: RewriteReport) -> Iterator[tuple[str, ...]]:
    """Yield what may be at fault: each rule that was applied, each step that did something, all."""
    steps = [step.step for step in rewrite.steps if step.count and step.step in STEPS]
    suspects = (*rewrite.fusion_counts, *steps)
    yield from ((suspect,) for suspect in suspects)
    if len(suspects) > 1:
        yield suspects


def _left_out(
    report: OptimizeReport, names: tuple[str, ...], rejected: OptimizeReport, fault: str
) -> OptimizeReport:
    """Return a report that says of each place of what was left out why that is."""
    places = [(fusion.rule, fusion.node) for fusion in rejected.rewrite.fusions]
    places += [(name, "") for name in names if name not in rejected.rewrite.fusion_counts]
    misses = tuple(
        Miss(name, node, f"with it, {fault}", f"none needed: {name} was left out")
        for name, node in places
        if name in names
    )
    rewrite = dataclasses.replace(report.rewrite, misses=(*report.rewrite.misses, *misses))
    return dataclasses.replace(report, rewrite=rewrite)


def _summary(report: RewriteReport) -> str:
    after, fusions = units.count(report.nodes_after, "node"), len(report.fusions)
    return f"{report.nodes_before:,} → {after}, {units.count(fusions, 'fusion')}"


def _steps(report: RewriteReport, changed: ConversionReport | None) -> tuple[HistoryStep, ...]:
    """Return what goes into the model's own history."""
    fused = (
        HistoryStep("fuse", f"{rule} ×{count}") for rule, count in report.fusion_counts.items()
    )
    cleaned = (HistoryStep(step.step, f"×{step.count}") for step in report.steps if step.count)
    return (*fused, *cleaned, *(() if changed is None else changed.steps))
