"""How far a model that was changed on purpose is from its original: figures, and a bound on them.

In fewer bits, or with fewer weights, a model does not compute the same, and is not judged as if it
should: what is told is how far each output moved, and what is allowed is the user's to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from burnish.core.arrays import Array
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions, GraphLevel
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.parity.compare import compare
from burnish.parity.report import TensorDiff
from burnish.parity.subject import JUDGE
from burnish.parity.tolerances import Tolerances
from burnish.store.stored import StoredModel

SCHEMA = 1
SYNTHETIC = "synthetic: accuracy not proven"
"""What is said of inputs that were made, which say nothing about the model's task."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class OutputDeviation:
    """The worst of one output over all samples."""

    name: str
    relative: float
    """The root mean square of the differences, in that of the original's values."""
    cosine: float
    max_abs: float
    top1_agreement: float | None
    """The share of rows whose largest element is the same one; None: not a tensor of scores."""
    non_finite: int
    """Elements that are NaN or infinite on one side only."""


@dataclass(frozen=True, slots=True)
class DeviationReport:
    """How far the outputs of a changed model are from the original's."""

    DERIVED: ClassVar = ("passed",)

    outputs: tuple[OutputDeviation, ...]
    samples: int
    source: str
    """Where the inputs came from."""
    bound: float
    """The largest relative error that is allowed."""
    problem: str = ""
    """Why the two cannot be compared at all."""

    @property
    def passed(self) -> bool:
        """Return whether something was compared, and all of it is finite and within the bound."""
        kept = all(one.relative <= self.bound and not one.non_finite for one in self.outputs)
        return kept and not self.problem and bool(self.outputs)

    @property
    def worst(self) -> OutputDeviation | None:
        """Return the output that moved most; None: nothing was compared."""
        return max(self.outputs, key=lambda one: (one.non_finite > 0, one.relative), default=None)


def deviation(  # noqa: PLR0913  (each is a choice of its own)
    original: StoredModel,
    changed: StoredModel,
    feeds: Sequence[Feeds],
    *,
    bound: float,
    source: str,
    level: GraphLevel = "all",
    progress: Progress = SILENT,
) -> DeviationReport:
    """Return how far the outputs of `changed` are from those of `original`, as that is written.

    `level` says how far the engine may optimise what was changed.
    """
    expected = list(_runs(original, feeds, EngineOptions(graph_level="off")))
    found: dict[str, OutputDeviation] = {}
    for number, given in enumerate(_runs(changed, feeds, EngineOptions(graph_level=level)), 1):
        reference = expected[number - 1]
        if set(reference) != set(given):
            return DeviationReport((), number, source, bound, "it has other outputs")
        for diff in compare(reference, given, Tolerances(absolute=math.inf, relative=0.0)):
            one = _output(diff, reference[diff.name], given[diff.name])
            found[diff.name] = _worse(found.get(diff.name), one)
        progress.step("deviation", number, len(feeds))
    return DeviationReport(tuple(found.values()), len(feeds), source, bound)


def refusal(report: DeviationReport) -> str:
    """Return why a changed model is not handed out, as a sentence."""
    worst = report.worst
    if report.problem or worst is None:
        return report.problem or "nothing was compared"
    if worst.non_finite:
        return f"{worst.non_finite:,} elements of {worst.name} became NaN or infinite"
    return (
        f"{worst.name} is off by {worst.relative:.2%} of its root mean square "
        f"(cosine {worst.cosine:.5f}), and {report.bound:.2%} are allowed"
    )


def _runs(
    model: StoredModel, feeds: Sequence[Feeds], options: EngineOptions
) -> Iterator[dict[str, Array]]:
    with open_session(JUDGE, model, options) as session:
        for fed in feeds:
            yield session.run(fed.arrays)


def _output(diff: TensorDiff, reference: Array, given: Array) -> OutputDeviation:
    relative = relative_error(reference, given) if reference.shape == given.shape else math.inf
    return OutputDeviation(
        diff.name,
        relative,
        diff.cosine,
        diff.max_abs,
        diff.top1_agreement,
        diff.non_finite_mismatches,
    )


def relative_error(reference: Array, given: Array) -> float:
    """Return the root mean square of the differences in that of the reference; inf if not finite.

    Elements that are the same NaN or infinity on both sides do not count.
    """
    squares = differences = 0.0
    flat, other = reference.reshape(-1), given.reshape(-1)
    for start in range(0, flat.size, _PIECE):
        left, right = (part[start : start + _PIECE].astype(np.float64) for part in (flat, other))
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        if not (np.isfinite(left) & np.isfinite(right) | same).all():
            return math.inf
        kept = np.isfinite(left)
        squares += float(np.square(left[kept]).sum())
        differences += float(np.square(right[kept] - left[kept]).sum())
    if differences == 0.0:
        return 0.0
    return math.sqrt(differences / squares) if squares else math.inf


def _worse(known: OutputDeviation | None, found: OutputDeviation) -> OutputDeviation:
    """Return each figure at its worst."""
    if known is None:
        return found
    agreements = [one.top1_agreement for one in (known, found) if one.top1_agreement is not None]
    return OutputDeviation(
        found.name,
        max(known.relative, found.relative),
        min(known.cosine, found.cosine),
        max(known.max_abs, found.max_abs),
        min(agreements) if agreements else None,
        known.non_finite + found.non_finite,
    )
