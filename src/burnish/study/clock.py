"""How the time for a matrix is shared out: what cells take is learnt from those before them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.quiet import OPENING_S
from burnish.core.progress import Progress

SLACK = 1.1
"""A budget may be exceeded by a tenth: the last cell is not cut off."""

Kind = tuple[str, str]
"""What cells are alike in: the engine with its mode, and the type."""


@dataclass(frozen=True, slots=True)
class TimeShare:
    """A group's part of the time that there is."""

    seconds_s: float
    whole_s: float | None = None
    """What all groups have together; None: that is not known."""

    @property
    def of_s(self) -> float | None:
        """Return the whole, if others have a part of it: a moment goes into the beginning."""
        return self.whole_s if self.whole_s and self.seconds_s < 0.9 * self.whole_s else None


@dataclass(slots=True)
class Clock:
    """How much of the time is left, and what a cell takes however little time it has."""

    budget_s: float | None
    """None: `usual_s` for each cell; 0: nothing is measured."""
    usual_s: float
    cells: int
    """How many are to be measured."""
    done: int = 0
    finishing: bool = False
    """Whether cells are measured that had too few processes: then each needs those of a verdict."""
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)
    _taken_s: dict[Kind, float] = field(init=False, default_factory=dict)
    _again_s: dict[Kind, float] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def spent_s(self) -> float:
        """Return the seconds since the beginning."""
        return self.clock() - self.began

    @property
    def whole_s(self) -> float:
        """Return how long all of it may take: what was given, or what is usual."""
        return self.usual_s * self.cells if self.budget_s is None else self.budget_s

    @property
    def left_s(self) -> float:
        """Return about how long it will take from now on."""
        left_s = max(0.0, self.whole_s - self.spent_s)
        if not self.done:
            return left_s
        at_this_rate_s = self.spent_s / self.done * (self.cells - self.done)
        return at_this_rate_s if self.budget_s is None else min(at_this_rate_s, left_s)

    def learn(self, kind: Kind, seconds_s: float, again_s: float | None = None) -> None:
        """Note what one process of such a cell takes, from its start to its last call.

        `again_s`: what a further one takes, for which everything is compiled; None: as long.
        """
        self._taken_s[kind] = max(seconds_s, self._taken_s.get(kind, 0.0))
        again_s = seconds_s if again_s is None else again_s
        self._again_s[kind] = max(again_s, self._again_s.get(kind, 0.0))

    def least_s(self, kind: Kind) -> float:
        """Return what such a cell takes at least: a process of it, or of its engine's others."""
        further = FEWEST_ROUNDS - 1 if self.finishing else 0
        return _of(self._taken_s, kind) + further * _of(self._again_s, kind)

    def fitting(self, groups: Sequence[Mapping[str, Kind]], baselines: Collection[str]) -> set[str]:
        """Return the cells of these groups for which there is time: the longest are left out first.

        Before anything was measured nobody can know, and all of the first group fit. A baseline
        is left out last, for without it others say nothing.
        """
        cells = {name: kind for group in groups for name, kind in group.items()}
        if self.budget_s is None:
            return set(cells)
        left_s = SLACK * self.budget_s - self.spent_s
        unknown = groups and self.budget_s and not self._taken_s
        first = set(groups[0]) if unknown else set()
        by_need = sorted(cells, key=lambda name: (name in first, name in baselines,
                                                  -self.least_s(cells[name])))  # fmt: skip
        needed_s = sum(map(self.least_s, cells.values()))
        chosen = set(cells)
        for name in by_need:
            if needed_s <= left_s or name in first:
                break
            chosen.discard(name)
            needed_s -= self.least_s(cells[name])
        return chosen

    def share_s(self, now: Sequence[Kind], later: Sequence[Kind] = ()) -> float:
        """Return how long the cells of now may take, of those that are still to come."""
        if self.budget_s is None:
            return self.usual_s * len(now)
        left_s = max(0.0, self.budget_s - self.spent_s)
        whole_s = sum(map(self.least_s, (*now, *later)))
        return left_s * sum(map(self.least_s, now)) / whole_s if whole_s else left_s


@dataclass(frozen=True, slots=True)
class Overall:
    """Progress of one group as progress of the whole, with the time that is left."""

    outer: Progress
    clock: Clock
    cells: int
    """How many the present group has."""

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Tell how far the matrix is; what is no part of measuring is told as it is."""
        if stage != "bench":
            self.outer.step(stage, done, total, note)
            return
        part = done / total if total else 0.0
        of = 100 * self.clock.cells
        at = min(int(100 * (self.clock.done + part * self.cells)), of - 1)
        left = minutes(self.clock.left_s)
        cell = f"cell {at // 100 + 1} of {self.clock.cells}"
        self.outer.step(stage, at, of, f"{cell}, about {left} left; {note}")


def _of(taken_s: Mapping[Kind, float], kind: Kind) -> float:
    """Return what is known of a kind; else the most of its engine's others."""
    alike = [taken for (engine, _), taken in taken_s.items() if engine == kind[0]]
    return taken_s.get(kind, max(alike, default=OPENING_S))


def minutes(seconds_s: float) -> str:
    """Return a time as people guess it: `4 min`, `35 s`."""
    return f"{seconds_s / 60:.0f} min" if seconds_s >= 90 else f"{seconds_s:.0f} s"
