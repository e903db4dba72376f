"""Whether a build may pass: is anything slower than allowed, and could it have been seen?

What computes something else than its baseline never passes, however fast it is.
A build fails if a slowdown is shown and one as large as the limit cannot be excluded. It passes
if one as large as the limit is excluded. Between the two nothing is known, and it is measured
again, as it is before anything fails; rounds of all tries count together.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

from burnish.bench.measure import Comparison, Measurement

TRIES = 3
"""How often a row is measured that does not pass."""
FINER = 0.8
"""Differences of this share of the limit are to show: so the limit itself does, nearly always."""


class GateOutcome(enum.Enum):
    """What a gate says of one row."""

    PASSED = "passed"
    WRONG = "wrong results"
    SLOWER = "slower"
    BROKEN = "failed"
    UNSEEN = "not enough data"


@dataclass(frozen=True, slots=True)
class GatedRow:
    """One row after as many tries as it took."""

    outcome: GateOutcome
    comparison: Comparison
    baseline: Measurement
    candidate: Measurement
    tries: int


_FINAL = (GateOutcome.PASSED, GateOutcome.BROKEN, GateOutcome.WRONG)
"""What measuring again would not change."""
_UNKNOWN = 4.0
"""How many times more to measure where nothing can be foreseen."""

Pair = tuple[Measurement, Measurement]


def settled(
    measure: Callable[[int], Pair],
    compare: Callable[[Measurement, Measurement], Comparison],
    max_slowdown: float,
) -> GatedRow:
    """Return what a row comes to; `measure` is told the number of the try."""
    baseline, candidate = measure(0)
    for number in range(1, TRIES + 1):
        comparison = compare(baseline, candidate)
        wrong = candidate.status == "wrong"
        outcome = GateOutcome.WRONG if wrong else outcome_of(comparison, max_slowdown)
        if outcome in _FINAL or number == TRIES:
            break
        more = measure(number)
        baseline, candidate = joined(baseline, more[0]), joined(candidate, more[1])
    return GatedRow(outcome, comparison, baseline, candidate, number)


def outcome_of(comparison: Comparison, max_slowdown: float) -> GateOutcome:
    """Return whether a comparison passes."""
    low, high = comparison.low, comparison.high
    if "failed: " in comparison.reason:
        return GateOutcome.BROKEN
    if low is None or high is None:
        return GateOutcome.UNSEEN
    if low > 1 / (1 + max_slowdown):
        return GateOutcome.PASSED
    return GateOutcome.SLOWER if high < 1 else GateOutcome.UNSEEN


def deciding_rounds(comparison: Comparison, max_slowdown: float) -> float:
    """Return how many times the rounds there were would have decided what could not be seen.

    As many as make the interval too short to hold both a slowdown of the limit and none, if what
    was found so far is about right; at least twice as many, for nobody knows that it is.
    """
    if comparison.ratio is None or comparison.low is None or comparison.high is None:
        return _UNKNOWN
    found = math.log(comparison.ratio)
    reach = math.log(comparison.high / comparison.low) / 2
    gap = max(found + math.log1p(max_slowdown), -found)
    return max(2.0, (reach / gap) ** 2)


def excluded(comparison: Comparison) -> float | None:
    """Return the smallest slowdown that a comparison excludes; None: it says nothing."""
    return 1 / comparison.low - 1 if comparison.low else None


def joined(first: Measurement, second: Measurement) -> Measurement:
    """Return two measurements of one subject as one, the rounds of the second after the first's.

    The same measurement twice (a stored one is not measured again) stays as it is.
    """
    if first is second:
        return first
    ahead = max(first.rounds, default=-1) + 1
    blocks = (dataclasses.replace(one, round=one.round + ahead) for one in second.blocks)
    launches = (dataclasses.replace(one, round=one.round + ahead) for one in second.launches)
    return dataclasses.replace(
        first,
        blocks=(*first.blocks, *blocks),
        launches=(*first.launches, *launches),
        failure=first.failure or second.failure,
        status=second.status,
    )
