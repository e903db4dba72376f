"""What the verdicts of a whole group are worth: any number of candidates, any number of rounds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import pytest

from bench.simulation import NOISES, measurements
from burnish.bench.across import compare_each
from burnish.bench.compare import compare
from burnish.bench.measure import Comparison, Measurement, TimedBlock, Verdict
from burnish.bench.subject import BenchOptions

CLAIMS = {Verdict.FASTER, Verdict.SLOWER}
Luck = Callable[[random.Random], float]
"""Draws by how much a process is slower than others of its kind, as a logarithm."""


def of_two_kinds(apart: float, share: float = 0.5) -> Luck:
    return lambda dice: (apart if dice.random() < share else 0.0) + dice.gauss(0, 0.002)


LUCKS: dict[str, Luck] = {
    "two kinds, 5 % apart": of_two_kinds(0.05),
    "two kinds, 20 % apart": of_two_kinds(0.2),
    "a third is slow": of_two_kinds(0.05, 1 / 3),
    "a tenth is slow": of_two_kinds(0.2, 0.1),
    "luck of 1 %": lambda dice: dice.gauss(0, 0.01),
}
EVERY_LUCK = pytest.mark.parametrize("luck", LUCKS.values(), ids=LUCKS.keys())


def drawn(name: str, call_s: float, luck: Luck, rounds: int, dice: random.Random) -> Measurement:
    """Return a subject of known speed, one block for each of its processes."""
    blocks = tuple(
        TimedBlock(number, 0, 0, (call_s * math.exp(luck(dice)),)) for number in range(rounds)
    )
    return Measurement(
        subject=name, model_key="", engine="e", options={}, bindings={}, launches=(),
        blocks=blocks, placement=None,
    )  # fmt: skip


def group(call_s: Sequence[float], luck: Luck, *, rounds: int, seed: int) -> tuple[Comparison, ...]:
    """Compare subjects of these speeds with the first."""
    dice = random.Random(f"{seed} {rounds} {len(call_s)}")
    first, *others = (
        drawn(str(number), one, luck, rounds, dice) for number, one in enumerate(call_s)
    )
    return compare(first, others)


def claims_something(found: Sequence[Comparison]) -> bool:
    return any(one.verdict in CLAIMS for one in found)


@EVERY_LUCK
@pytest.mark.parametrize("rounds", [3, 4, 6, 12])
@pytest.mark.parametrize("candidates", [1, 2, 3, 5, 9])
def test_at_most_5_percent_of_groups_claim_a_difference_between_equals(
    candidates: int, rounds: int, luck: Luck
) -> None:
    """Three rounds of five candidates that were judged by themselves did in 13 %."""
    times = [1.0] * (candidates + 1)
    groups = [group(times, luck, rounds=rounds, seed=seed) for seed in range(300)]
    assert sum(map(claims_something, groups)) <= 15


@pytest.mark.parametrize("rounds", [3, 10])
def test_so_it_is_where_rounds_go_on_until_they_have_said_enough(rounds: int) -> None:
    noise = NOISES["two kinds of processes"]
    claims = 0
    for seed in range(40):
        options = BenchOptions(rounds=rounds, blocks=3, seed=seed)
        times = {str(number): 0.02 for number in range(6)}
        first, *others = measurements(times, noise, seed=seed, options=options)
        claims += claims_something(compare(first, others))
    assert claims <= 2


@EVERY_LUCK
def test_a_slowdown_of_10_percent_among_five_is_found_in_16_of_20_groups(luck: Luck) -> None:
    times = [1.0, 1.1, 1.0, 1.0, 1.0, 1.0]
    groups = [group(times, luck, rounds=20, seed=seed) for seed in range(60)]
    if luck is not LUCKS["two kinds, 20 % apart"]:  # a mean of 20 such is known to 9 %
        assert sum(found[0].verdict is Verdict.SLOWER for found in groups) >= 48
    assert sum(claims_something(found[1:]) for found in groups) <= 3


def test_a_noisy_engine_does_not_hide_what_the_others_differ_in() -> None:
    """The processes of one of six differ by 10 %, those of the others by 1 %."""
    seen = []
    for seed in range(40):
        dice = random.Random(seed)
        quiet, loud = LUCKS["luck of 1 %"], of_two_kinds(0.2)
        first, *others = (
            drawn(str(number), one, loud if number == 5 else quiet, 12, dice)
            for number, one in enumerate([1.0, 1.1, 1.0, 1.0, 1.0, 1.0])
        )
        seen.append(compare(first, others)[0].verdict)
    assert seen.count(Verdict.SLOWER) >= 32


def test_many_rows_of_two_files_claim_no_more_than_one_may() -> None:
    claims = 0
    for seed in range(200):
        dice, luck = random.Random(seed), LUCKS["luck of 1 %"]
        pairs = [
            (drawn("a", 1.0, luck, 6, dice), drawn("b", 1.0, luck, 6, dice)) for _ in range(12)
        ]
        claims += claims_something(compare_each(pairs))
    assert claims <= 10


def test_a_row_of_two_files_that_differs_is_told_beside_others() -> None:
    dice, luck = random.Random(1), LUCKS["luck of 1 %"]
    pairs = [
        (drawn("a", 1.0, luck, 6, dice), drawn("b", 1.0 + slower, luck, 6, dice))
        for slower in (0.0, 0.1, 0.0)
    ]
    pairs.append((drawn("a", 1.0, luck, 2, dice), drawn("b", 2.0, luck, 2, dice)))
    verdicts = [one.verdict for one in compare_each(pairs)]
    same = Verdict.NO_DIFFERENCE
    assert verdicts == [same, Verdict.SLOWER, same, Verdict.NOT_ENOUGH]


def test_sessions_of_one_group_share_its_rate() -> None:
    luck = LUCKS["luck of 1 %"]
    dice = random.Random(1)
    first, other = (drawn(name, 1.0, luck, 6, dice) for name in "ab")
    (whole,), (half,) = compare(first, [other]), compare(first, [other], 0.01)
    assert whole.confidence == 0.98
    assert half.confidence == 0.99
    assert (half.low or 0) < (whole.low or 0)
