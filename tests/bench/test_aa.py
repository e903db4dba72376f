"""What a verdict is worth: on machines of known noise, with subjects of known speed."""

from __future__ import annotations

import random

import pytest

from bench.simulation import NOISES, Noise, compared, mixed
from burnish.bench.measure import Comparison, Verdict

CLAIMS = {Verdict.FASTER, Verdict.SLOWER}
EVERY_NOISE = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())


def covers(run: Comparison, ratio: float) -> bool:
    return (run.low or 0) <= ratio <= (run.high or 0)


@EVERY_NOISE
def test_of_400_comparisons_with_itself_at_most_5_percent_claim_a_difference(
    noise: Noise,
) -> None:
    verdicts = [compared(noise, seed=seed).verdict for seed in range(400)]
    assert sum(verdict in CLAIMS for verdict in verdicts) <= 20
    assert verdicts.count(Verdict.NOT_ENOUGH) <= 20


def test_so_it_is_where_rounds_end_early() -> None:
    """On quiet machines they have a third of their blocks: what processes differ in stays."""
    noise = NOISES["process luck of 1 %"]
    alike = [compared(noise, seed=seed, blocks=24).verdict for seed in range(150)]
    assert sum(verdict in CLAIMS for verdict in alike) <= 7
    slower = [compared(noise, seed=s, blocks=24, speed_up=1 / 1.1).verdict for s in range(20)]
    assert slower.count(Verdict.SLOWER) >= 16


def test_so_it_is_on_machines_of_any_mixture_of_tails_drift_and_luck() -> None:
    runs = [compared(mixed(random.Random(seed)), seed=seed) for seed in range(300)]
    assert sum(run.verdict in CLAIMS for run in runs) <= 15
    assert sum(covers(run, 1.0) for run in runs) >= 285


def test_three_rounds_keep_the_same_promise_over_all_kinds_of_noise() -> None:
    verdicts = [
        compared(noise, seed=seed, rounds=3).verdict
        for noise in NOISES.values()
        for seed in range(200)
    ]
    assert sum(verdict in CLAIMS for verdict in verdicts) <= len(verdicts) * 0.05


@EVERY_NOISE
def test_a_true_slowdown_of_10_percent_is_found_in_16_of_20_runs_or_more(noise: Noise) -> None:
    verdicts = [compared(noise, seed=seed, speed_up=1 / 1.1).verdict for seed in range(60)]
    assert verdicts.count(Verdict.SLOWER) >= 48
    assert Verdict.FASTER not in verdicts


def test_a_true_difference_of_5_percent_under_1_percent_of_luck_is_found_in_most_runs() -> None:
    noise = NOISES["process luck of 1 %"]
    faster = [compared(noise, seed=seed, speed_up=1.05).verdict for seed in range(100)]
    slower = [compared(noise, seed=seed, speed_up=1 / 1.05).verdict for seed in range(100)]
    assert faster.count(Verdict.FASTER) >= 90
    assert slower.count(Verdict.SLOWER) >= 90


def test_the_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    runs = [
        compared(noise, seed=seed, speed_up=1.2) for noise in NOISES.values() for seed in range(100)
    ]
    assert sum(covers(run, 1.2) for run in runs) >= len(runs) * 0.95
