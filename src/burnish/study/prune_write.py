"""Write a model that was changed on purpose: checked against its twin, its errors measured."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import CheckFailedError
from burnish.core.progress import Progress
from burnish.infer.constants import constant_tensor
from burnish.parity import request as parity_of
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.verdict import verdict
from burnish.process.scratch import scratch
from burnish.store import external_data, onnx_files
from burnish.store.history import PRUNED, History, HistoryStep
from burnish.store.stored import StoredModel
from burnish.study.prune_inputs import Inputs, errors, outputs
from burnish.study.prune_report import OutputError, PruneReport, Size
from burnish.study.requests.pruning import PruneCommand
from burnish.study.requests.vocabulary import path


class PruneRejectedError(CheckFailedError):
    """The smaller model does not compute what its twin does, and was not written."""


@dataclass(frozen=True, slots=True)
class PruneTask:
    """What is to be pruned, with which inputs, and where the result goes."""

    asked: PruneCommand
    model: StoredModel
    target: Path
    inputs: Inputs
    progress: Progress


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller model, and by what it is judged."""

    model: ir.Model
    twin: ir.Model
    """The same function at the old sizes."""
    zeroed: ir.Model | None
    """The twin with what is left not fitted; None: it was not fitted."""
    about: str
    """For the model's own history."""
    flops: tuple[float, float] | None = None
    """Of an inference, before and after."""


def written(task: PruneTask, smaller: Smaller) -> PruneReport:
    """Write a smaller model if it computes what its twin does; return what that cost."""
    source = onnx_files.content_key(task.model.onnx)
    history = History(source, (HistoryStep(PRUNED, smaller.about),))
    before = outputs(task.model.onnx, task.inputs.judging)
    found: list[VerifyReport] = []
    with scratch("prune") as folder:
        unfitted = None
        if smaller.zeroed is not None:
            zeroed = folder / "zeroed.onnx"
            onnx_files.write(smaller.zeroed, zeroed, history=history)
            unfitted = errors(before, outputs(zeroed, task.inputs.judging))

        def accept(draft: Path) -> None:
            if task.asked.verify:
                twin = folder / "twin.onnx"
                onnx_files.write(smaller.twin, twin, history=history)
                found.append(_same(StoredModel(twin, "its twin with zeros"), draft, task))

        key = onnx_files.write(smaller.model, task.target, history=history, accept=accept)
    after = errors(before, outputs(task.target, task.inputs.judging))
    flops = smaller.flops or (None, None)
    return PruneReport(
        model=task.model.label,
        source_key=source,
        target=task.target,
        target_key=key,
        method=task.asked.method,
        before=_size(task.model.onnx, flops[0]),
        after=_size(task.target, flops[1]),
        cut=(),
        errors=after if unfitted is None else _beside(after, unfitted),
        calibration=task.inputs.about,
        parity=found[0] if found else None,
    )


def _beside(
    own: tuple[OutputError, ...], unfitted: tuple[OutputError, ...]
) -> tuple[OutputError, ...]:
    return tuple(
        dataclasses.replace(one, relative_unfitted=other.relative)
        for one, other in zip(own, unfitted, strict=True)
    )


def _same(twin: StoredModel, draft: Path, task: PruneTask) -> VerifyReport:
    """Return the comparison of a smaller model with its twin; it is an error if they differ."""
    asked = task.asked
    request = VerifyRequest(
        twin,
        StoredModel(draft, task.target.stem),
        shapes=(asked.shape,) if asked.shape else (),
        samples=2,
        seed=asked.seed,
        padding=asked.padding,
        data=path(asked.data),
        budget_s=asked.budget or 0.0,
    )
    report = parity_of.answer(request, progress=task.progress)
    if not report.passed:
        raise PruneRejectedError(
            f"{task.target} was not written: {verdict(report)}",
            hint="this is a bug in burnish; write it all the same with --no-verify",
        )
    return report


def _size(model: Path, flops: float | None) -> Size:
    read = onnx_files.read(model)
    made = [value for node in read.graph for value in node.outputs]
    tensors = [constant_tensor(value) for value in (*read.graph.initializers.values(), *made)]
    parameters = sum(tensor.size for tensor in tensors if tensor is not None)
    files = (model, *external_data.files(read))
    return Size(flops, parameters, sum(file.stat().st_size for file in files))
