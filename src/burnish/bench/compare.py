"""Faster, slower, no difference shown, or not enough data: what interleaved rounds prove.

Each round has fresh processes, so what luck a process has with memory layout, allocation and
just-in-time compilation is drawn anew. Within a round, blocks of one cycle are neighbours in
time: their ratio is free of drift. Hence one estimate per round, the median over cycles of
log(baseline / candidate), and over the rounds a t interval of their mean. A bootstrap over so
few rounds would be too narrow: it never sees a spread larger than the one it was given.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from burnish.bench import student
from burnish.bench.measure import Comparison, Measurement, Verdict
from burnish.core import units

ERROR_RATE = 0.02
"""How often all comparisons of a report together may claim a difference that is not there: 1 %
in each direction. At the usual 5 %, every second run of 200 comparisons of a model with itself
would find more than 5 % of them different."""

FEWEST_ROUNDS = 3
LARGEST_BLIND_SPOT = 0.25
"""A run that would miss a difference of this size may not say that there is none."""

_POWER = 0.8


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
        _comparison(baseline, one, logs[one.subject], levels.get(one.subject, ERROR_RATE))
        for one in candidates
    )


def round_logs(baseline: Measurement, candidate: Measurement) -> tuple[float, ...]:
    """Return log(baseline / candidate) of each round that has a cycle with both."""
    ours = {(block.round, block.cycle): block.median_s for block in candidate.blocks}
    rounds: dict[int, list[float]] = {}
    for block in baseline.blocks:
        partner = ours.get((block.round, block.cycle))
        if partner is not None:
            rounds.setdefault(block.round, []).append(math.log(block.median_s / partner))
    return tuple(statistics.median(values) for values in rounds.values())


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


def _comparison(
    baseline: Measurement, candidate: Measurement, logs: tuple[float, ...], level: float
) -> Comparison:
    reason = _why_not_enough(baseline, candidate, logs)
    low = high = effect = None
    if len(logs) >= FEWEST_ROUNDS:
        mean, error = _mean_and_error(logs)
        reach = student.quantile(1 - level / 2, len(logs) - 1) * error
        low, high = math.exp(mean - reach), math.exp(mean + reach)
        effect = math.expm1(reach + student.quantile(_POWER, len(logs) - 1) * error)
    verdict = _verdict(low, high) if not reason else Verdict.NOT_ENOUGH
    if verdict is Verdict.NO_DIFFERENCE and effect is not None and effect > LARGEST_BLIND_SPOT:
        verdict = Verdict.NOT_ENOUGH
        reason = _hidden(effect)
    return Comparison(
        baseline=baseline.subject,
        candidate=candidate.subject,
        verdict=verdict,
        reason=reason,
        round_ratios=tuple(math.exp(value) for value in logs),
        ratio=math.exp(statistics.fmean(logs)) if logs else None,
        low=low,
        high=high,
        confidence=1 - level,
        minimum_detectable_effect=effect,
    )


def _why_not_enough(baseline: Measurement, candidate: Measurement, logs: Sequence[float]) -> str:
    for one in (baseline, candidate):
        if one.failure is not None:
            return f"{one.subject} failed: {one.failure}"
    if len(logs) < FEWEST_ROUNDS:
        return f"{units.count(len(logs), 'round')} of fresh processes, {FEWEST_ROUNDS} are needed"
    return ""


def _verdict(low: float | None, high: float | None) -> Verdict:
    if low is not None and low > 1:
        return Verdict.FASTER
    if high is not None and high < 1:
        return Verdict.SLOWER
    return Verdict.NO_DIFFERENCE
