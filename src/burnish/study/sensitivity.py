"""Try what could be cut, one thing at a time and all together: error against predicted gain."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from burnish.core import files
from burnish.core.arrays import Arrays
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.feeds.feed import Feeds
from burnish.process.scratch import scratch
from burnish.prune.blocks import residual_blocks, without_block
from burnish.prune.choose import Scored, chosen, smallest
from burnish.prune.cut import Kept, reweighted
from burnish.report.charts.pareto import ParetoPoint, chart, front
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study.given import model_of
from burnish.study.prune_cut import (
    Calibrated,
    Prunable,
    calibrated,
    left_of,
    new_weights,
    prunable,
    scored,
)
from burnish.study.prune_inputs import ENGINE, errors, inputs_of, outputs
from burnish.study.requests.pruning import SensitivityCommand
from burnish.study.requests.vocabulary import path
from burnish.study.sensitivity_report import SensitivityReport, Trade

_SHARES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
_WHAT_IF = (
    "blocks are what-ifs: their branches were made to add nothing, and no command leaves them out"
)


def answer(asked: SensitivityCommand, *, progress: Progress = SILENT) -> SensitivityReport:
    """Return for each axis, each residual branch, and several sizes of the whole what they cost."""
    model = model_of(asked.model, asked.store)
    isolated.start(ENGINE)
    inputs = inputs_of(model, asked)
    one = prunable(model, inputs.calibrating[0])
    axes = calibrated(one, inputs.calibrating, progress)
    subject = _Subject(one, axes, scored(axes, asked.score))
    before = outputs(model.onnx, inputs.judging)
    candidates = tuple(_candidates(subject))
    found = []
    for number, each in enumerate(candidates, start=1):
        error = _error(each.model(), before, inputs.judging)
        found.append(Trade(each.what, each.name, each.detail, each.saved, error, on_front=False))
        progress.step("try", number, len(candidates), each.name)
    target = path(asked.output)
    if target is not None:
        files.write_text(target, chart([_choice(trade) for trade in found]))
    notes = (_WHAT_IF,) if any(trade.what == "block" for trade in found) else ()
    return SensitivityReport(model.label, _marked(found), inputs.about, target, notes)


@dataclass(frozen=True, slots=True)
class _Subject:
    one: Prunable
    axes: Sequence[Calibrated]
    worth: Sequence[Scored]

    def saved(self, kept: Kept) -> float:
        """Return the share of the operations that a cut saves."""
        return 1 - self.one.work.flops(left_of(kept)) / self.one.work.flops({})

    def cut(self, kept: Kept) -> Callable[[], ir.Model]:
        """Return what makes the twin of a cut, which computes the same."""
        return lambda: reweighted(self.one.flow.model, new_weights(self.axes, kept, "fitted"))


@dataclass(frozen=True, slots=True)
class _Candidate:
    what: Literal["whole", "axis", "block"]
    name: str
    detail: str
    saved: float
    model: Callable[[], ir.Model]


def _candidates(subject: _Subject) -> Iterator[_Candidate]:
    one = subject.one
    whole = one.work.flops({})
    least = one.work.flops(smallest(one.found.axes)) / whole
    for share in (share for share in _SHARES if share > least):
        kept = chosen(subject.worth, one.work.flops, share * whole)
        detail = f"--keep {share:g}"
        yield _Candidate("whole", "all axes", detail, subject.saved(kept), subject.cut(kept))
    for own in subject.worth:
        half = max(own.axis.size // 2, 1)
        units: Kept = {own.axis.dim: own.best(half)}
        detail = f"{own.axis.kind} {own.axis.size} → {half}"
        name = own.axis.name
        yield _Candidate("axis", name, detail, subject.saved(units), subject.cut(units))
    for block in residual_blocks(one.flow):
        saved = one.work.of_nodes(block.nodes) / whole
        yield _Candidate(
            "block", block.name, f"{len(block.nodes)} nodes", saved,
            functools.partial(without_block, one.flow.model, block),
        )  # fmt: skip


def _error(model: ir.Model, before: Sequence[Arrays], feeds: Sequence[Feeds]) -> float:
    """Return the relative error of the worst output of a changed model."""
    with scratch("try") as folder:
        file = folder / "changed.onnx"
        onnx_files.write(model, file, history=History("", ()))
        return max(own.relative for own in errors(before, outputs(file, feeds)))


def _choice(trade: Trade) -> ParetoPoint:
    return ParetoPoint(f"{trade.name}, {trade.detail}", trade.saved, trade.error)


def _marked(trades: Sequence[Trade]) -> tuple[Trade, ...]:
    best = set(front([_choice(trade) for trade in trades]))
    return tuple(dataclasses.replace(one, on_front=_choice(one) in best) for one in trades)
