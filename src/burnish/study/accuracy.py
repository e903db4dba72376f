"""How well a model does its task before and after a change, where the user has labels."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import BurnishError, UsageError
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.parity.subject import JUDGE
from burnish.store.stored import StoredModel

Metric = Callable[[Arrays, Array], float]
"""Given the outputs of all inputs, one behind the other, and their labels: larger is better."""


@dataclass(frozen=True, slots=True)
class TaskAccuracy:
    """What a model scores on the user's labels, as it was and as it is now."""

    metric: str
    before: float
    after: float
    labels: int

    def __str__(self) -> str:
        return (
            f"{self.metric} on {self.labels:,} labels: {self.before:.2%} → {self.after:.2%} "
            f"({self.after - self.before:+.2%})"
        )


@dataclass(frozen=True, slots=True)
class Task:
    """Labels, and how outputs are scored by them."""

    labels: Array
    metric: str
    score: Metric


def task_of(labels: Path | None, metric: str, data: Path | None) -> Task | None:
    """Return what a model is to be scored by; None: there are no labels."""
    if labels is None:
        return None
    if data is None:
        raise UsageError(
            "--labels needs the inputs that they are of: made inputs have none",
            hint="add --data, an .npz file or a folder of test_data_set_N",
        )
    return Task(_read(labels), metric, METRICS.get(metric) or _loaded(metric))


@dataclass(frozen=True, slots=True)
class ScoredTask:
    """A task, and what the original scores on it.

    That is found before anything is changed, so that labels which do not fit the data, or a metric
    that fails, are told before work starts.
    """

    task: Task
    before: float

    def accuracy(self, changed: StoredModel, feeds: Sequence[Feeds]) -> TaskAccuracy:
        """Return what the original and a changed model score on the same inputs."""
        after = _score(changed, feeds, self.task)
        return TaskAccuracy(self.task.metric, self.before, after, int(self.task.labels.size))


def scored_task(original: StoredModel, feeds: Sequence[Feeds], task: Task) -> ScoredTask:
    """Return a task with what a model scores on labelled inputs, in the order of the inputs."""
    return ScoredTask(task, _score(original, feeds, task))


def top1(outputs: Arrays, labels: Array) -> float:
    """Return which part of the labels is the place of the largest score of the first output."""
    return float(np.mean(_predicted(outputs, labels) == labels))


def f1(outputs: Arrays, labels: Array) -> float:
    """Return the mean over classes of the harmonic mean of precision and recall."""
    predicted = _predicted(outputs, labels)
    scores = []
    for one in np.unique(labels):
        hits = float(np.sum((predicted == one) & (labels == one)))
        named = float(np.sum(predicted == one) + np.sum(labels == one))
        scores.append(2 * hits / named)
    return float(np.mean(scores))


METRICS: Mapping[str, Metric] = {"top1": top1, "f1": f1}


def _predicted(outputs: Arrays, labels: Array) -> Array:
    """Return the class with the largest score, from the first output that has one per label."""
    for array in outputs.values():
        if array.ndim == labels.ndim + 1 and array.shape[:-1] == labels.shape:
            found: Array = array.argmax(axis=-1)
            return found
    shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in outputs.items())
    raise UsageError(
        f"there are labels of shape {list(labels.shape)}, and no output with scores for each: "
        f"{shapes}",
        hint="give a label for each row of --data, or score with --metric FILE.py:FUNCTION",
    )


def _score(model: StoredModel, feeds: Sequence[Feeds], task: Task) -> float:
    with open_session(JUDGE, model, EngineOptions()) as session:
        ran = [session.run(fed.arrays) for fed in feeds]
    try:
        outputs = {name: np.concatenate([one[name] for one in ran]) for name in ran[0]}
    except ValueError as error:
        raise UsageError(
            f"the outputs of several inputs cannot be scored together: {error}",
            hint="pad the inputs of --data to one size",
        ) from error
    try:
        return float(task.score(outputs, task.labels))
    except BurnishError:
        raise
    except (Exception, SystemExit) as error:  # a function of the user may end in anything
        raise UsageError(
            f"the metric gives no number ({type(error).__name__}: {error})",
            hint="mend the function that --metric names: it takes outputs by name and labels, and"
            " gives one number",
        ) from error


def _read(path: Path) -> Array:
    hint = "save one array with numpy.save: the class of each row"
    try:
        found = np.load(path, allow_pickle=False)
        array = found if isinstance(found, np.ndarray) else found[found.files[0]]
    except (OSError, ValueError, IndexError, EOFError) as error:
        raise UsageError(f"{path}: holds no labels ({error})", hint=hint) from error
    if not array.size:
        raise UsageError(f"{path}: holds no labels (the array is empty)", hint=hint)
    return np.asarray(array)


def _loaded(spec: str) -> Metric:
    """Return the function of a Python file; running the file is the caller's wish."""
    place, _, name = spec.rpartition(":")
    hint = f"choose one of {', '.join(METRICS)}, or name a function: FILE.py:FUNCTION"
    if not place.endswith(".py") or not Path(place).is_file():
        raise UsageError(f"--metric {spec!r} is no metric and no function in a file", hint=hint)
    found = importlib.util.spec_from_file_location(f"burnish_metric_{Path(place).stem}", place)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    try:
        found.loader.exec_module(module)
        function: Metric = getattr(module, name)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{spec}: cannot be used: {type(error).__name__}: {error}", hint=hint
        ) from error
    return function
