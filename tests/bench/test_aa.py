"""What a verdict is worth: on machines of known noise, with subjects of known speed."""

from __future__ import annotations

import pytest

from bench.simulation import NOISES, Noise, compared
from burnish.bench.measure import Verdict

CLAIMS = {Verdict.FASTER, Verdict.SLOWER}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())
def test_of_200_comparisons_with_itself_at_most_5_percent_claim_a_difference(
    noise: Noise,
) -> None:
    verdicts = [compared(noise, seed=seed).verdict for seed in range(200)]
    assert sum(verdict in CLAIMS for verdict in verdicts) <= 10


def test_three_rounds_keep_the_same_promise_over_all_kinds_of_noise() -> None:
    verdicts = [
        compared(noise, seed=seed, rounds=3).verdict
        for noise in NOISES.values()
        for seed in range(200)
    ]
    assert sum(verdict in CLAIMS for verdict in verdicts) <= len(verdicts) * 0.05


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())
def test_a_true_difference_of_30_percent_is_found_in_most_runs(noise: Noise) -> None:
    verdicts = [compared(noise, seed=seed, speed_up=1.3).verdict for seed in range(40)]
    assert verdicts.count(Verdict.FASTER) >= 36


def test_a_true_difference_of_5_percent_under_1_percent_of_luck_is_found_in_most_runs() -> None:
    noise = NOISES["process luck of 1 %"]
    faster = [compared(noise, seed=seed, speed_up=1.05).verdict for seed in range(100)]
    slower = [compared(noise, seed=seed, speed_up=1 / 1.05).verdict for seed in range(100)]
    assert faster.count(Verdict.FASTER) >= 75
    assert slower.count(Verdict.SLOWER) >= 75


def test_the_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    noise = NOISES["process luck of 1 %"]
    runs = [compared(noise, seed=seed, speed_up=1.2) for seed in range(200)]
    held = sum((run.low or 0) <= 1.2 <= (run.high or 0) for run in runs)
    assert held >= 190
