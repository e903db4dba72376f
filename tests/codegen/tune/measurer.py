"""A measurer without a machine: schedules take as long as a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measure import OrtCandidate, TrialTask
from burnish.codegen.tune.search import Tuner
from burnish.codegen.tune.trial import Trial
from burnish.hw.spec import load
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.schedule import Schedule

MACHINE = machine(load("x86-avx2"))
BACKEND = CpuBackend(TARGETS["avx2"], MACHINE, "a CPU")

Seconds = Callable[[Group, Schedule], float | str]
"""How long a kernel takes, or why it does not work."""


class FakeMeasurer:
    """Tells made-up times, and keeps what it was asked."""

    def __init__(self, seconds: Seconds, ort: Callable[[Group], float] | None = None) -> None:
        self._seconds = seconds
        self._ort = ort
        self.asked: list[tuple[tuple[str, ...], tuple[Schedule, ...], bool]] = []

    def try_all(
        self, task: TrialTask, schedules: Sequence[Schedule], ort: OrtCandidate | None = None
    ) -> tuple[Trial, ...]:
        members = tuple(op.output for op in task.group.ops)
        self.asked.append((members, tuple(schedules), ort is not None))
        trials = [_trial(schedule, self._seconds(task.group, schedule)) for schedule in schedules]
        if ort is not None:
            assert self._ort is not None
            trials.append(_trial(None, self._ort(task.group)))
        return tuple(trials)

    @property
    def groups(self) -> set[tuple[str, ...]]:
        """Return the groups that were tried, by what their nests write."""
        return {members for members, _, _ in self.asked}


def tuner(measurer: FakeMeasurer, cache: TuningCache | None = None) -> Tuner:
    return Tuner(measurer, cache or TuningCache(None), BACKEND)


def _trial(schedule: Schedule | None, found: float | str) -> Trial:
    if isinstance(found, str):
        return Trial(schedule, failure=found)
    return Trial(schedule, (found,) * 3)
