"""Rewrite a model on disk into a better one, handed out only if it computes the same."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import CheckFailedError
from burnish.core.progress import SILENT, Progress
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest, answer
from burnish.parity.verdict import verdict
from burnish.rewrite.options import Conversion, OptimizeOptions
from burnish.rewrite.result import RewriteReport
from burnish.store import onnx_files
from burnish.store.history import History, Step
from burnish.store.stored import StoredModel
from burnish.study.check import CheckReport
from burnish.study.conversion import ConversionReport, comparable, converted, renamed
from burnish.study.trial import Trial, tried

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


class RejectedError(CheckFailedError):
    """The rewritten model does not compute the same, and was not written."""

    def __init__(self, problem: str, *, hint: str, report: OptimizeReport) -> None:
        super().__init__(problem, hint=hint)
        self.report = report


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
    says which rules of the user's own take part, how each fusion is tried, and who watches.
    """
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
                found.append(answer(_asked(request, pair, conversion), progress=progress))
            _require(dataclasses.replace(report, parity=found[0]), found[0])

    onnx_files.write(final, target, history=history, accept=accept)
    parity = found[0] if found else None
    return dataclasses.replace(report, target_key=onnx_files.content_key(target), parity=parity)


def _asked(
    request: VerifyRequest, pair: tuple[StoredModel, StoredModel], conversion: Conversion
) -> VerifyRequest:
    """Return what to compare; inner values only where they are of the same types in both."""
    bisect = conversion.half is None
    return dataclasses.replace(request, reference=pair[0], candidate=pair[1], bisect=bisect)


def _require(report: OptimizeReport, parity: VerifyReport) -> None:
    if parity.passed:
        return
    culprit = parity.bisection.culprit if parity.bisection else None
    if culprit is not None and culprit.rule:
        hint = f"leave out the rule that made {culprit.node!r}: --disable {culprit.rule}"
    elif culprit is not None:
        hint = (
            f"the runs part at {culprit.op_type} {culprit.node!r}; --no-verify writes it as it is"
        )
    elif report.conversion is not None and report.conversion.half:
        hint = (
            "see whether it is right without -p fp16; if so, keep more of it: --keep-fp32 "
            "Softmax,MatMul (operators or nodes)"
        )
    else:
        hint = "write it with --no-verify, and compare the two with burnish verify --bisect"
    raise RejectedError(
        f"{report.target} was not written: {verdict(parity)}", hint=hint, report=report
    )


def _summary(report: RewriteReport) -> str:
    return f"{report.nodes_before:,} → {report.nodes_after:,} nodes, {len(report.fusions)} fusions"


def _steps(report: RewriteReport, changed: ConversionReport | None) -> tuple[Step, ...]:
    """Return what goes into the model's own history."""
    fused = (Step("fuse", f"{rule} ×{count}") for rule, count in report.fusion_counts.items())
    cleaned = (Step(step.step, f"×{step.count}") for step in report.steps if step.count)
    return (*fused, *cleaned, *(() if changed is None else changed.steps))
