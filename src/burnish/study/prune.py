"""Make a model smaller by cutting what matters least, and say what that costs."""

from __future__ import annotations

import dataclasses

from burnish.core import files
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.prune.choose import chosen
from burnish.prune.cut import Kept, Weights, cut, reweighted
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.accuracy import scored_task, task_of
from burnish.study.given import model_of
from burnish.study.prune_cut import (
    Prunable,
    calibrated,
    cut_axes,
    left_of,
    prunable,
    scored,
)
from burnish.study.prune_error import within_error
from burnish.study.prune_fit import fitted_weights
from burnish.study.prune_goal import Goal, check, goal_of
from burnish.study.prune_inputs import ENGINE, inputs_of
from burnish.study.prune_latency import side_by_side
from burnish.study.prune_masks import masked
from burnish.study.prune_report import MeasuredLatency, PruneReport
from burnish.study.prune_write import PruneTask, Smaller, written
from burnish.study.requests.pruning import PruneCommand
from burnish.study.requests.vocabulary import path
from burnish.study.variant import require_apart, target_of

SUFFIX = "pruned"


def answer(asked: PruneCommand, *, progress: Progress = SILENT) -> PruneReport:
    """Cut a model into the asked file, or into a place of its own, and return what that cost."""
    check(asked)
    model = model_of(asked.model, asked.store)
    named = path(asked.output)
    target = named or target_of(model, SUFFIX)
    require_apart(model, target)
    files.check_file(target, None if named else onnx_files.OWN)
    labelled = task_of(path(asked.labels), asked.metric, path(asked.data))
    isolated.start(ENGINE)
    task = PruneTask(asked, model, target, inputs_of(model, asked), progress)
    first = None if labelled is None else scored_task(model, task.inputs.every, labelled)
    report = _structured(task) if asked.method == "structured" else masked(task)
    if first is None:
        return report
    made = StoredModel(target, target.stem)
    return dataclasses.replace(report, accuracy=first.accuracy(made, task.inputs.every))


def _structured(task: PruneTask) -> PruneReport:
    """Cut axes until the goal is met."""
    asked, inputs = task.asked, task.inputs
    one = prunable(task.model, inputs.calibrating[0])
    goal = goal_of(one, asked, inputs, task.progress)
    axes = calibrated(one, inputs.calibrating, task.progress)
    worth = scored(axes, asked.score)
    kept: Kept = (
        chosen(worth, goal.cost, goal.target)
        if asked.max_error is None
        else within_error(one, axes, worth, task)
    )
    found = fitted_weights(one, axes, kept, task)
    report = written(task, _smaller(one, kept, found.weights, found.zeros))
    return dataclasses.replace(
        report,
        cut=cut_axes(axes, kept, found.weights),
        latency=_latency(task, goal, kept),
        notes=found.notes,
    )


def _smaller(one: Prunable, kept: Kept, weights: Weights, zeros: Weights) -> Smaller:
    before, after = one.work.flops({}), one.work.flops(left_of(kept))
    return Smaller(
        cut(one.flow, kept, weights),
        twin=reweighted(one.flow.model, weights),
        zeroed=None if weights is zeros else reweighted(one.flow.model, zeros),
        about=f"{after / before:.0%} of the operations kept",
        flops=(before, after),
    )


def _latency(task: PruneTask, goal: Goal, kept: Kept) -> MeasuredLatency | None:
    """Return how long both take, where a latency was the goal."""
    if goal.table is None:
        return None
    after = StoredModel(task.target, task.target.stem)
    return side_by_side(
        task.model, after, task.inputs.calibrating[0], threads=task.asked.threads,
        predicted=goal.table.whole_s / goal.cost(left_of(kept)),
    )  # fmt: skip
