"""Rewrite a model on disk into a better one, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core import files
from burnish.core.errors import CheckFailedError
from burnish.core.precisions import element_type
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import LEVELS
from burnish.engines.crash import Crash
from burnish.parity import request as parity_of
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.verdict import verdict
from burnish.process.scratch import scratch
from burnish.rewrite.options import Conversion, OptimizeOptions, PrecisionRequest
from burnish.rewrite.pipeline import RewriteResult
from burnish.rewrite.result import Miss, RewriteReport
from burnish.store import onnx_files
from burnish.store.history import History, Step
from burnish.store.stored import StoredModel
from burnish.study import rewriting
from burnish.study.check import JUDGE, CheckReport
from burnish.study.conversion import (
    ConversionReport,
    Seen,
    comparable,
    converted,
    renamed,
    runnable,
    with_reasons,
)
from burnish.study.deviation import DeviationReport, refusal
from burnish.study.fewer_bits import gain_of, repair_of, seen_in
from burnish.study.given import model_of
from burnish.study.int8_gain import Int8Gain
from burnish.study.moved import moved
from burnish.study.repair import Repair
from burnish.study.requests.rewriting import OptimizeCommand
from burnish.study.requests.vocabulary import path, shapes
from burnish.study.trial import Trial, tried
from burnish.study.variant import share_data_sets, size_bytes, target_of

SCHEMA = 2


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
    deviation: DeviationReport | None = None
    """How far results moved, where that was asked for; then `parity` is of the model before."""
    gain: Int8Gain | None = None
    """What int8 was predicted to give on this machine; None: it was not asked for, or not known."""
    repair: Repair | None = None
    """What had to go back to f32 for results to be the same; None: nothing had to."""
    source_bytes: int = 0
    """What the original takes on disk, weights included."""
    target_bytes: int = 0
    """What was written takes; 0: nothing was."""


class RewriteRejectedError(CheckFailedError):
    """The rewritten model does not compute the same, and was not written."""

    def __init__(self, problem: str, *, hint: str, report: OptimizeReport) -> None:
        super().__init__(problem, hint=hint)
        self.report = report


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
    without which the engine does not crash is left out.
    """
    isolated.start(JUDGE)

    def attempt(chosen: OptimizeOptions) -> OptimizeReport:
        return _attempt(model, target, chosen, request=request, trial=trial, progress=progress)

    try:
        return attempt(options)
    except RewriteRejectedError as rejected:
        parity = rejected.report.parity
        if parity is None or parity.crash is None:
            raise
        for rule in rejected.report.rewrite.fusion_counts:
            with suppress(RewriteRejectedError):
                without = attempt(dataclasses.replace(options, disable=(*options.disable, rule)))
                return _left_out(without, rule, rejected.report, parity.crash)
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
    source = renamed(onnx_files.read(model.onnx), options.conversion)
    result, check = tried(source, options, trial)
    progress.step("optimize", 1, 1, _summary(result.report))
    gain = gain_of(result.model, model, options)
    if gain is not None:
        progress.step("probe", 1, 1, str(gain))
    made = _Made(model, target, result, check, seen_in(result.model, model, options, request), gain)
    numbers, repair = (
        options.conversion.half,
        repair_of(made.result.model, made.model, options, request, made.seen),
    )
    if repair is None or numbers is None:
        return _written(made, options, request, progress)
    progress.step("repair", 1, 1, f"{len(repair.keep)} nodes stay in fp32")
    more = dataclasses.replace(numbers, keep=(*numbers.keep, *repair.keep))
    conversion = dataclasses.replace(options.conversion, numbers=more)
    again = dataclasses.replace(options, conversion=conversion)
    report = _written(made, again, request, progress)
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
    judge = _Judge(model, result.model, options, request, report, progress)
    onnx_files.write(final, target, history=history, accept=judge)
    return dataclasses.replace(
        judge.report,
        target_key=onnx_files.content_key(target),
        target_bytes=size_bytes(target),
    )


