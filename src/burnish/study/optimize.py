"""Rewrite a model on disk into a better one, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from burnish.core import files
from burnish.core.errors import CheckFailedError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import LEVELS
from burnish.engines.loading import highest_level, refusal
from burnish.parity import request as parity_of
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.verdict import verdict
from burnish.rewrite.options import Conversion, OptimizeOptions
from burnish.rewrite.passes import STEPS
from burnish.rewrite.result import Miss, RewriteReport
from burnish.store import onnx_files
from burnish.store.history import History, Step
from burnish.store.stored import StoredModel
from burnish.study import rewriting
from burnish.study.check import JUDGE, CheckReport
from burnish.study.conversion import ConversionReport, comparable, converted, renamed
from burnish.study.given import model_of
from burnish.study.requests.rewriting import OptimizeCommand
from burnish.study.requests.vocabulary import path, shapes
from burnish.study.trial import Trial, tried
from burnish.study.variant import share_data_sets, target_of

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """What was done to a model, where the result is, and whether it computes the same."""

    model: str
    source_key: str
    """The sha256 of the original's files."""
    target: Path
    target_key: str | None
    """The sha256 of what was written; None: nothing was."""
    rewrite: RewriteReport
    parity: VerifyReport | None
    """None: it was not asked for."""
    check: CheckReport | None = None
    """How the fusions fared that were tried on their own; None: it was not asked for."""
    conversion: ConversionReport | None = None
    """What else was changed; None: nothing was asked for."""


class RewriteRejectedError(CheckFailedError):
    """The rewritten model does not compute the same, and was not written."""

    def __init__(self, problem: str, *, hint: str, report: OptimizeReport, fault: str = "") -> None:
        super().__init__(problem, hint=hint)
        self.report = report
        self.fault = fault
        """How the engine fails with it, where it is not a difference; empty: it is one."""


def answer(asked: OptimizeCommand, *, progress: Progress = SILENT) -> OptimizeReport:
    """Rewrite a model into the asked file, or into a place of its own, and return what was done.

    Raises `RewriteRejectedError`, which has the report, where the result does not compute the same.
    """
    model = model_of(asked.model, asked.store)
    options = rewriting.options_of(asked)
    named = path(asked.output)
    target = named or target_of(model, rewriting.variant_suffix(options.conversion))
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
    report = optimize_file(
        model, target, options, request=request if asked.verify else None,
        trial=rewriting.trial_of(asked), progress=progress,
    )  # fmt: skip
    if named is None and not options.conversion.changes_types:
        share_data_sets(model, target)
    return report


def optimize_file(
    model: StoredModel,
    target: Path,
    options: OptimizeOptions = OptimizeOptions(),  # noqa: B008  (frozen)
    *,
    request: VerifyRequest | None = None,
    trial: Trial = Trial(),  # noqa: B008  (frozen)
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
    trial: Trial,
    progress: Progress,
) -> OptimizeReport:
    conversion = options.conversion
    result, check = tried(renamed(onnx_files.read(model.onnx), conversion), options, trial)
    final, changed = converted(result.model, options)
    progress.step("optimize", 1, 1, _summary(result.report))
    report = OptimizeReport(
        model=model.label,
        source_key=onnx_files.content_key(model.onnx),
        target=target,
        target_key=None,
        rewrite=result.report,
        parity=None,
        check=check,
        conversion=changed,
    )
    history = History(report.source_key, _steps(result.report, changed))
    found: list[VerifyReport] = []

    def accept(draft: Path) -> None:
        if request is not None:
            with comparable(model, StoredModel(draft, target.stem), conversion) as pair:
                runs = StoredModel(draft, target.stem) if conversion.changes_types else None
                _require_loading(report, runs or pair[1], pair[0])
                asked = dataclasses.replace(_asked(request, pair, conversion), runs=runs)
                found.append(_compared(asked, progress))
            _require(dataclasses.replace(report, parity=found[0]), found[0])

    onnx_files.write(final, target, history=history, accept=accept)
    parity = found[0] if found else None
    return dataclasses.replace(report, target_key=onnx_files.content_key(target), parity=parity)


