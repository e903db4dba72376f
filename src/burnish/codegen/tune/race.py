"""Timing several subjects fairly: in rounds, in an order drawn anew, those far behind no longer."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Timed = Callable[[str, int, int], float | None]
"""Seconds of one run of a subject, given how often to run it and how often before; None: failed."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How long to time."""

    rounds: int = 5
    block_s: float = 0.01
    """Runs are repeated until they take about as long."""
    behind: float = 1.25
    """A subject that takes this many times as long as the fastest one is not timed again."""
    behind_at_first: float = 2.0
    """The same after the first look, which may have been disturbed."""
    long_s: float = 0.05
    """Runs of this length need none before them to settle."""
    most_runs: int = 1000


def race(
    subjects: Sequence[str], timed: Timed, rules: Rules, *, always: Sequence[str] = ()
) -> dict[str, tuple[float, ...]]:
    """Return one sample per round of every subject that did not fail.

    `always`: subjects that are timed to the end, however far behind they are.
    """
    looks = {subject: timed(subject, 1, 1) for subject in subjects}
    first = {subject: look for subject, look in looks.items() if look is not None}
    samples: dict[str, list[float]] = {subject: [] for subject in first}
    dice = random.Random(0)
    for _ in range(rules.rounds):
        racing = _racing(first, samples, rules, always)
        for subject in dice.sample(racing, len(racing)):
            runs = _runs(first[subject], rules)
            settling = 0 if first[subject] >= rules.long_s else 1
            seconds = timed(subject, runs, settling)
            if seconds is None:
                del first[subject], samples[subject]
            else:
                samples[subject].append(seconds)
    # who fell back before the first round has the first look only
    return {subject: tuple(samples[subject]) or (first[subject],) for subject in first}


def _racing(
    first: dict[str, float],
    samples: dict[str, list[float]],
    rules: Rules,
    always: Sequence[str],
) -> list[str]:
    so_far = {s: statistics.median(samples[s]) if samples[s] else first[s] for s in first}
    best = min(so_far.values(), default=0.0)
    limits = {s: rules.behind if samples[s] else rules.behind_at_first for s in first}
    return [s for s in first if s in always or so_far[s] <= limits[s] * best]


def _runs(seconds: float, rules: Rules) -> int:
    if seconds <= 0:
        return rules.most_runs
    return min(max(math.ceil(rules.block_s / seconds), 1), rules.most_runs)
