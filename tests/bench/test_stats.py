from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sample_run
from burnish.bench import stats
from burnish.bench.compare import compare
from burnish.bench.figures import figures_in
from burnish.bench.measure import Measurement, TimedBlock

seconds = st.floats(1e-6, 10.0)


def blocks_of(*rounds: Sequence[Sequence[float]]) -> tuple[TimedBlock, ...]:
    return tuple(
        TimedBlock(number, cycle, 0, tuple(samples))
        for number, blocks in enumerate(rounds)
        for cycle, samples in enumerate(blocks)
    )


def measurement_of(subject: str, *rounds: Sequence[Sequence[float]]) -> Measurement:
    return Measurement(
        subject=subject, model_key="", engine="e", options={}, bindings={}, launches=(),
        blocks=blocks_of(*rounds), placement=None,
    )  # fmt: skip


def measurement(*samples_s: float) -> Measurement:
    return measurement_of("a", [samples_s])


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


@given(st.lists(st.lists(st.lists(seconds, min_size=1, max_size=4), min_size=1, max_size=3),
                min_size=1, max_size=4))  # fmt: skip
def test_the_typical_call_lies_within_the_samples_and_within_its_interval(
    rounds: list[list[list[float]]],
) -> None:
    blocks = blocks_of(*rounds)
    samples = [sample for block in blocks for sample in block.samples_s]
    interval = stats.median_interval(blocks)
    assert interval.low <= interval.estimate <= interval.high
    assert min(samples) * (1 - 1e-9) <= interval.estimate <= max(samples) * (1 + 1e-9)


def test_the_interval_is_that_of_a_plain_twin() -> None:
    levels = [math.log(value) for value in (1.0, 1.1, 0.95, 1.02)]
    interval = stats.median_interval(blocks_of(*[[[math.exp(level)]] for level in levels]))
    middle = statistics.fmean(levels)
    reach = 3.18245 * statistics.stdev(levels) / 2  # the 97.5th percentile of t with 3 degrees
    assert interval.estimate == pytest.approx(math.exp(middle))
    assert interval.low == pytest.approx(math.exp(middle - reach), rel=1e-5)
    assert interval.high == pytest.approx(math.exp(middle + reach), rel=1e-5)


def test_of_a_single_process_the_blocks_tell_the_spread() -> None:
    interval = stats.median_interval(blocks_of([[1.0], [1.1], [0.9]]))
    assert interval.low < interval.estimate < interval.high
    alone = stats.median_interval(blocks_of([[1.0]]))
    assert (alone.low, alone.estimate, alone.high) == (1.0, 1.0, 1.0)


@given(st.lists(seconds, min_size=1, max_size=30))
def test_a_stray_block_does_not_move_the_middle_of_many(values: list[float]) -> None:
    middle = stats.middle_mean(values)
    assert min(values) * (1 - 1e-9) <= middle <= max(values) * (1 + 1e-9)
    if len(values) >= 3:
        stray = [*sorted(values)[:-1], 1e9]
        assert stats.middle_mean(stray) == pytest.approx(middle)


def test_luck_of_processes_widens_the_interval_more_than_the_same_spread_of_calls() -> None:
    dice = random.Random(0)
    values = [1 + dice.gauss(0, 0.1) for _ in range(5)]
    lucky = blocks_of(*[[[value] * 5] for value in values])
    alike = blocks_of(*[[values] for _ in values])
    wide, narrow = stats.median_interval(lucky), stats.median_interval(alike)
    assert wide.high - wide.low > narrow.high - narrow.low


@settings(deadline=None)
@given(st.integers(3, 8), st.integers(3, 8), st.data())
def test_the_times_that_are_shown_have_the_ratio_that_is_claimed(
    theirs: int, ours: int, data: st.DataObject
) -> None:
    rounds = st.lists(st.lists(seconds, min_size=1, max_size=5), min_size=1, max_size=4)
    base = measurement_of("base", *[data.draw(rounds) for _ in range(theirs)])
    other = measurement_of("other", *[data.draw(rounds) for _ in range(ours)])
    comparison = compare(base, [other])[0]
    report = dataclasses.replace(
        sample_run.bench(), baseline="base", measurements=(base, other),
        comparisons=(comparison,),
    )  # fmt: skip
    shown = [stats.shown_time(report, one) for one in (base, other)]
    assert shown[0] is not None
    assert shown[1] is not None
    assert shown[0].estimate / shown[1].estimate == pytest.approx(comparison.ratio)
    if theirs == ours:
        assert shown[1].estimate == pytest.approx(stats.median_interval(other.blocks).estimate)
    figures = [figures_in(report, one) for one in (base, other)]
    assert (figures[0].median_s or 0) / (figures[1].median_s or 1) == pytest.approx(
        comparison.ratio
    )


def test_a_subject_that_was_not_compared_shows_its_own_time() -> None:
    report = dataclasses.replace(
        sample_run.bench(), baseline="base", comparisons=(),
        measurements=(measurement_of("base", [[1.0]]), measurement_of("none")),
    )  # fmt: skip
    base, none = report.measurements
    assert stats.shown_time(report, base) == stats.Interval(1.0, 1.0, 1.0)
    assert stats.shown_time(report, none) is None


def test_spread_is_the_median_distance_from_the_median_as_a_share_of_it() -> None:
    assert stats.spread([1.0, 2.0, 3.0, 100.0]) == pytest.approx(1.0 / 2.5)


def test_the_minimum_comes_from_the_samples() -> None:
    assert stats.minimum(measurement(0.5, 0.25, 1.0)) == 0.25
