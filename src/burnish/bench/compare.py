"""Faster, slower, no difference shown, or not enough data: what interleaved rounds prove.

Each round has fresh processes, so what luck a process has with memory layout, allocation and
just-in-time compilation is drawn anew. Within a round the subjects' blocks alternate, so that
drift is common to all. Hence one estimate per round, the difference of the two subjects' levels
(`stats`), and over the rounds a t interval of their mean: the process is the random effect. A
bootstrap over so few rounds would be too narrow: it never sees a spread larger than the one it
was given (`benchmarks/intervals.py`).

Rounds are added until a difference of a stated size would show, or the difference is clear. That
looks at the width, hardly at the estimate, so false claims stay where they are:
`tests/bench/test_aa.py`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.bench import student
from burnish.bench.measure import Comparison, Measurement, Verdict
from burnish.bench.stats import round_levels
from burnish.core import units

ERROR_RATE = 0.02
"""How often all comparisons of a report together may claim a difference that is not there: 1 %
in each direction. At the usual 5 %, every second run of 200 comparisons of a model with itself
would find more than 5 % of them different."""

FEWEST_ROUNDS = 3
"""Run whatever the budget says, if as many were asked for: fewer allow no verdict."""
LARGEST_BLIND_SPOT = 0.25
"""A run that would miss a difference of this size may not say that there is none."""

_POWER = 0.8
_CLEAR = 2.0
"""A difference this many times its interval's reach needs no more rounds."""
MOST_FORESEEN = 1000
"""Rounds beyond these are not counted: such noise is not a matter of patience."""


def compare(baseline: Measurement, candidates: Sequence[Measurement]) -> tuple[Comparison, ...]:
    """Return one comparison per candidate, with intervals corrected for how many there are.

    Holm's procedure: the clearest difference is tested at ERROR_RATE / n, the next at
    ERROR_RATE / (n - 1), and so on until one fails; it and all that follow show nothing. Each
    interval is taken at the level of its own test, so that a verdict is what its interval says.
    """
    logs = {one.subject: round_logs(baseline, one) for one in candidates}
    usable = [name for name, values in logs.items() if len(values) >= FEWEST_ROUNDS]
    levels = _holm_levels({name: _p_value(logs[name]) for name in usable})
    return tuple(
        judged(
            baseline,
            one,
            side_by_side(logs[one.subject]),
            levels.get(one.subject, ERROR_RATE),
        )
        for one in candidates
    )


def round_logs(baseline: Measurement, candidate: Measurement) -> tuple[float, ...]:
    """Return log(baseline / candidate) of each round that both have."""
    theirs, ours = round_levels(baseline.blocks), round_levels(candidate.blocks)
    return tuple(theirs[number] - ours[number] for number in theirs if number in ours)


def rounds_missing(comparison: Comparison, visible: float) -> int:
    """Return how many more rounds it takes until a difference of `visible` would show.

    None, if it is clear which of the two is faster; fewer, if that will be clear before, should
    they differ by what was found so far less its error.
    """
    logs = [math.log(ratio) for ratio in comparison.round_ratios]
    if len(logs) < FEWEST_ROUNDS:
        return FEWEST_ROUNDS - len(logs)
    level = 1 - comparison.confidence
    mean, error = _mean_and_error(logs)
    if abs(mean) > _CLEAR * _reach(logs, level):
        return 0
    spread, apart = statistics.stdev(logs), abs(mean) - error
    clear = _first(
        len(logs),
        lambda number: (
            _CLEAR * student.quantile(1 - level / 2, number - 1) * spread
            < apart * math.sqrt(number)
        ),
    )
    return min(rounds_until(logs, visible, level), max(1, clear))


def rounds_until(logs: Sequence[float], visible: float, level: float = ERROR_RATE) -> int:
    """Return how many more rounds like these show a difference of `visible` in their mean."""
    spread = statistics.stdev(logs)
    return _first(len(logs), lambda number: _visible(spread, number, level) <= visible)


