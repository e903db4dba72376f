"""Say what rewriting does to a model, what it leaves alone, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burnish.core.progress import SILENT, Progress
from burnish.rewrite.leftovers import Leftover, leftovers
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.result import RewriteReport
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.check import CheckReport
from burnish.study.given import model_of
from burnish.study.requests.rewriting import ExplainCommand
from burnish.study.rewriting import options_of_explain, rules_of
from burnish.study.trial import Trial, tried

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
    trial = Trial(check=asked.trial, rules=rules_of(asked.rules))
    result, check = tried(onnx_files.read(model.onnx), options, trial)
    explained = {miss.node for miss in result.report.misses}
    return ExplainReport(
        model=model.label,
        source_key=onnx_files.content_key(model.onnx),
        rewrite=result.report,
        leftovers=leftovers(result.model, explained),
        check=check,
        command=" ".join(_command(model, options)),
    )


def _command(model: StoredModel, options: OptimizeOptions) -> Iterator[str]:
    yield f"burnish optimize {model.onnx} -o {model.onnx.stem}_optimized.onnx"
    defaults = OptimizeOptions()
    for name in ("target", "ops", "cost"):
        if getattr(options, name) != getattr(defaults, name):
            yield f"--{name} {getattr(options, name)}"
    for name in ("disable", "only"):
        if getattr(options, name):
            yield f"--{name} {','.join(getattr(options, name))}"
