"""Measure models on engines, all with the same inputs, and judge what they compute."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from burnish.bench import choose
from burnish.bench.measure import SCHEMA, BenchReport
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.bench.verdict import require_sound
from burnish.core import files, records
from burnish.core.hashing import value_key
from burnish.core.precisions import element_type
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.feeds.feed import Padding
from burnish.process.child import answer_limit_s
from burnish.store.stored import StoredModel
from burnish.study.given import models_of
from burnish.study.inputs import feeds_of
from burnish.study.judge import judge_of
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.line import line
from burnish.study.requests.vocabulary import Place, Sizes, names, path, shapes

_SECONDS_PER_SUBJECT = 30.0


def answer(asked: BenchCommand, *, progress: Progress = SILENT) -> BenchReport:
    """Return how fast each model is on each engine, how sure that is, and whether it is right.

    With several shapes, each is measured by itself, and has rows and a baseline of its own.
    """
    models = models_of(asked.model, asked.store, asked.trust_factory)
    engines = names(asked.engine)
    options = EngineOptions(
        threads=asked.threads,
        precision=None if asked.precision is None else element_type(asked.precision),
        cuda_graph=asked.cuda_graph,
        allow_fallback=asked.allow_fallback,
    )
    subjects = choose.subjects(models, engines, options)
    every = shapes(asked.shape) or ({},)
    baseline = choose.baseline(subjects, asked.baseline)
    found = [
        _measured(models[0], subjects, baseline, _OneShape(asked, shape, len(every)), progress)
        for shape in every
    ]
    rerun = line(asked)
    report = _together(found, (*choose.left_out(models, engines, rerun),), rerun)
    if (target := path(asked.output)) is not None:
        files.write_text(target, records.text_of(records.document(report, schema=SCHEMA)))
    return report


def require(_asked: BenchCommand, report: BenchReport) -> None:
    """Raise if a subject could not be measured, or is wrong."""
    require_sound(report)


@dataclass(frozen=True, slots=True)
class _OneShape:
    """One of the shapes that a request asks for; it has what `feeds_of` asks."""

    asked: BenchCommand
    shape: Sizes
    of: int

    @property
    def data(self) -> Place | None:
        return self.asked.data

    @property
    def seed(self) -> int:
        return self.asked.seed

    @property
    def padding(self) -> Padding:
        return self.asked.padding

    def label(self, subject: str) -> str:
        """Return a name that tells the shape, if there are several."""
        sizes = ",".join(f"{name}={size}" for name, size in self.shape.items())
        return subject if self.of == 1 else f"{subject} {sizes}"


def _measured(
    model: StoredModel,
    subjects: Sequence[BenchSubject],
    baseline: str,
    part: _OneShape,
    progress: Progress,
) -> BenchReport:
    asked = part.asked
    named = [dataclasses.replace(one, label=part.label(one.label)) for one in subjects]
    plan = BenchOptions(
        rounds=asked.rounds,
        blocks=asked.blocks,
        baseline=part.label(baseline),
        seed=asked.seed,
        budget_s=asked.budget / part.of if asked.budget else _SECONDS_PER_SUBJECT * len(named),
        limit_s=answer_limit_s(asked.budget, BenchOptions().limit_s),
    )
    feeds = feeds_of(model, part)
    judge = judge_of(named, part.label(baseline), feeds) if asked.verify else None
    return bench(named, feeds, plan, judge=judge, progress=progress)


def _together(found: Sequence[BenchReport], left_out: tuple[str, ...], rerun: str) -> BenchReport:
    """Return one report of all shapes; each comparison is with the baseline at its own shape."""
    first = found[0]
    notes = (*left_out, *(note for one in found for note in one.notes))
    warnings = dict.fromkeys(text for one in found for text in one.machine.warnings)
    keys = [one.inputs_key for one in found]
    return dataclasses.replace(
        first,
        measurements=tuple(row for one in found for row in one.measurements),
        comparisons=tuple(row for one in found for row in one.comparisons),
        machine=dataclasses.replace(first.machine, warnings=tuple(warnings)),
        inputs_key=keys[0] if len(keys) == 1 else value_key(keys),
        notes=tuple(dict.fromkeys(notes)),
        rerun=rerun,
        parity={label: mark for one in found for label, mark in one.parity.items()},
    )
