from __future__ import annotations

import random

import pytest

from bench.simulation import NOISES, compared, gated, measurements, mixed
from burnish.bench.compare import compare
from burnish.bench.gate import TRIES, GateOutcome, joined, outcome_of, settled
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
