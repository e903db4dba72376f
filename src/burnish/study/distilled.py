"""Try rewriting on a small model that `burnish distill` has written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from burnish.parity.report import VerifyReport
from burnish.parity.verify import JudgedSubject, verify_recorded
from burnish.process.scratch import scratch
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.result import RewriteReport
from burnish.store import layout, onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.trial import FusionTrial, tried


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What rewriting did to a small model, and whether it still gives what was recorded."""

    report: RewriteReport
    parity: VerifyReport


def rewritten(
    path: Path,
    options: OptimizeOptions = OptimizeOptions(),  # noqa: B008  (frozen)
    trial: FusionTrial = FusionTrial(),  # noqa: B008  (frozen)
) -> Rewritten:
    """Return how rewriting fares with the model at `path` and the data beside it."""
    model = layout.stored(path)
    result, _ = tried(onnx_files.read(model.onnx), options, trial)
    with scratch("distilled") as folder:
        target = folder / path.name
        onnx_files.write(result.model, target, history=History("", ()))
        subject = JudgedSubject(StoredModel(target, model.name))
        return Rewritten(result.report, verify_recorded(subject, model.data_sets))
