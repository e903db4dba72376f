"""Time several calls fairly: in turns, so that what slows the machine down slows them all."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.timing.stopwatch import WALL, Call, Clock, sampled
from burnish.timing.waiting import never


@dataclass(frozen=True, slots=True)
class Turns:
    """How several calls take turns."""

    rounds: int
    """The fewest; what slows the machine down slows all that run in one."""
    warmup: int = 2
    """Rounds before these that are not counted."""
    calls: int = 1
    """Of each in a round, at least."""
    settling: int = 0
    """Calls before these, which bring back to the caches what the others have pushed out."""
    block_s: float = 0.0
    """For how long each is called in a round, if its calls take less."""
    for_s: float = 0.0
    """For how long to go on, if the rounds take less."""


Rounds = tuple[tuple[float, ...], ...]
"""The seconds of one's calls in each round."""


def take_turns(
    calls: Sequence[Call], turns: Turns, clock: Clock = WALL, waited: Clock = never
) -> tuple[Rounds, ...]:
    """Return the seconds of each one's calls, by round; who goes first alternates.

    What runs second finds warmer cores and colder caches. What a call `waited` for is not counted.
    """
    samples: list[list[tuple[float, ...]]] = [[] for _ in calls]
    number, until = -turns.warmup, clock() + int(turns.for_s * 1e9)
    while number < turns.rounds or clock() < until:
        for call, own in list(zip(calls, samples, strict=True))[:: -1 if number % 2 else 1]:
            times = sampled(
                call, calls=turns.calls, for_s=turns.block_s, settle_calls=turns.settling,
                clock=clock, waited=waited,
            )  # fmt: skip
            own += [times] if number >= 0 else []
        number += 1
    return tuple(map(tuple, samples))


def flat(rounds: Rounds) -> tuple[float, ...]:
    """Return the seconds of all calls, whatever their round."""
    return tuple(sample for one in rounds for sample in one)


def ratio(before: Sequence[float], after: Sequence[float]) -> float:
    """Return how many times as long the second takes: the median over what ran side by side."""
    return statistics.median(b / a for a, b in zip(before, after, strict=True))
