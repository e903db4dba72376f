"""Statistics of a measurement: computed from its samples, never stored."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnish.bench.measure import Block, Measurement

CONFIDENCE = 0.95
RESAMPLES = 1000


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


def median_interval(blocks: Sequence[Block], *, seed: int = 0) -> Interval:
    """Return the median call, with a bootstrap interval that respects how samples were taken.

    Samples of one process resemble each other more than samples of different processes. So the
    bootstrap draws rounds first, then blocks of the drawn rounds, then samples of the drawn
    blocks, each with replacement.
    """
    generator = np.random.default_rng(seed)
    rounds = _by_round(blocks)
    medians = [_redrawn_median(rounds, generator) for _ in range(RESAMPLES)]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(medians, (tail, 1 - tail))
    estimate = float(np.median(np.concatenate([block for one in rounds for block in one])))
    return Interval(estimate, min(float(low), estimate), max(float(high), estimate))


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


def throughput(measurement: Measurement, *, items_per_call: int = 1) -> float:
    """Return items per second of one caller that waits for each answer (service rate)."""
    return items_per_call / statistics.median(measurement.samples_s)


def _by_round(blocks: Sequence[Block]) -> list[list[np.ndarray]]:
    rounds: dict[int, list[np.ndarray]] = {}
    for block in blocks:
        rounds.setdefault(block.round, []).append(np.asarray(block.samples_s))
    return list(rounds.values())


def _redrawn_median(rounds: list[list[np.ndarray]], generator: np.random.Generator) -> float:
    drawn = []
    for index in generator.integers(len(rounds), size=len(rounds)):
        one = rounds[index]
        for chosen in generator.integers(len(one), size=len(one)):
            samples = one[chosen]
            drawn.append(samples[generator.integers(len(samples), size=len(samples))])
    return float(np.median(np.concatenate(drawn)))
