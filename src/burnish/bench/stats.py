"""Statistics of a measurement: computed from its samples, never stored.

One estimator serves the time that is shown and the ratio that is claimed, so that they cannot
disagree. A block's calls give their median; the blocks of one process give the mean of the middle
third of them, in logarithms; the processes give the mean. A ratio is the quotient of two such
times over the rounds in which both ran. Others were tried on 30 rounds of a model against itself
on a loaded machine: the mean of all blocks spreads two to three times as far, the median of
paired ratios as far as this, and that gives no times whose quotient is the ratio.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.bench import student
from burnish.bench.measure import BenchReport, Measurement, TimedBlock

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and the range that holds the true value with `CONFIDENCE`."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile, or how many more samples it needs before it may be stated."""

    fraction: float
    value_s: float | None
    missing_samples: int


def median_interval(blocks: Sequence[TimedBlock]) -> Interval:
    """Return the typical call, with an interval over processes: a t interval in logarithms.

    Samples of one process resemble each other more than samples of different processes, so the
    process is what is counted. Of a single one, its blocks are: all that is there.
    """
    return _median_interval(tuple(blocks))


# kept, for every table and chart of a report shows it
@functools.lru_cache(maxsize=64)
def _median_interval(blocks: tuple[TimedBlock, ...]) -> Interval:
    levels = list(round_levels(blocks).values())
    middle = statistics.fmean(levels)
    if len(levels) == 1:
        levels = [math.log(block.median_s) for block in blocks]
    reach = spread_of(levels)
    return Interval(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))


def round_levels(blocks: Sequence[TimedBlock]) -> dict[int, float]:
    """Return the logarithm of the typical call of each round: of the middle third of its blocks."""
    rounds: dict[int, list[float]] = {}
    for block in blocks:
        rounds.setdefault(block.round, []).append(math.log(block.median_s))
    return {number: middle_mean(levels) for number, levels in rounds.items()}


def middle_mean(values: Sequence[float]) -> float:
    """Return the mean of what is left when a third at either end is cut off."""
    cut = len(values) // 3
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def spread_of(levels: Sequence[float]) -> float:
    """Return the half-width of the t interval of a mean; of one value alone, nothing is known."""
    if len(levels) < 2:
        return 0.0
    error = statistics.stdev(levels) / math.sqrt(len(levels))
    return student.quantile((1 + CONFIDENCE) / 2, len(levels) - 1) * error


def shown_time(report: BenchReport, one: Measurement) -> Interval | None:
    """Return the typical call of a subject as tables and charts show it; None: no samples.

    Where a subject was compared, its time is the baseline's over the ratio. If both ran in the
    same rounds, that is its own time to the last digit; if the baseline went on alone with
    others, it is what it would have been in all of the baseline's rounds.
    """
    if not one.blocks:
        return None
    found, comparison = median_interval(one.blocks), report.comparison(one.subject)
    if comparison is None or comparison.ratio is None:
        return found
    baseline = median_interval(report.measurement(comparison.baseline).blocks)
    factor = baseline.estimate / comparison.ratio / found.estimate
    return Interval(found.estimate * factor, found.low * factor, found.high * factor)


def percentile(samples_s: Sequence[float], fraction: float) -> Percentile:
    """Return a percentile by nearest rank, if there are enough samples to state it."""
    missing = max(0, samples_needed(fraction) - len(samples_s))
    if missing:
        return Percentile(fraction, None, missing)
    rank = math.ceil(fraction * len(samples_s))
    return Percentile(fraction, sorted(samples_s)[rank - 1], 0)


def samples_needed(fraction: float, confidence: float = CONFIDENCE) -> int:
    """Return how many samples hold one above the percentile, with `confidence`.

    All n samples lie below it with chance fractionⁿ: the binomial bound.
    """
    return math.ceil(math.log(1 - confidence) / math.log(fraction))


def spread(samples_s: Sequence[float]) -> float:
    """Return the median absolute deviation from the median, relative to the median."""
    middle = statistics.median(samples_s)
    return statistics.median(abs(sample - middle) for sample in samples_s) / middle


def minimum(measurement: Measurement) -> float:
    """Return the fastest call: what the machine can do when nothing interferes."""
    return min(measurement.samples_s)
