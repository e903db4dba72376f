"""What tuning finds out: trials of schedules, and the best of them."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from burnish.core import records
from burnish.tile.schedule import Schedule

LEAST_SPREAD = 0.03
"""Two runs of the very same kernel differ by about this share even on a quiet machine."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One schedule that was tried (None: ONNX Runtime), and how long a run took, if it worked."""

    schedule: Schedule | None
    samples_s: tuple[float, ...] = ()
    """The median run of each round; rounds alternate between the trials of a group."""
    failure: str = ""
    """Why there is no time."""
    predicted_s: float | None = None

    @property
    def seconds(self) -> float | None:
        """Return the median run; None: it was not timed."""
        return statistics.median(self.samples_s) if self.samples_s else None

    @property
    def spread(self) -> float:
        """Return by which share the rounds differ from their median, as a median."""
        if not self.samples_s:
            return LEAST_SPREAD
        middle = statistics.median(self.samples_s)
        apart = statistics.median(abs(sample - middle) for sample in self.samples_s)
        return max(apart / middle if middle else 0.0, LEAST_SPREAD)


@dataclass(frozen=True, slots=True)
class Tuned:
    """All trials of one group, in the order of their predictions."""

    trials: tuple[Trial, ...] = ()
    searched: int = 0
    """How many schedules were asked for: more than were tried where there are not as many."""
    reason: str = ""
    """Why there is nothing to try."""

    @property
    def best(self) -> Trial | None:
        """Return the fastest trial that worked; the first of equals."""
        return fastest(self.trials)

    @property
    def schedule(self) -> Schedule | None:
        """Return the fastest schedule; None: none worked."""
        return self.best.schedule if self.best else None

    @property
    def seconds(self) -> float | None:
        """Return how long the fastest schedule takes; None: none worked."""
        return self.best.seconds if self.best else None


def identity(schedule: Schedule | None) -> str:
    """Return a text that equal schedules share; the settings of a schedule have no order."""
    return "onnxruntime" if schedule is None else str(records.encode(schedule))


def fastest(trials: tuple[Trial, ...]) -> Trial | None:
    """Return the trial with the shortest median run; None: none was timed."""
    timed = [trial for trial in trials if trial.samples_s]
    return min(timed, key=lambda trial: statistics.median(trial.samples_s), default=None)


def is_faster(trial: Trial, than: Trial) -> bool:
    """Say whether a trial is faster than another by more than what their rounds differ."""
    if trial.seconds is None or than.seconds is None:
        return than.seconds is None and trial.seconds is not None
    return trial.seconds * (1 + trial.spread) < than.seconds * (1 - than.spread)
