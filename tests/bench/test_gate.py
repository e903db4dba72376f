from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from bench.simulation import NOISES, Noise, compared, gated, measurements, mixed
from burnish.bench.compare import compare
from burnish.bench.gate import (
    TRIES,
    GateOutcome,
    deciding_rounds,
    excluded,
    joined,
    outcome_of,
    settled,
)
from burnish.bench.measure import Comparison, Measurement, Verdict
from burnish.bench.subject import BenchOptions


def found(low: float | None, high: float | None, reason: str = "") -> Comparison:
    return Comparison(
        baseline="a", candidate="b", verdict=Verdict.NO_DIFFERENCE, reason=reason,
        round_ratios=(), ratio=None, low=low, high=high, confidence=0.98,
        minimum_detectable_effect=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.97, 1.02, GateOutcome.PASSED),  # 5 % slower would be 0.952: it is excluded
        (0.96, 0.99, GateOutcome.PASSED),  # slower, and less than what is allowed
        (0.93, 0.99, GateOutcome.SLOWER),
        (0.80, 0.85, GateOutcome.SLOWER),
        (0.90, 1.10, GateOutcome.UNSEEN),
        (None, None, GateOutcome.UNSEEN),
    ],
)
def test_a_row_fails_if_it_is_slower_and_the_limit_is_not_excluded(
    low: float | None, high: float | None, outcome: GateOutcome
) -> None:
    assert outcome_of(found(low, high), 0.05) is outcome


def test_a_subject_that_failed_does_not_pass() -> None:
    assert outcome_of(found(0.99, 1.01, "b failed: ended"), 0.05) is GateOutcome.BROKEN


@pytest.mark.parametrize(
    ("ratio", "low", "high", "times"),
    [
        (1.0, 0.9, 1 / 0.9, 4.7),  # half as long as from 0.9 to 1.11 would not reach 5 % slower
        (0.98, 0.94, 0.98**2 / 0.94, 2.1),
        (0.90, 0.80, 0.90**2 / 0.80, 2.0),  # a little more, and it is shown to be slower
        (None, None, None, 4.0),
    ],
)
def test_what_could_not_be_seen_tells_how_much_longer_it_would_take(
    ratio: float | None, low: float | None, high: float | None, times: float
) -> None:
    one = replace(found(low, high), ratio=ratio)
    assert outcome_of(one, 0.05) is GateOutcome.UNSEEN
    assert deciding_rounds(one, 0.05) == pytest.approx(times, abs=0.1)
    assert excluded(one) == (None if low is None else pytest.approx(1 / low - 1))


def test_as_many_rounds_as_were_told_decide_most_of_what_could_not_be_seen() -> None:
    noise = Noise(lambda dice: math.exp(dice.gauss(0, 0.06)), lambda _: 1.0)
    decided = []
    for seed in range(40):
        few = compared(noise, seed=seed, rounds=6, blocks=2)
        if outcome_of(few, 0.05) is GateOutcome.UNSEEN:
            rounds = math.ceil(6 * deciding_rounds(few, 0.05))
            many = compared(noise, seed=1000 + seed, rounds=min(rounds, 400), blocks=2)
            decided.append(outcome_of(many, 0.05) is not GateOutcome.UNSEEN)
    assert len(decided) > 20
    assert sum(decided) >= len(decided) / 2


def test_the_gate_finds_5_percent_in_90_of_100_and_fails_1_of_100_for_nothing_at_most() -> None:
    machines = [mixed(random.Random(seed)) for seed in range(100)]
    slow = sum(gated(one, seed=seed, slowdown=0.05) for seed, one in enumerate(machines))
    same = sum(gated(one, seed=seed, slowdown=0.0) for seed, one in enumerate(machines))
    assert slow >= 90
    assert same <= 1


def test_what_does_not_pass_is_measured_again_before_it_fails() -> None:
    numbers: list[int] = []

    def measure(number: int) -> tuple[Measurement, Measurement]:
        numbers.append(number)
        baseline, candidate = measurements(
            {"a": 0.02, "b": 0.03}, NOISES["process luck of 1 %"], seed=number,
            options=BenchOptions(rounds=3, blocks=3),
        )  # fmt: skip
        return baseline, candidate

    tried = settled(measure, lambda one, other: compare(one, [other])[0], 0.05)
    assert (tried.outcome, tried.tries, numbers) == (GateOutcome.SLOWER, TRIES, [0, 1, 2])
    assert len(tried.comparison.round_ratios) == 3 * TRIES


def test_what_passes_is_measured_once() -> None:
    pair = {"a": 0.02, "b": 0.02}
    noise, options = NOISES["process luck of 1 %"], BenchOptions()

    def measure(number: int) -> tuple[Measurement, Measurement]:
        assert number == 0
        baseline, candidate = measurements(pair, noise, seed=3, options=options)
        return baseline, candidate

    tried = settled(measure, lambda one, other: compare(one, [other])[0], 0.05)
    assert (tried.outcome, tried.tries) == (GateOutcome.PASSED, 1)


def test_a_stored_measurement_is_not_counted_twice() -> None:
    options = BenchOptions(rounds=3, blocks=2)
    one, other = measurements({"a": 0.02, "b": 0.02}, NOISES["drift"], seed=0, options=options)
    assert joined(one, one) is one
    assert joined(one, other).rounds == (0, 1, 2, 3, 4, 5)
    assert compared(NOISES["drift"], seed=0).verdict is not Verdict.NOT_ENOUGH
