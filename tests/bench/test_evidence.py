from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.bench import student
from burnish.bench.evidence import (
    rounds_until,
    rounds_until_clear,
    shared_spread,
    side_by_side,
)
from burnish.bench.measure import SharedSpread


def least_squares(levels: list[dict[int, float]]) -> tuple[float, int]:
    """Return the residual variance of subjects plus rounds, and its degrees of freedom."""
    seen = [(s, number, value) for s, row in enumerate(levels) for number, value in row.items()]
    numbers = sorted({number for _, number, _ in seen})
    design = np.zeros((len(seen), len(levels) + len(numbers)))
    for place, (subject, number, _) in enumerate(seen):
        design[place, subject] = design[place, len(levels) + numbers.index(number)] = 1
    values = np.array([value for *_, value in seen])
    left = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    degrees = len(seen) - int(np.linalg.matrix_rank(design))
    return float(left @ left) / degrees, degrees


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(3, 8))
def test_the_spread_of_a_group_is_that_of_least_squares(
    seed: int, subjects: int, most: int
) -> None:
    dice = np.random.default_rng(seed)
    # the baseline has all rounds, the others stop when they have said enough
    counts = [most, *dice.integers(2, most + 1, subjects - 1)]
    levels = [
        {number: float(value) for number, value in enumerate(dice.normal(0, 0.02, count) + 5)}
        for count in counts
    ]
    found = shared_spread(levels)
    variance, degrees = least_squares(levels)
    assert found is not None
    assert found.degrees == degrees
    assert found.variance == pytest.approx(2 * variance, rel=1e-6)


def test_of_two_subjects_all_is_in_their_difference() -> None:
    levels = [{0: 0.0, 1: 0.1, 2: 0.0}, {0: 0.1, 1: 0.0, 2: 0.2}]
    assert shared_spread(levels) is None
    assert shared_spread([*levels, {}]) is None
    assert shared_spread([{0: 1.0}, {0: 2.0}, {0: 3.0}]) is None


def test_what_seems_certain_by_itself_is_not_where_the_group_spreads() -> None:
    logs = (0.05, 0.0501, 0.0499)
    alone = side_by_side(logs)
    beside = side_by_side(logs, SharedSpread(2 * 0.025**2, 10))
    assert alone.chance() < 0.001
    assert beside.chance() > 0.02
    assert beside.reach(0.02) > 0.05 > alone.reach(0.02)
    assert beside.visible(0.02) > alone.visible(0.02)


def test_a_quiet_group_makes_nothing_surer_than_its_own_rounds_do() -> None:
    logs = (0.01, -0.02, 0.04, 0.0)
    alone, beside = side_by_side(logs), side_by_side(logs, SharedSpread(1e-8, 30))
    assert beside.reach(0.02) == alone.reach(0.02)
    assert beside.chance() == alone.chance()


@given(st.floats(1e-4, 0.5), st.integers(3, 20), st.floats(0.001, 0.2))
def test_a_chance_below_the_level_is_an_interval_without_zero(
    spread: float, rounds: int, level: float
) -> None:
    dice = np.random.default_rng(rounds)
    logs = tuple(0.05 + dice.normal(0, 0.02, rounds))
    found = side_by_side(logs, SharedSpread(spread**2, 12))
    assert (found.chance() < level) == (abs(found.mean) > found.reach(level))


def test_too_few_rounds_say_nothing_of_how_sure_they_are() -> None:
    found = side_by_side((0.1, 0.1), SharedSpread(1.0, 4))
    assert not found.ways
    assert found.chance() == 1.0
    assert found.mean == pytest.approx(0.1)


def test_more_rounds_are_foreseen_with_the_spread_of_the_group() -> None:
    logs, shared = [0.3, 0.3001, 0.2999, 0.3, 0.3001, 0.3], SharedSpread(0.1**2, 20)
    assert rounds_until(logs, 0.05, 0.02) == 0
    more = rounds_until(logs, 0.05, 0.02, shared)
    # once there are many, a comparison's own spread is all but what counts
    assert 2 < more < 30
    assert rounds_until_clear(logs, 2.0, 0.02, shared) < more


def test_the_reach_is_that_of_student() -> None:
    logs = (0.0, 0.1, 0.2)
    expected = student.quantile(0.99, 2) * 0.1 / math.sqrt(3)
    assert side_by_side(logs).reach(0.02) == pytest.approx(expected)
