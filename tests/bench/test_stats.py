from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.bench import stats
from burnish.bench.measure import Block, Measurement

seconds = st.floats(1e-6, 10.0)


def blocks_of(*rounds: Sequence[Sequence[float]]) -> tuple[Block, ...]:
    return tuple(
        Block(number, cycle, 0, tuple(samples))
        for number, blocks in enumerate(rounds)
        for cycle, samples in enumerate(blocks)
    )


def measurement(*samples_s: float) -> Measurement:
    return Measurement(
        subject="a", model_key="", engine="e", options={}, bindings={}, launches=(),
        blocks=blocks_of([samples_s]), placement=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fraction", "at_95", "at_99"),
    [(0.5, 5, 7), (0.9, 29, 44), (0.95, 59, 90), (0.99, 299, 459), (0.999, 2995, 4603)],
)
def test_a_percentile_needs_as_many_samples_as_the_binomial_bound_says(
    fraction: float, at_95: int, at_99: int
) -> None:
    assert stats.samples_needed(fraction) == at_95
    assert stats.samples_needed(fraction, confidence=0.99) == at_99


def test_a_percentile_without_enough_samples_says_how_many_are_missing() -> None:
    assert stats.percentile([1.0] * 20, 0.9) == stats.Percentile(0.9, None, 9)


@given(st.lists(seconds, min_size=29, max_size=200))
def test_a_percentile_is_a_sample_that_at_least_this_share_does_not_exceed(
    samples: list[float],
) -> None:
    value = stats.percentile(samples, 0.9).value_s
    assert value in samples
    assert sum(sample <= value for sample in samples) >= 0.9 * len(samples)
    assert sum(sample < value for sample in samples) < 0.9 * len(samples)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.lists(seconds, min_size=1, max_size=4), min_size=1, max_size=3),
                min_size=1, max_size=4))  # fmt: skip
def test_the_interval_holds_the_median_and_lies_within_the_samples(
    rounds: list[list[list[float]]],
) -> None:
    blocks = blocks_of(*rounds)
    samples = [sample for block in blocks for sample in block.samples_s]
    interval = stats.median_interval(blocks)
    assert interval.estimate == pytest.approx(statistics.median(samples))
    assert min(samples) <= interval.low <= interval.estimate <= interval.high <= max(samples)


def test_the_bootstrap_is_that_of_a_plain_twin() -> None:
    dice = random.Random(3)
    rounds = [
        [[luck + dice.gauss(0, 0.02) for _ in range(5)] for _ in range(4)]
        for luck in (1.0, 1.1, 0.95, 1.02)
    ]
    medians = sorted(_plain_redrawn_median(rounds, dice) for _ in range(4000))
    interval = stats.median_interval(blocks_of(*rounds))
    assert interval.low == pytest.approx(medians[100], abs=0.01)
    assert interval.high == pytest.approx(medians[3900], abs=0.01)


def _plain_redrawn_median(rounds: list[list[list[float]]], dice: random.Random) -> float:
    drawn = []
    for _ in rounds:
        blocks = dice.choice(rounds)
        for _ in blocks:
            samples = dice.choice(blocks)
            drawn += [dice.choice(samples) for _ in samples]
    return statistics.median(drawn)


def test_luck_of_processes_widens_the_interval_more_than_the_same_spread_of_calls() -> None:
    dice = random.Random(0)
    values = [1 + dice.gauss(0, 0.1) for _ in range(5)]
    lucky = blocks_of(*[[[value] * 5] for value in values])
    alike = blocks_of(*[[values] for _ in values])
    wide, narrow = stats.median_interval(lucky), stats.median_interval(alike)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_the_same_seed_gives_the_same_interval() -> None:
    blocks = blocks_of([[1.0, 2.0, 3.0], [2.0, 5.0, 4.0]], [[1.5, 2.5, 9.0]])
    assert stats.median_interval(blocks, seed=1) == stats.median_interval(blocks, seed=1)


def test_spread_is_the_median_distance_from_the_median_as_a_share_of_it() -> None:
    assert stats.spread([1.0, 2.0, 3.0, 100.0]) == pytest.approx(1.0 / 2.5)


def test_minimum_and_throughput_come_from_all_samples() -> None:
    assert stats.minimum(measurement(0.5, 0.25, 1.0)) == 0.25
    assert stats.throughput(measurement(0.5, 0.25, 1.0), items_per_call=8) == 16
