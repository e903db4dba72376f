"""Benchmark models on engines: the one function that commands and studies call."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Collection, Sequence

from burnish.bench import machine, malloc, quiet
from burnish.bench.begun import EarlierRounds, Journal, apart
from burnish.bench.compare import compare
from burnish.bench.isolate import WorkerProcess, WorkerTerms
from burnish.bench.measure import (
    GENERATE,
    BenchReport,
    Comparison,
    MachineState,
    Measurement,
    Snapshot,
)
from burnish.bench.rounds import Judge, Keep, Rounds, Start
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.bench.tally import SubjectTally
from burnish.core.errors import UsageError
from burnish.core.hashing import arrays_key
from burnish.core.nearest import suggestion
from burnish.core.progress import SILENT, Progress
from burnish.engines import fallback
from burnish.engines.base import ENGINES
from burnish.feeds.feed import Feeds
from burnish.process.child import ProcessLimits
from burnish.store import onnx_files
from burnish.timing.stopwatch import WarmupLimit


def bench(
    subjects: Sequence[BenchSubject],
    feeds: Feeds,
    options: BenchOptions | None = None,
    *,
    judge: Judge | None = None,
    progress: Progress = SILENT,
    journal: Journal | None = None,
) -> BenchReport:
    """Return how fast each subject is, and how sure that is.

    Subjects that leave the number of threads open all get the same: the cores this process may
    use. `judge` is shown what each subject computed in the process that was timed. A subject
    that fails has a row that says why. `journal` is given each round as it is finished; what it
    has of this benchmark is gone on with.
    """
    options = options or BenchOptions()
    _check(subjects, options)
    subjects = [_with_threads(subject) for subject in subjects]
    earlier = EarlierRounds() if journal is None else journal.earlier()
    asked = _Asked(subjects, feeds, options, earlier)
    if busy := quiet.warning(options, len(subjects)):
        progress.step("machine", 1, 1, busy)
    if earlier.note:
        progress.step("resumed", 1, 1, earlier.note)
    labels, start = [subject.label for subject in subjects], _starter(subjects, feeds, options)
    rounds = Rounds(labels, start, options, judge=judge, progress=progress)
    if journal is not None:
        rounds.go_on(earlier, asked.keeping(rounds, journal))
    rounds.run()
    return asked.compared(asked.report(rounds, labels))


class _Asked:
    """What was asked for, and when it was begun: what a report has beside the samples."""

    def __init__(
        self,
        subjects: Sequence[BenchSubject],
        feeds: Feeds,
        options: BenchOptions,
        earlier: EarlierRounds,
    ) -> None:
        self._subjects, self._feeds = subjects, feeds
        self._options, self._earlier = options, earlier
        self._keys = {
            path: onnx_files.content_key(path) for path in {one.model.onnx for one in subjects}
        }
        self._inputs_key = arrays_key(feeds.arrays)
        self._before, self._began = machine.snapshot(), time.monotonic()

    def report(self, rounds: Rounds, chosen: Collection[str]) -> BenchReport:
        """Return what was measured of some subjects; nothing is compared."""
        options, feeds = self._options, self._feeds
        state = _machine(self._subjects, self._before, time.monotonic() - self._began)
        warnings = tuple(dict.fromkeys((*self._earlier.warnings, *state.warnings)))
        return BenchReport(
            baseline=options.baseline or self._subjects[0].label,
            measurements=tuple(
                _measurement(one, self._keys[one.model.onnx], feeds, rounds.tallies[one.label],
                             options)
                for one in self._subjects
                if one.label in chosen
            ),
            comparisons=(),
            machine=dataclasses.replace(state, warnings=warnings),
            seed=options.seed,
            inputs_key=self._inputs_key,
            notes=(*feeds.notes, *rounds.notes, *filter(None, [self._earlier.note])),
            parity={name: mark for name, mark in rounds.parity.items() if name in chosen},
        )  # fmt: skip

    def keeping(self, rounds: Rounds, journal: Journal) -> Keep:
        """Return what keeps each round as it is finished."""

        def keep(number: int, took_part: Collection[str]) -> None:
            whole = self.report(rounds, took_part)
            parts = tuple(apart(one, number) for one in whole.measurements)
            journal.keep(number, dataclasses.replace(whole, measurements=parts))

        return keep

    def compared(self, report: BenchReport) -> BenchReport:
        """Return a report of all subjects with the comparisons."""
        found = _comparisons(report.measurements, report.baseline)
        return dataclasses.replace(report, comparisons=found)


def _check(subjects: Sequence[BenchSubject], options: BenchOptions) -> None:
    labels = [subject.label for subject in subjects]
    if not labels:
        raise UsageError("there is nothing to measure", hint="name a model: burnish bench MODEL")
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two subjects are called {twice!r}", hint="measure each model on each engine once"
        )
    if options.baseline is not None and options.baseline not in labels:
        raise UsageError(
            f"the baseline {options.baseline!r} is not among the subjects",
            hint=suggestion(options.baseline, labels),
        )
    for name in dict.fromkeys(subject.engine for subject in subjects):
        fallback.require(ENGINES[name])


def _with_threads(subject: BenchSubject) -> BenchSubject:
    threads = subject.options.threads or machine.usable_cores()
    return dataclasses.replace(
        subject, options=dataclasses.replace(subject.options, threads=threads)
    )


def _starter(subjects: Sequence[BenchSubject], feeds: Feeds, options: BenchOptions) -> Start:
    """Return what starts a worker for a label."""
    # A third of the budget at most goes into warming up.
    share_s = options.budget_s / (3 * options.rounds * len(subjects))
    common = WorkerTerms(
        feeds=feeds.arrays,
        warmup=WarmupLimit(seconds=min(WarmupLimit().seconds, share_s)),
        limits=ProcessLimits(answer_s=options.limit_s),
        generate=options.generate or 0,
    )
    of = {subject.label: (subject, _terms(subject, common)) for subject in subjects}
    return lambda label: WorkerProcess(*of[label])


def _terms(subject: BenchSubject, common: WorkerTerms) -> WorkerTerms:
    if not ENGINES[subject.engine].needs_torch_source:
        return common
    allocator = malloc.for_torch(os.environ)
    limits = dataclasses.replace(common.limits, environment=allocator.environment)
    return dataclasses.replace(common, notes=(allocator.note,), limits=limits)


def _measurement(
    subject: BenchSubject, model_key: str, feeds: Feeds, tally: SubjectTally, options: BenchOptions
) -> Measurement:
    return Measurement(
        subject=subject.label,
        model_key=model_key,
        engine=subject.engine,
        options=dataclasses.asdict(subject.options),
        bindings=sizes(feeds, options.generate),
        launches=tuple(tally.launches),
        blocks=tuple(tally.blocks),
        placement=tally.placement,
        failure=tally.failure,
        file=str(subject.model.onnx),
        status=tally.status if tally.parity is None or tally.parity.passed else "wrong",
        items_per_call=options.items_per_call,
        model_bytes=onnx_files.size_bytes(subject.model.onnx),
    )


def sizes(feeds: Feeds, generate: int | None) -> dict[str, int]:
    """Return the sizes of a call: those of its inputs, and how many tokens it writes."""
    return dict(feeds.bindings) | ({} if generate is None else {GENERATE: generate})


def _machine(subjects: Sequence[BenchSubject], before: Snapshot, elapsed_s: float) -> MachineState:
    threads = max(subject.options.threads or 1 for subject in subjects)
    return machine.state(
        before=before, after=machine.snapshot(), elapsed_s=elapsed_s, threads=threads
    )


def _comparisons(measurements: Sequence[Measurement], baseline: str) -> tuple[Comparison, ...]:
    first = next(one for one in measurements if one.subject == baseline)
    return compare(first, [one for one in measurements if one is not first])
