from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.breakdown import median_interval


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_the_interval_holds_the_median_and_is_made_of_samples(samples: list[float]) -> None:
    low, high = median_interval(samples)
    below = sum(sample < low for sample in samples)
    above = sum(sample > high for sample in samples)
    assert low in samples
    assert high in samples
    assert below <= len(samples) / 2
    assert above <= len(samples) / 2


def test_few_samples_tell_no_more_than_their_extremes() -> None:
    assert median_interval([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert median_interval([]) == (0.0, 0.0)


def test_nineteen_of_twenty_intervals_hold_the_true_median() -> None:
    source = random.Random(1)
    trials = [median_interval([source.expovariate(1) for _ in range(30)]) for _ in range(500)]
    held = sum(low <= 0.6931 <= high for low, high in trials)
    assert held >= 0.93 * len(trials)
