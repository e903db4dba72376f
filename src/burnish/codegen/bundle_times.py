"""How long the candidates of a bundle take on the device here."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.codegen import bundle as bundles
from burnish.codegen.bundle import SUFFIX, BundledGroup
from burnish.codegen.tune.check import finding
from burnish.codegen.tune.trial import Tuned
from burnish.core import records, units
from burnish.core.arrays import Arrays
from burnish.core.closing import Closing
from burnish.core.command import command
from burnish.core.errors import BurnishError, MissingCapabilityError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.hw import detect
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits
from burnish.runtime.executable import Executable, OnCard
from burnish.runtime.load import LoadedModel, load
from burnish.runtime.runner import runner_for
from burnish.timing.race import RaceRules, race

SCHEMA = 1
ENTRY = f"{__name__}:BundleWorker"

_BLOCK_S = 2e-3
"""Runs are repeated in one graph until they take about as long."""
_MOST_REPEATS = 50
_RUNS = 5
"""Per round: one graph each."""
_RULES = RaceRules(rounds=5, behind=1.5, behind_at_first=1.5)


@dataclass(frozen=True, slots=True)
class CandidateTimings:
    """What one run over a bundle gave: a file that travels back to where the models are."""

    target: str
    """What the kernels were built for: `cuda: sm_90`."""
    device: str
    date: str
    groups: Mapping[str, Tuned]
    """By `TrialTask.key`, equal for equal groups of any model."""


def read(path: Path) -> CandidateTimings:
    """Return what a file of timings holds."""
    return records.read_document(CandidateTimings, path, schema=SCHEMA)


def time_bundle(
    folder: Path, *, limit_s: float = 60.0, progress: Progress = SILENT, entry: str = ENTRY
) -> CandidateTimings:
    """Return how long every candidate of a bundle takes here, or why there is no time.

    `limit_s`: a candidate that gives no answer for so long hangs. `entry`: what runs them, in a
    process of its own.
    """
    paths = sorted(folder.glob(f"*{SUFFIX}"))
    if not paths:
        raise UsageError(
            f"{folder}: is no bundle of candidates",
            hint="make one: "
            + command("compile", "MODEL", "--target", "sm_90", "--bundle", folder, "-o", "FOLDER"),
        )
    target = _checked(bundles.read(paths[0]), folder)
    groups = {}
    with _Device(entry, limit_s) as device:
        for number, path in enumerate(paths, 1):
            tuned = groups[path.stem] = _timed(bundles.read(path), path.with_suffix(""), device)
            progress.step("time", number, len(paths), _line(tuned))
    name = ", ".join(gpu.name for gpu in detect.gpus()) or detect.cpu().model
    date = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return CandidateTimings(target, name, date, groups)


def _checked(group: BundledGroup, folder: Path) -> str:
    """Return what a bundle was made for; raise if the device here is another."""
    if missing := runner_for(group.target).lacks(group.requires):
        raise MissingCapabilityError(
            f"{folder}: its kernels are for {group.target}, and here there is no"
            f" {', '.join(missing)}",
            hint="make the bundle for this device: burnish compile --target",
        )
    return group.target


def _timed(group: BundledGroup, folder: Path, device: _Device) -> Tuned:
    """Return the trials of a group, in rounds of all that can be run."""
    plans = [n for n, trial in enumerate(group.trials) if not trial.failure]
    failures: dict[int, str] = {}

    def timed(candidate: int) -> float | None:
        found = device.time(CandidateRun(folder.absolute(), plans.index(candidate)))
        if found.failure:
            failures[candidate] = found.failure
            return None
        return statistics.median(found.samples_s)

    samples = race(plans, timed, _RULES)
    trials = tuple(
        replace(
            trial,
            samples_s=tuple(samples.get(n, ())),
            failure=trial.failure or failures.get(n, ""),
        )
        for n, trial in enumerate(group.trials)
    )
    return Tuned(trials, searched=len(trials))


def _line(tuned: Tuned) -> str:
    failed = sum(bool(trial.failure) for trial in tuned.trials)
    best = "none worked" if tuned.seconds is None else units.seconds(tuned.seconds)
    return f"{best}, {failed} of {units.count(len(tuned.trials), 'candidate')} failed"


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """Which candidate to time: a plan of a group's folder."""

    folder: Path
    plan: int


@dataclass(frozen=True, slots=True)
class CandidateTime:
    """How long runs took, or why that is not known."""

    samples_s: tuple[float, ...] = ()
    failure: str = ""


class _Device(Closing):
    """A process with the device, started anew when a candidate has ended it."""

    def __init__(self, entry: str, limit_s: float) -> None:
        self._entry = entry
        self._limits = ProcessLimits(answer_s=limit_s)
        self._child: Child | None = None

    def time(self, asked: CandidateRun) -> CandidateTime:
        """Return how long a candidate takes; what goes wrong is its failure, and nobody else's."""
        self._child = self._child or Child(self._entry, self._limits)
        try:
            return self._child.ask("time", asked, CandidateTime)
        except (ChildRefusedError, ChildEndedError, BurnishError) as error:
            # after an error the card itself may be in no state to go on in that process
            self.close()
            return CandidateTime(failure=str(error))

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.end()
            self._child = None


class BundleWorker:
    """Keeps the candidates of one group on the device, to time them in turns."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._model: LoadedModel | None = None
        self._inputs: Arrays = {}
        self._repeats: dict[int, int] = {}
        """How often candidates that are right are run in one graph."""

    def time(self, asked: CandidateRun) -> CandidateTime:
        """Return how long a candidate takes, which is held against what is expected at first."""
        model = self._entered(asked.folder)
        executable = model.open_plan(asked.plan)
        if not isinstance(executable, OnCard):
            return CandidateTime(failure="it does not fit on the card")
        if asked.plan not in self._repeats:
            if wrong := self._finding(executable):
                return CandidateTime(failure=wrong)
            (look,) = executable.times_s(self._inputs, warmup=2, runs=1)
            wanted = math.ceil(_BLOCK_S / max(look, 1e-9))
            self._repeats[asked.plan] = min(max(wanted, 1), _MOST_REPEATS)
        repeats = self._repeats[asked.plan]
        return CandidateTime(
            executable.times_s(self._inputs, warmup=1, runs=_RUNS, repeats=repeats)
        )

    def _entered(self, folder: Path) -> LoadedModel:
        """Return the candidates of a group, with those of no other on the device."""
        if self._model is None or folder != self._folder:
            if self._model is not None:
                self._model.close()
            self._group = bundles.read(folder.with_name(folder.name + SUFFIX))
            self._model, self._folder = load(folder), folder
            self._inputs = self._group.inputs
            self._repeats = {}
        return self._model

    def _finding(self, executable: Executable) -> str:
        found = executable.run(self._inputs)
        every = (finding(name, found[name], each) for name, each in self._group.outputs.items())
        return next(filter(None, every), "")
