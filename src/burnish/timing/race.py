"""Time many in rounds of all of them, and no longer those that cannot be the fastest any more."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Subject = TypeVar("Subject", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RaceRules:
    """How long to go on, and with whom."""

    rounds: int
    behind: float
    """Who takes this many times as long as the fastest one is not timed again."""
    behind_at_first: float
    """The same after a first look, which may have been disturbed."""


def race(
    subjects: Iterable[Subject],
    timed: Callable[[Subject], float | None],
    rules: RaceRules,
    *,
    looks: Mapping[Subject, float] | None = None,
    always: Collection[Subject] = (),
) -> dict[Subject, list[float]]:
    """Return one sample per round of every subject that did not fail; None is a failure.

    `looks`: what is known of them before; `always`: those that are timed to the end, however far
    behind they are. The order of a round is drawn anew each time.
    """
    samples: dict[Subject, list[float]] = {subject: [] for subject in subjects}
    dice = random.Random(0)
    for _ in range(rules.rounds):
        racing = _racing(samples, looks or {}, rules, always)
        for subject in dice.sample(racing, len(racing)):
            seconds = timed(subject)
            if seconds is None:
                del samples[subject]
            else:
                samples[subject].append(seconds)
    return samples


def _racing(
    samples: Mapping[Subject, Sequence[float]],
    looks: Mapping[Subject, float],
    rules: RaceRules,
    always: Collection[Subject],
) -> list[Subject]:
    """Return those that may still be the fastest; who was never timed may."""
    known = {one: statistics.median(own) for one, own in samples.items() if own}
    known = {**{one: look for one, look in looks.items() if one in samples}, **known}
    best = min(known.values(), default=0.0)

    def goes_on(one: Subject) -> bool:
        limit = rules.behind if samples[one] else rules.behind_at_first
        return one in always or one not in known or known[one] <= limit * best

    return [one for one in samples if goes_on(one)]
