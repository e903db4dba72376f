"""Measure models on engines, all with the same inputs, and judge what they compute."""

from __future__ import annotations

import dataclasses

from burnish.bench import choose
from burnish.bench.measure import SCHEMA, BenchReport
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions
from burnish.bench.verdict import require_sound
from burnish.core import files, records
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import EngineOptions
from burnish.process.child import answer_limit_s
from burnish.study.given import models_of
from burnish.study.inputs import feeds_of
from burnish.study.judge import judge_of
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.line import line
from burnish.study.requests.vocabulary import names, path

_SECONDS_PER_SUBJECT = 30.0


def answer(asked: BenchCommand, *, progress: Progress = SILENT) -> BenchReport:
    """Return how fast each model is on each engine, how sure that is, and whether it is right."""
    models = models_of(asked.model, asked.store, asked.trust_factory)
    engines = names(asked.engine)
    options = EngineOptions(
        threads=asked.threads,
        precision=asked.precision,
        cuda_graph=asked.cuda_graph,
        allow_fallback=asked.allow_fallback,
    )
    subjects = choose.subjects(models, engines, options)
    plan = BenchOptions(
        rounds=asked.rounds,
        blocks=asked.blocks,
        baseline=choose.baseline(subjects, asked.baseline),
        seed=asked.seed,
        budget_s=asked.budget or _SECONDS_PER_SUBJECT * len(subjects),
        limit_s=answer_limit_s(asked.budget, BenchOptions().limit_s),
    )
    feeds = feeds_of(models[0], asked)
    rerun = line(asked)
    judge = judge_of(subjects, plan.baseline or "", feeds) if asked.verify else None
    report = bench(subjects, feeds, plan, judge=judge, rerun=rerun, progress=progress)
    notes = (*choose.left_out(models, engines, rerun), *report.notes)
    report = dataclasses.replace(report, notes=notes)
    if (target := path(asked.output)) is not None:
        files.write_text(target, records.text_of(records.document(report, schema=SCHEMA)))
    return report


def require(_asked: BenchCommand, report: BenchReport) -> None:
    """Raise if a subject could not be measured, or is wrong."""
    require_sound(report)