def _first(rounds: int, is_enough: Callable[[int], bool]) -> int:
    """Return how many more than `rounds` are enough, as far as that is foreseen."""
    number = rounds
    while number < MOST_FORESEEN and not is_enough(number):
        number += max(1, number // 16)
    return number - rounds


def _visible(spread: float, rounds: int, level: float) -> float:
    """Return the difference that so many rounds of this spread would show in four of five runs."""
    both = student.quantile(1 - level / 2, rounds - 1) + student.quantile(_POWER, rounds - 1)
    return math.expm1(both * spread / math.sqrt(rounds))


def _reach(logs: Sequence[float], level: float) -> float:
    return student.quantile(1 - level / 2, len(logs) - 1) * _mean_and_error(logs)[1]


def _p_value(logs: Sequence[float]) -> float:
    mean, error = _mean_and_error(logs)
    if error == 0:
        return float(mean == 0)
    return student.two_sided(mean / error, len(logs) - 1)


def _mean_and_error(logs: Sequence[float]) -> tuple[float, float]:
    return statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))


def _holm_levels(p_values: dict[str, float]) -> dict[str, float]:
    """Return the level each hypothesis is tested at; after the first failure it stays."""
    levels: dict[str, float] = {}
    tests = len(p_values)
    failed: float | None = None
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        level = ERROR_RATE / (tests - rank) if failed is None else failed
        if failed is None and p_value > level:
            failed = level
        levels[name] = level
    return levels


def _hidden(effect: float) -> str:
    """Return what the noise hides; from a factor of ten on, the figure itself is noise."""
    what = f"differences below {units.share(effect)} are" if effect < 10 else "any difference is"
    return f"{what} hidden by the noise; more rounds or a quieter machine would show them"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rounds say of log(baseline / candidate): its mean, and how sure that is."""

    logs: tuple[float, ...]
    """One estimate for each round."""
    mean: float = 0.0
    error: float = 0.0
    degrees: int = 0
    """Of freedom; 0: there are too few rounds to say how sure it is."""


def side_by_side(logs: tuple[float, ...]) -> Evidence:
    """Return the evidence of rounds that both subjects had."""
    if len(logs) < FEWEST_ROUNDS:
        return Evidence(logs, statistics.fmean(logs) if logs else 0.0)
    return Evidence(logs, *_mean_and_error(logs), len(logs) - 1)


def judged(
    baseline: Measurement, candidate: Measurement, found: Evidence, level: float = ERROR_RATE
) -> Comparison:
    """Return the verdict on what was found, with the interval of 1 - `level`."""
    reason = _why_not_enough(baseline, candidate, found)
    low = high = effect = None
    if found.degrees:
        reach = student.quantile(1 - level / 2, found.degrees) * found.error
        low, high = math.exp(found.mean - reach), math.exp(found.mean + reach)
        effect = math.expm1(reach + student.quantile(_POWER, found.degrees) * found.error)
    verdict = _verdict(low, high) if not reason else Verdict.NOT_ENOUGH
    if verdict is Verdict.NO_DIFFERENCE and effect is not None and effect > LARGEST_BLIND_SPOT:
        verdict = Verdict.NOT_ENOUGH
        reason = _hidden(effect)
    return Comparison(
        baseline=baseline.subject,
        candidate=candidate.subject,
        verdict=verdict,
        reason=reason,
        round_ratios=tuple(math.exp(value) for value in found.logs),
        ratio=math.exp(found.mean) if found.logs else None,
        low=low,
        high=high,
        confidence=1 - level,
        minimum_detectable_effect=effect,
    )


def _why_not_enough(baseline: Measurement, candidate: Measurement, found: Evidence) -> str:
    for one in (baseline, candidate):
        if one.failure is not None:
            return f"{one.subject} failed: {one.failure}"
        if one.status == "wrong":
            return f"{one.subject} computes something else: how fast it does proves nothing"
    if not found.degrees:
        rounds = units.count(len(found.logs), "round")
        return f"{rounds} of fresh processes, {FEWEST_ROUNDS} are needed"
    return ""


def _verdict(low: float | None, high: float | None) -> Verdict:
    if low is not None and low > 1:
        return Verdict.FASTER
    if high is not None and high < 1:
        return Verdict.SLOWER
    return Verdict.NO_DIFFERENCE
