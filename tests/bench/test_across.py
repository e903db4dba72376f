from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections.abc import Callable

import pytest

import sample_run
from bench.simulation import NOISES, Noise, measurements
from burnish.bench.across import changes, compare_across, pairs, require_same_machine
from burnish.bench.measure import Measurement, TimedBlock, Verdict
from burnish.bench.stats import round_levels
from burnish.bench.subject import BenchOptions
from burnish.core.errors import UsageError

CLAIMS = {Verdict.FASTER, Verdict.SLOWER}


def measured(noise: Noise, call_s: float, seed: int) -> Measurement:
    (one,) = measurements({"m": call_s}, noise, seed=seed, options=BenchOptions(rounds=8, blocks=6))
    return one


def test_two_sessions_of_one_model_differ_in_at_most_5_percent_of_comparisons() -> None:
    noise = NOISES["process luck of 1 %"]
    found = [
        compare_across(measured(noise, 0.02, seed), measured(noise, 0.02, seed + 1000)).verdict
        for seed in range(200)
    ]
    assert sum(verdict in CLAIMS for verdict in found) <= 10


def drawn(level: Callable[[random.Random], float], rounds: int, dice: random.Random) -> Measurement:
    """Return so many processes whose typical calls are drawn, as logarithms."""
    blocks = tuple(TimedBlock(n, 0, 0, (math.exp(level(dice)),)) for n in range(rounds))
    return Measurement(
        subject="m", model_key="", engine="e", options={}, bindings={}, launches=(), blocks=blocks,
        placement=None,
    )  # fmt: skip


LEVELS: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda dice: dice.gauss(0, 0.02),
    "heavy tails": lambda dice: dice.gauss(0, 0.02) / math.sqrt(dice.gammavariate(1, 1)),
    "one long tail": lambda dice: 0.02 * math.exp(dice.gauss(0, 1)),
    "two kinds, as often": lambda dice: 0.18 * (dice.random() < 0.5) + dice.gauss(0, 0.003),
    "two kinds, one rare": lambda dice: 0.18 * (dice.random() < 0.2) + dice.gauss(0, 0.003),
}


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS.keys())
@pytest.mark.parametrize("rounds", [(3, 3), (3, 20), (20, 3), (6, 20)])
def test_so_it_is_however_processes_differ_and_however_few_one_side_has(
    level: Callable[[random.Random], float], rounds: tuple[int, int]
) -> None:
    dice = random.Random(1)
    found = [
        compare_across(drawn(level, rounds[0], dice), drawn(level, rounds[1], dice))
        for _ in range(400)
    ]
    assert sum(one.verdict in CLAIMS for one in found) <= 20
    assert sum((one.low or 0) <= 1 <= (one.high or 0) for one in found) >= 380


def test_a_slowdown_of_10_percent_between_sessions_is_found() -> None:
    noise = NOISES["process luck of 1 %"]
    found = [
        compare_across(measured(noise, 0.02, seed), measured(noise, 0.022, seed + 1000)).verdict
        for seed in range(20)
    ]
    assert found.count(Verdict.SLOWER) >= 16


def test_the_error_is_that_of_both() -> None:
    noise = NOISES["process luck of 1 %"]
    one, other = measured(noise, 0.02, 1), measured(noise, 0.02, 2)
    levels = [list(round_levels(side.blocks).values()) for side in (one, other)]
    comparison = compare_across(one, other)
    assert math.log(comparison.ratio or 0) == pytest.approx(
        statistics.fmean(levels[0]) - statistics.fmean(levels[1])
    )
    error = math.sqrt(sum(statistics.variance(side) / len(side) for side in levels))
    reach = math.log((comparison.high or 0) / (comparison.low or 1)) / 2
    assert 2.3 * error < reach < 3.4 * error


def test_too_few_rounds_are_not_enough_data() -> None:
    noise = NOISES["drift"]
    (short,) = measurements({"m": 0.02}, noise, seed=0, options=BenchOptions(rounds=2, blocks=2))
    comparison = compare_across(measured(noise, 0.02, 1), short)
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.reason == "2 rounds of fresh processes, 3 are needed"
    none = dataclasses.replace(short, blocks=())
    assert compare_across(none, short).ratio is None


def test_pairs_are_of_one_name_or_of_one_engine_at_one_size() -> None:
    report = sample_run.bench()
    assert [(one.subject, other.subject) for one, other in pairs(report, report)] == [
        (one.subject, one.subject) for one in report.measurements
    ]
    first = dataclasses.replace(report.measurements[0], subject="new name")
    renamed = dataclasses.replace(report, measurements=(first,))
    alone = dataclasses.replace(report, measurements=report.measurements[:1])
    assert [other.subject for _, other in pairs(alone, renamed)] == ["new name"]


def test_unlike_machines_are_never_compared() -> None:
    here = sample_run.machine()
    there = dataclasses.replace(here, cpu="another processor")
    require_same_machine(here, dataclasses.replace(here, python="3.99"), "")
    with pytest.raises(UsageError, match=r"unlike machines: .*another processor") as e:
        require_same_machine(here, there, "measure both here")
    assert e.value.hint == "measure both here"


def test_what_changed_on_the_machine_is_told() -> None:
    here = sample_run.machine()
    later = dataclasses.replace(
        here, versions={**here.versions, "onnxruntime": "9.9"},
        environment={"MKL_DYNAMIC": "1"},
        python="3.99",
    )  # fmt: skip
    told = "; ".join(changes(here, later))
    assert "onnxruntime: " in told
    assert "9.9 after" in told
    assert "MKL_DYNAMIC=none before, 1 after" in told
    assert "Python: " in told
    assert changes(here, here) == ()
