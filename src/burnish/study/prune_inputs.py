"""Run models on calibration inputs: what products read, and how far outputs are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.core.arrays import Arrays
from burnish.core.progress import Progress
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds
from burnish.parity.compare import compare_tensor
from burnish.parity.exposed import Exposed
from burnish.parity.tolerances import Tolerances
from burnish.process.scratch import scratch
from burnish.prune.gram import Observer
from burnish.store.stored import StoredModel
from burnish.study.prune_report import SYNTHETIC, Calibration, OutputError
from burnish.study.requests.pruning import PruneCommand, SensitivityCommand
from burnish.study.requests.vocabulary import path, positive

ENGINE = "onnxruntime-cpu"
_AT_ONCE = 16
"""How many inner values one run gives out, which bounds the memory that it takes."""
_MOST_JUDGED = 8
_MOST_CHOOSING = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs to calibrate with, to choose by, and to judge by."""

    calibrating: tuple[Feeds, ...]
    choosing: tuple[Feeds, ...]
    """To choose between fits by: others than those to calibrate with, if there are enough."""
    judging: tuple[Feeds, ...]
    about: Calibration

    @property
    def every(self) -> tuple[Feeds, ...]:
        """Return all of them once, in the order in which they were given."""
        apart = self.calibrating if self.choosing is self.calibrating else self._both
        return (*apart, *self.judging) if self.about.held_out else apart

    @property
    def _both(self) -> tuple[Feeds, ...]:
        return (*self.calibrating, *self.choosing)


def inputs_of(model: StoredModel, asked: PruneCommand | SensitivityCommand) -> Inputs:
    """Return the inputs that a request asks for; of several, a quarter is held out to judge by.

    Of the others, a quarter is kept back to choose between fits by.
    """
    data = path(asked.data)
    every = choose(
        model,
        data=data,
        bindings=positive(asked.shape),
        seed=asked.seed,
        padding=asked.padding,
        samples=asked.samples,
    )
    held = min(len(every) // 4, _MOST_JUDGED)
    calibrating, judging = every[: len(every) - held], every[len(every) - held :] or every
    judging = judging if held else every
    source = SYNTHETIC if data is None else str(data)
    about = Calibration(len(calibrating), len(judging), source, held_out=held > 0)
    back = min(len(calibrating) // 4, _MOST_CHOOSING)
    choosing = calibrating[len(calibrating) - back :] if back else calibrating
    fitting = calibrating[: len(calibrating) - back] if back else calibrating
    return Inputs(fitting, choosing, judging, about)


def observe(
    model: StoredModel, observers: Sequence[Observer], feeds: Sequence[Feeds], progress: Progress
) -> None:
    """Let observers see what their products read in a model, on all of these inputs."""
    names = list(dict.fromkeys(one.product.summed.data.name or "" for one in observers))
    given = [one for one in observers if one.product.summed.data.is_graph_input()]
    for one in given:
        for own in feeds:
            one.add(own.arrays[one.product.summed.data.name or ""])
    names = [name for name in names if name not in feeds[0].arrays]
    with scratch("calibrate") as folder:
        exposed = Exposed(model, folder)
        for first in range(0, len(names), _AT_ONCE):
            chosen = names[first : first + _AT_ONCE]
            _observe(exposed, chosen, observers, feeds)
            progress.step("calibrate", min(first + _AT_ONCE, len(names)), len(names))


def _observe(
    exposed: Exposed, names: list[str], observers: Sequence[Observer], feeds: Sequence[Feeds]
) -> None:
    options = EngineOptions(graph_level="off")
    with exposed.giving(names) as one, open_session(ENGINE, one, options) as session:
        for own in feeds:
            values = session.run(own.arrays)
            for each in observers:
                name = each.product.summed.data.name or ""
                if name in values:
                    each.add(values[name])


def outputs(model: Path, feeds: Sequence[Feeds]) -> list[Arrays]:
    """Return what a model gives for inputs, as it is written."""
    options = EngineOptions(graph_level="off")
    with open_session(ENGINE, StoredModel(model, model.stem), options) as session:
        return [session.run(own.arrays) for own in feeds]


def errors(original: Sequence[Arrays], other: Sequence[Arrays]) -> tuple[OutputError, ...]:
    """Return how far each output is from the original's, over all inputs together."""
    found = []
    for name in original[0]:
        diffs = [
            compare_tensor(name, ours[name], theirs[name], Tolerances())
            for ours, theirs in zip(original, other, strict=True)
        ]
        agreements = [d.top1_agreement for d in diffs if d.top1_agreement is not None]
        found.append(
            OutputError(
                name,
                relative=relative(original, other, name),
                max_abs=max(diff.max_abs for diff in diffs),
                cosine=min(diff.cosine for diff in diffs),
                top1_agreement=float(np.mean(agreements)) if agreements else None,
            )
        )
    return tuple(found)


def relative(original: Sequence[Arrays], other: Sequence[Arrays], name: str) -> float:
    """Return the norm of the difference of an output over the norm of what it was."""
    change, norm = 0.0, 0.0
    for ours, theirs in zip(original, other, strict=True):
        before = np.asarray(ours[name], np.float64)
        change += float(np.sum((np.asarray(theirs[name], np.float64) - before) ** 2))
        norm += float(np.sum(before**2))
    return float(np.sqrt(change / (norm or 1.0)))
