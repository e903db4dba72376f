"""Say what rewriting does to a model, what it leaves alone, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.core.progress import SILENT, Progress
from burnish.rewrite.leftovers import Leftover, leftovers
from burnish.rewrite.result import RewriteReport
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.check import CheckReport
from burnish.study.given import model_of
from burnish.study.requests.line import line
from burnish.study.requests.rewriting import ExplainCommand, OptimizeCommand
from burnish.study.rewriting import options_of_explain, rules_of
from burnish.study.trial import FusionTrial, tried

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ExplainReport:
    """Every fusion, every near miss, and every operator that fusions grow around and was left."""

    model: str
    source_key: str
    """The sha256 of the model's files."""
    rewrite: RewriteReport
    leftovers: tuple[Leftover, ...]
    check: CheckReport | None
    command: str
    """What acts on this."""


def answer(asked: ExplainCommand, *, progress: Progress = SILENT) -> ExplainReport:
    """Return what rewriting a model would do; nothing is written."""
    model = model_of(asked.model, asked.store)
    options = options_of_explain(asked)
    trial = FusionTrial(check=asked.trial, rules=rules_of(asked.rules))
    result, check = tried(onnx_files.read(model.onnx), options, trial)
    explained = {miss.node for miss in result.report.misses}
    return ExplainReport(
        model=model.label,
        source_key=onnx_files.content_key(model.onnx),
        rewrite=result.report,
        leftovers=leftovers(result.model, explained, options),
        check=check,
        command=_command(model, asked),
    )


def _command(model: StoredModel, asked: ExplainCommand) -> str:
    """Return the command that does what was told, with all that was asked."""
    return line(
        OptimizeCommand(
            model.onnx,
            output=Path(f"{model.onnx.stem}_optimized.onnx"),
            disable=asked.disable,
            only=asked.only,
            target=asked.target,
            ops=asked.ops,
            cost=asked.cost,
            trial=asked.trial,
            rules=asked.rules,
        )
    )
