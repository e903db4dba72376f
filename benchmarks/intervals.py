"""Which interval for a ratio of rounds: how often is it wrong, and what does it find?

The t interval over rounds that `bench.compare` uses, the same with its spread held above what the
blocks within rounds predict, and a bootstrap that draws rounds, then blocks. Each is given the
same simulated rounds, and stops by the same rule; the levels are equal (98 %).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np

from burnish.bench import student
from burnish.bench.rounds import SETTLED_ROUNDS

LEVEL = 0.02
BLOCKS = 12
MOST_ROUNDS = 20
WIDE_ENOUGH = math.log1p(0.05) * 0.75
"""A reach like this sees 5 % in four of five runs, or nearly."""

Levels = np.ndarray
Draw = Callable[[np.random.Generator, float], np.ndarray]
Reach = Callable[[Levels, np.random.Generator], tuple[float, float]]


def main() -> None:
    """Print for each interval and each noise: false claims, coverage, 10 % found, rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    asked = parser.parse_args()
    print(
        f"{'interval':20} {'noise':14} {'false':>6} {'covers':>7} {'finds 10 %':>11} {'rounds':>7}"
    )
    for interval, reach in INTERVALS.items():
        for noise, draw in NOISES.items():
            dice = np.random.default_rng(7)
            none = [_settled(draw(dice, 0.0), reach, dice) for _ in range(asked.runs)]
            slow = [_settled(draw(dice, -math.log(1.1)), reach, dice) for _ in range(asked.runs)]
            false = sum(not low <= 0 <= high for low, high, _ in none) / asked.runs
            covers = sum(low <= -math.log(1.1) <= high for low, high, _ in slow) / asked.runs
            found = sum(high < 0 for _, high, _ in slow) / asked.runs
            rounds = sum(number for *_, number in none) / asked.runs
            print(
                f"{interval:20} {noise:14} {false:6.1%} {covers:7.1%} {found:11.1%} {rounds:7.1f}",
                flush=True,
            )


def _settled(rounds: Levels, reach: Reach, dice: np.random.Generator) -> tuple[float, float, int]:
    """Return the interval at the round where the rule of `bench.rounds` stops."""
    for number in range(SETTLED_ROUNDS, MOST_ROUNDS + 1):
        low, high = reach(rounds[:number], dice)
        half, middle = (high - low) / 2, (high + low) / 2
        if half <= WIDE_ENOUGH or abs(middle) > 2 * half:
            break
    return low, high, number


def _by_t(rounds: Levels, _dice: np.random.Generator) -> tuple[float, float]:
    return _t_interval(_middle(rounds), 0.0)


def _by_t_with_floor(rounds: Levels, _dice: np.random.Generator) -> tuple[float, float]:
    within = np.median(np.abs(rounds - np.median(rounds, axis=1, keepdims=True))) * 1.4826
    return _t_interval(_middle(rounds), float(within) / math.sqrt(rounds.shape[1]))


def _by_bootstrap(rounds: Levels, dice: np.random.Generator) -> tuple[float, float]:
    number, blocks = rounds.shape
    chosen = dice.integers(number, size=(300, number, 1))
    within = dice.integers(blocks, size=(300, number, blocks))
    drawn = _middle(rounds[chosen, within].reshape(-1, blocks)).reshape(300, number).mean(axis=1)
    low, high = np.quantile(drawn, (LEVEL / 2, 1 - LEVEL / 2))
    return float(low), float(high)


def _t_interval(levels: np.ndarray, floor: float) -> tuple[float, float]:
    spread = max(float(levels.std(ddof=1)), floor) / math.sqrt(len(levels))
    reach = student.quantile(1 - LEVEL / 2, len(levels) - 1) * spread
    return float(levels.mean()) - reach, float(levels.mean()) + reach


def _middle(rounds: Levels) -> np.ndarray:
    cut = rounds.shape[1] // 3
    middle: np.ndarray = np.sort(rounds, axis=1)[:, cut : rounds.shape[1] - cut].mean(axis=1)
    return middle


def _noise(process: Callable[[np.random.Generator], np.ndarray], tail: float) -> Draw:
    def draw(dice: np.random.Generator, true: float) -> Levels:
        within = dice.standard_t(tail, (MOST_ROUNDS, BLOCKS)) * 0.04
        levels: Levels = true + process(dice)[:, None] + within
        return levels

    return draw


def _rare(dice: np.random.Generator) -> np.ndarray:
    slow = np.where(dice.random((2, MOST_ROUNDS)) < 0.1, 0.2, 0.0)
    difference: np.ndarray = slow[0] - slow[1]
    return difference


INTERVALS: dict[str, Reach] = {
    "t": _by_t,
    "t with a floor": _by_t_with_floor,
    "bootstrap": _by_bootstrap,
}
NOISES = {
    "no luck": _noise(lambda dice: np.zeros(MOST_ROUNDS), 30),
    "luck of 1 %": _noise(lambda dice: dice.normal(0, 0.014, MOST_ROUNDS), 30),
    "luck of 3 %": _noise(lambda dice: dice.normal(0, 0.042, MOST_ROUNDS), 30),
    "rare luck": _noise(_rare, 30),
    "heavy tails": _noise(lambda dice: dice.standard_t(2, MOST_ROUNDS) * 0.01, 1.5),
}


if __name__ == "__main__":
    main()
