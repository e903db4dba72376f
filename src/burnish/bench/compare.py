"""Faster, slower, no difference shown, or not enough data: what interleaved rounds prove.

Each round has fresh processes, so what luck a process has with memory layout, allocation and
just-in-time compilation is drawn anew. Within a round the subjects' blocks alternate, so that
drift is common to all. Hence one estimate per round, the difference of the two subjects' levels
(`stats`), and over the rounds a t interval of their mean: the process is the random effect, whose
spread is known from all subjects that took turns (`evidence`). A bootstrap over so few rounds
would be too narrow: it never sees a spread larger than the one it was given
(`benchmarks/intervals.py`).

Rounds are added until a difference of a stated size would show, or the difference is clear. That
looks at the width, hardly at the estimate, so false claims stay where they are:
`tests/bench/test_aa.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from burnish.bench.evidence import (
    FEWEST_ROUNDS,
    Evidence,
    rounds_until,
    rounds_until_clear,
    shared_spread,
    side_by_side,
)
from burnish.bench.measure import Comparison, Measurement, SharedSpread, Verdict
from burnish.bench.stats import round_levels
from burnish.core import units

ERROR_RATE = 0.02
"""How often all comparisons of a report together may claim a difference that is not there: 1 %
in each direction. At the usual 5 %, every second run of 200 comparisons of a model with itself
would find more than 5 % of them different."""

LARGEST_BLIND_SPOT = 0.25
"""A run that would miss a difference of this size may not say that there is none."""

_CLEAR = 2.0
"""A difference this many times its interval's reach needs no more rounds."""


def compare(
    baseline: Measurement, candidates: Sequence[Measurement], rate: float = ERROR_RATE
) -> tuple[Comparison, ...]:
    """Return one comparison per candidate, with intervals corrected for how many there are.

    `rate`: how often any of them may claim a difference that is not there.
    """
    shared = spread_of_group(baseline, candidates)
    found = {one.subject: side_by_side(round_logs(baseline, one), shared) for one in candidates}
    levels = levels_of(found, rate)
    return tuple(
        judged(baseline, one, found[one.subject], levels[one.subject]) for one in candidates
    )


def spread_of_group(
    baseline: Measurement, candidates: Iterable[Measurement]
) -> SharedSpread | None:
    """Return how far processes of these differ that took turns."""
    sound = [one for one in (baseline, *candidates) if one.failure is None]
    return shared_spread([round_levels(one.blocks) for one in sound])


def round_logs(baseline: Measurement, candidate: Measurement) -> tuple[float, ...]:
    """Return log(baseline / candidate) of each round that both have."""
    theirs, ours = round_levels(baseline.blocks), round_levels(candidate.blocks)
    return tuple(theirs[number] - ours[number] for number in theirs if number in ours)


def levels_of(found: Mapping[str, Evidence], rate: float = ERROR_RATE) -> dict[str, float]:
    """Return the level each comparison of a family is tested at, so that all keep to `rate`.

    Holm's procedure: the clearest difference is tested at rate / n, the next at rate / (n - 1),
    and so on until one fails; it and all that follow show nothing. Each interval is taken at the
    level of its own test, so that a verdict is what its interval says. Of what has too few
    rounds nothing is claimed, and so it costs the others nothing.
    """
    chances = {name: one.chance() for name, one in found.items() if one.ways}
    levels = dict.fromkeys(found, rate)
    failed: float | None = None
    for rank, (name, chance) in enumerate(sorted(chances.items(), key=lambda item: item[1])):
        level = rate / (len(chances) - rank) if failed is None else failed
        if failed is None and chance > level:
            failed = level
        levels[name] = level
    return levels


def rounds_missing(comparison: Comparison, visible: float) -> int:
    """Return how many more rounds it takes until a difference of `visible` would show.

    None, if it is clear which of the two is faster; fewer, if that will be clear before, should
    they differ by what was found so far less its error.
    """
    logs = [math.log(ratio) for ratio in comparison.round_ratios]
    if len(logs) < FEWEST_ROUNDS:
        return FEWEST_ROUNDS - len(logs)
    level, shared = 1 - comparison.confidence, comparison.group
    found = side_by_side(tuple(logs), shared)
    if abs(found.mean) > _CLEAR * found.reach(level):
        return 0
    clear = rounds_until_clear(logs, _CLEAR, level, shared)
    return min(rounds_until(logs, visible, level, shared), max(1, clear))


def _hidden(effect: float) -> str:
    """Return what the noise hides; from a factor of ten on, the figure itself is noise."""
    what = f"differences below {units.share(effect)} are" if effect < 10 else "any difference is"
    return f"{what} hidden by the noise; more rounds or a quieter machine would show them"


def judged(
    baseline: Measurement, candidate: Measurement, found: Evidence, level: float = ERROR_RATE
) -> Comparison:
    """Return the verdict on what was found, with the interval of 1 - `level`."""
    reason = _why_not_enough(baseline, candidate, found)
    low = high = effect = None
    if found.ways:
        reach = found.reach(level)
        low, high = math.exp(found.mean - reach), math.exp(found.mean + reach)
        effect = found.visible(level)
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
        group=found.shared,
    )


def _why_not_enough(baseline: Measurement, candidate: Measurement, found: Evidence) -> str:
    for one in (baseline, candidate):
        if one.failure is not None:
            return f"{one.subject} failed: {one.failure}"
        if one.status == "wrong":
            return f"{one.subject} computes something else: how fast it does proves nothing"
        if one.status != "ok":
            return f"{one.subject} did not end well: {one.status}"
    if not found.ways:
        rounds = units.count(len(found.logs), "round")
        return f"{rounds} of fresh processes, {FEWEST_ROUNDS} are needed"
    return ""


def _verdict(low: float | None, high: float | None) -> Verdict:
    if low is not None and low > 1:
        return Verdict.FASTER
    if high is not None and high < 1:
        return Verdict.SLOWER
    return Verdict.NO_DIFFERENCE
