"""A laboratory without a machine: schedules take as long as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measure import LibraryPart, Task
from burnish.codegen.tune.search import Tuner
from burnish.codegen.tune.trial import Trial
from burnish.hw.spec import load
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.schedule import Schedule
from codegen.tune.keys import CONDITIONS

MACHINE = machine(load("x86-avx2"))

Seconds = Callable[[Group, Schedule], float | str]
"""How long a kernel takes, or why it does not work."""


class FakeLaboratory:
    """Tells made-up times, and keeps what it was asked."""

    def __init__(self, seconds: Seconds, library: Callable[[Group], float] | None = None) -> None:
        self._seconds = seconds
        self._library = library
        self.asked: list[tuple[tuple[str, ...], tuple[Schedule, ...], bool]] = []

    def try_all(
        self, task: Task, schedules: Sequence[Schedule], library: LibraryPart | None = None
    ) -> tuple[Trial, ...]:
        members = tuple(op.output for op in task.group.ops)
        self.asked.append((members, tuple(schedules), library is not None))
        trials = [_trial(schedule, self._seconds(task.group, schedule)) for schedule in schedules]
        if library is not None:
            assert self._library is not None
            trials.append(_trial(None, self._library(task.group)))
        return tuple(trials)

    @property
    def groups(self) -> set[tuple[str, ...]]:
        """Return the groups that were tried, by what their nests write."""
        return {members for members, _, _ in self.asked}


def tuner(laboratory: FakeLaboratory, cache: TuningCache | None = None) -> Tuner:
    return Tuner(laboratory, cache or TuningCache(None), CONDITIONS, MACHINE)


def _trial(schedule: Schedule | None, found: float | str) -> Trial:
    if isinstance(found, str):
        return Trial(schedule, failure=found)
    return Trial(schedule, (found,) * 3)
