"""What rounds say of a ratio and how sure that is: by their own spread, and by their group's.

Few rounds may agree by chance. Where processes come in two kinds, three of a baseline are all of
one kind in every fourth benchmark, and then every candidate whose three are of the other kind
seems to differ, with next to no spread: of five candidates one does in 13 % of such benchmarks.
But processes of all subjects are started in one way on one machine, and how far one differs from
the next is seen on all of them together. So a comparison is as sure as its own rounds allow, and
no surer than its own and the group's spread allow when these are put together.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench import student
from burnish.bench.measure import SharedSpread

FEWEST_ROUNDS = 3
"""Run whatever the budget says, if as many were asked for: fewer allow no verdict."""
_POWER = 0.8
_BORROWED = 4
"""How many rounds' worth of a comparison's own spread the group's counts. With none, five
candidates of three rounds have a false verdict in 9 to 13 % of simulated groups of processes of two
kinds; with four in 2 %; with very many, one noisy engine would hide what others differ in, after
however many rounds."""
_SWEEPS = 50
MOST_FORESEEN = 1000
"""Rounds beyond these are not counted: such noise is not a matter of patience."""


@dataclass(frozen=True, slots=True)
class Sure:
    """How sure a mean is."""

    error: float
    degrees: int
    """Of freedom."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rounds say of log(baseline / candidate): its mean, and how sure that is."""

    logs: tuple[float, ...]
    """One estimate for each round."""
    mean: float = 0.0
    ways: tuple[Sure, ...] = ()
    """How sure it is, as several ways to look at it say: the least sure holds. None: there are too
    few rounds to say."""
    shared: SharedSpread | None = None
    """What is known of the whole group."""

    def chance(self) -> float:
        """Return the p-value of the mean: how often equals seem to differ so much."""
        return max((_two_sided(self.mean, way) for way in self.ways), default=1.0)

    def reach(self, level: float) -> float:
        """Return half of the interval that holds the true difference but in a share of `level`."""
        return max(student.quantile(1 - level / 2, way.degrees) * way.error for way in self.ways)

    def visible(self, level: float) -> float:
        """Return the relative difference that four of five such benchmarks would show."""
        return _visible(self.ways, level)


def side_by_side(logs: tuple[float, ...], shared: SharedSpread | None = None) -> Evidence:
    """Return the evidence of rounds that both subjects had, in a group of this spread."""
    if len(logs) < FEWEST_ROUNDS:
        return Evidence(logs, statistics.fmean(logs) if logs else 0.0)
    return Evidence(logs, statistics.fmean(logs), _ways(logs, shared, len(logs)), shared)


def shared_spread(levels: Sequence[Mapping[int, float]]) -> SharedSpread | None:
    """Return how far processes differ that take turns; `levels`: of each subject, by round.

    What a subject has in all rounds and what a round does to all subjects is taken out. None: of
    two subjects all that is known is in their own difference.
    """
    rows = [dict(row) for row in levels if row]
    rounds = {number for row in rows for number in row}
    degrees = sum(map(len, rows)) - len(rows) - len(rounds) + 1
    if len(rows) < 3 or degrees < 2:
        return None
    for _ in range(_SWEEPS):
        moved = max([_centre(row, [*row]) for row in rows], default=0.0)
        for number in rounds:
            moved = max(moved, _centre_round(rows, number))
        if moved < 1e-12:
            break
    residual = math.fsum(value**2 for row in rows for value in row.values())
    return SharedSpread(2 * residual / degrees, degrees)


def rounds_until(
    logs: Sequence[float], visible: float, level: float, shared: SharedSpread | None = None
) -> int:
    """Return how many more rounds like these show a difference of `visible` in their mean."""
    return _first(len(logs), lambda number: _visible(_ways(logs, shared, number), level) <= visible)


def rounds_until_clear(
    logs: Sequence[float], times: float, level: float, shared: SharedSpread | None = None
) -> int:
    """Return how many more rounds make the difference so many times its interval's reach.

    It is taken to be what was found so far less its error.
    """
    apart = abs(statistics.fmean(logs)) - statistics.stdev(logs) / math.sqrt(len(logs))

    def is_clear(number: int) -> bool:
        found = Evidence((), 0.0, _ways(logs, shared, number))
        return times * found.reach(level) < apart

    return _first(len(logs), is_clear)


def _ways(logs: Sequence[float], shared: SharedSpread | None, number: int) -> tuple[Sure, ...]:
    """Return how sure the mean of so many rounds like these is."""
    own = statistics.variance(logs)
    alone = Sure(math.sqrt(own / number), number - 1)
    if shared is None:
        return (alone,)
    together = (_BORROWED * shared.variance + (number - 1) * own) / (_BORROWED + number - 1)
    known = shared.degrees * (number - 1) // max(1, len(logs) - 1)
    return (alone, Sure(math.sqrt(together / number), min(_BORROWED + number - 1, known)))


def _visible(ways: Sequence[Sure], level: float) -> float:
    return math.expm1(
        max(
            (student.quantile(1 - level / 2, way.degrees) + student.quantile(_POWER, way.degrees))
            * way.error
            for way in ways
        )
    )


def _two_sided(mean: float, way: Sure) -> float:
    if way.error == 0:
        return float(mean == 0)
    return student.two_sided(mean / way.error, way.degrees)


def _centre(row: dict[int, float], rounds: Sequence[int]) -> float:
    """Take the mean out of these rounds of one subject; return how far that moved it."""
    mean = statistics.fmean(row[number] for number in rounds)
    for number in rounds:
        row[number] -= mean
    return abs(mean)


def _centre_round(rows: Sequence[dict[int, float]], number: int) -> float:
    """Take the mean out of one round of all subjects; return how far that moved it."""
    there = [row for row in rows if number in row]
    mean = statistics.fmean(row[number] for row in there)
    for row in there:
        row[number] -= mean
    return abs(mean)


def _first(rounds: int, is_enough: Callable[[int], bool]) -> int:
    """Return how many more than `rounds` are enough, as far as that is foreseen."""
    number = rounds
    while number < MOST_FORESEEN and not is_enough(number):
        number += max(1, number // 16)
    return number - rounds