@dataclass(slots=True)
class _Judge:
    """Accepts a draft, or raises what the user should read; keeps what was found."""

    model: StoredModel
    rewritten: ir.Model
    """Before its numbers were changed."""
    options: OptimizeOptions
    request: VerifyRequest | None
    report: OptimizeReport
    progress: Progress

    def __call__(self, draft: Path) -> None:
        """Compare a draft with the original."""
        candidate = StoredModel(draft, self.report.target.stem)
        conversion = self.options.conversion
        if self.request is None:
            return
        if conversion.integers is None:
            with runnable(candidate, conversion, self.request) as (found, seen_as, request):
                self._require_equal(found, seen_as, request)
            return
        with scratch("optimize") as folder:
            plain = dataclasses.replace(conversion, numbers=None)
            options = dataclasses.replace(self.options, conversion=plain)
            path = folder / draft.name
            onnx_files.write(converted(self.rewritten, options)[0], path, history=History("", ()))
            before = dataclasses.replace(candidate, onnx=path)
            self._require_equal(before, plain, self.request)
        self._require_near(candidate, conversion.integers, self.request)

    def _require_equal(
        self, candidate: StoredModel, conversion: Conversion, request: VerifyRequest
    ) -> None:
        with comparable(self.model, candidate, conversion) as pair:
            runs = candidate if conversion.changes_types else None
            asked = dataclasses.replace(_asked(request, pair, conversion), runs=runs)
            found = _compared(asked, self.progress)
        self.report = dataclasses.replace(self.report, parity=found)
        _require(self.report, found)

    def _require_near(
        self, candidate: StoredModel, numbers: PrecisionRequest, request: VerifyRequest
    ) -> None:
        with comparable(self.model, candidate, self.options.conversion) as (original, changed):
            found = moved(original, changed, request, numbers, progress=self.progress)
        self.report = dataclasses.replace(self.report, deviation=found)
        if not found.passed:
            raise RewriteRejectedError(
                f"{self.report.target} was not written: in {numbers.precision}, {refusal(found)}",
                hint="keep what matters most in fp32 with --keep-fp32 NAME,…; or allow more: "
                f"--max-error {_above(found)}",
                report=self.report,
            )


def _above(found: DeviationReport) -> str:
    """Return a bound, to be written, that what was found would keep."""
    worst = found.worst
    return "0.5" if worst is None or worst.relative > 0.5 else f"{worst.relative * 1.1:.2g}"


def _compared(asked: VerifyRequest, progress: Progress) -> VerifyReport:
    """Return what was found; where the original crashes the engine as well, at a lower level."""
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


def _left_out(
    report: OptimizeReport, rule: str, rejected: OptimizeReport, crash: Crash
) -> OptimizeReport:
    """Return a report that says of each place of a rule why it was left alone."""
    misses = tuple(
        Miss(rule, fusion.node, f"with it, {crash}", f"none needed: {rule} was left out")
        for fusion in rejected.rewrite.fusions
        if fusion.rule == rule
    )
    rewrite = dataclasses.replace(report.rewrite, misses=(*report.rewrite.misses, *misses))
    return dataclasses.replace(report, rewrite=rewrite)


def _asked(
    request: VerifyRequest, pair: tuple[StoredModel, StoredModel], conversion: Conversion
) -> VerifyRequest:
    """Return what to compare; inner values only where they are of the same types in both.

    Who asks for fewer bits asks to be judged by what they can do.
    """
    tolerances = request.tolerances
    if conversion.half is not None and tolerances.arithmetic is None:
        arithmetic = element_type(conversion.half.precision)
        tolerances = dataclasses.replace(tolerances, arithmetic=arithmetic)
    return dataclasses.replace(
        request,
        reference=pair[0],
        candidate=pair[1],
        bisect=conversion.half is None,
        tolerances=tolerances,
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
    elif report.conversion is not None and report.conversion.numbers is not None:
        hint = (
            f"see whether it is right without -p {report.conversion.numbers.precision}; if so, "
            "keep more of it: --keep-fp32 Softmax,MatMul (operators, nodes or patterns), or its "
            "inputs and outputs: --keep-io"
        )
    else:
        hint = "write it with --no-verify, and compare the two with burnish verify --bisect"
    raise RewriteRejectedError(
        f"{report.target} was not written: {verdict(parity)}", hint=hint, report=report
    )


def _summary(report: RewriteReport) -> str:
    return f"{report.nodes_before:,} → {report.nodes_after:,} nodes, {len(report.fusions)} fusions"


def _steps(report: RewriteReport, changed: ConversionReport | None) -> tuple[Step, ...]:
    """Return what goes into the model's own history."""
    fused = (Step("fuse", f"{rule} ×{count}") for rule, count in report.fusion_counts.items())
    cleaned = (Step(step.step, f"×{step.count}") for step in report.steps if step.count)
    return (*fused, *cleaned, *(() if changed is None else changed.steps))