def _compared(asked: VerifyRequest, progress: Progress) -> VerifyReport:
    """Return what was found; where the original crashes the engine as well, at a lower level."""
    level = highest_level(JUDGE, asked.runs or asked.candidate or asked.reference)
    if level not in (None, asked.options.graph_level):
        # `_require_loading` has seen that the original is refused there as well
        note = f"neither it nor the original loads at a level above {level}; compared at that"
        options = dataclasses.replace(asked.options, graph_level=level)
        found = parity_of.answer(dataclasses.replace(asked, options=options), progress=progress)
        return dataclasses.replace(found, notes=(*found.notes, note))
    found = parity_of.answer(asked, progress=progress)
    if found.crash is None:
        return found
    alone = dataclasses.replace(asked, candidate=None, runs=None, bisect=False)
    original = parity_of.answer(alone).crash
    if original is None:
        return found
    level = next((one for one in LEVELS if one == found.crash.runs_at), None)
    if level is not None:
        options = dataclasses.replace(asked.options, graph_level=level)
        found = parity_of.answer(dataclasses.replace(asked, options=options), progress=progress)
    where = f"compared at level {level}" if level else "there is no level at which both run"
    notes = (*found.notes, f"of the original, too: {original}; {where}")
    return dataclasses.replace(found, notes=notes)


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


def _asked(
    request: VerifyRequest, pair: tuple[StoredModel, StoredModel], conversion: Conversion
) -> VerifyRequest:
    """Return what to compare; inner values only where they are of the same types in both.

    Who asks for f16 asks to be judged by what f16 can do.
    """
    tolerances = request.tolerances
    if conversion.half is not None and tolerances.arithmetic is None:
        tolerances = dataclasses.replace(tolerances, arithmetic="f16")
    return dataclasses.replace(
        request,
        reference=pair[0],
        candidate=pair[1],
        bisect=conversion.half is None,
        tolerances=tolerances,
    )


def _require_loading(report: OptimizeReport, made: StoredModel, original: StoredModel) -> None:
    fault = refusal(JUDGE, made, original).replace(str(made.onnx), str(report.target))
    if fault:
        raise RewriteRejectedError(
            f"{report.target} was not written: {fault}",
            hint="try fewer fusions: --only NAME,… names those to apply",
            report=report,
            fault=fault,
        )


def _require(report: OptimizeReport, parity: VerifyReport) -> None:
    if parity.passed:
        return
    culprit = parity.bisection.culprit if parity.bisection else None
    if parity.crash is not None:
        hint = (
            "try fewer fusions: --only NAME,… names those to apply; --no-verify writes it as it is"
        )
    elif culprit is not None and culprit.rule:
        hint = f"leave out the rule that made {culprit.node!r}: --disable {culprit.rule}"
    elif culprit is not None:
        hint = (
            f"the runs part at {culprit.op_type} {culprit.node!r}; --no-verify writes it as it is"
        )
    elif report.conversion is not None and report.conversion.half:
        hint = (
            "see whether it is right without -p f16; if so, keep more of it: --keep-f32 "
            "Softmax,MatMul (operators or nodes)"
        )
    else:
        hint = "write it with --no-verify, and compare the two with burnish verify --bisect"
    raise RewriteRejectedError(
        f"{report.target} was not written: {verdict(parity)}", hint=hint, report=report,
        fault="" if parity.crash is None else str(parity.crash),
    )  # fmt: skip


def _summary(report: RewriteReport) -> str:
    return f"{report.nodes_before:,} → {report.nodes_after:,} nodes, {len(report.fusions)} fusions"


def _steps(report: RewriteReport, changed: ConversionReport | None) -> tuple[Step, ...]:
    """Return what goes into the model's own history."""
    fused = (Step("fuse", f"{rule} ×{count}") for rule, count in report.fusion_counts.items())
    cleaned = (Step(step.step, f"×{step.count}") for step in report.steps if step.count)
    return (*fused, *cleaned, *(() if changed is None else changed.steps))
