"""Tuning for the length of one compilation: a measuring process, a cache, a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import onnx_ir as ir

from burnish.codegen.backend import Backend
from burnish.codegen.environment import tuning_cache
from burnish.codegen.schedule import Predicted, Scheduler
from burnish.codegen.tune.budget import TuningTime
from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measure import MeasuringProcess, TrialTerms
from burnish.codegen.tune.measured import Measured, TuneOptions
from burnish.codegen.tune.search import Tuner
from burnish.core.progress import Progress

_LEAST_LIMIT_S = 2.0

SchedulerFor = Callable[[ir.Model], Scheduler]
"""What schedules the graphs of a prepared model."""


@dataclass(frozen=True, slots=True)
class TuneTerms:
    """How far to look for schedules."""

    top: int = 20
    """Candidates of each group that are compiled and timed."""
    budget_s: float | None = 60.0
    """After this nothing more is timed; None: everything is."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """A tuning session."""

    scheduler: SchedulerFor
    notes: list[str]


@contextmanager
def tuned(terms: TuneTerms, predicted: Predicted, progress: Progress) -> Iterator[Tuning]:
    """Yield schedulers that begin with what is predicted, measure, and remember what they found."""
    cache = TuningCache(tuning_cache())
    budget = TuningTime(terms.budget_s)
    options = TuneOptions(predicted.fusion, terms.top)
    with MeasuringProcess(_bench_terms(terms, predicted.backend)) as bench:
        tuner = Tuner(bench, cache, predicted.backend, most=terms.top)

        def scheduler(model: ir.Model) -> Scheduler:
            return Measured(tuner, options, budget, model, progress, predicted)

        yield Tuning(scheduler, cache.notes)


def _bench_terms(terms: TuneTerms, backend: Backend) -> TrialTerms:
    """Return what holds for every trial: one kernel that hangs may not use up all the time."""
    usual = TrialTerms(backend)
    if terms.budget_s is None:
        return usual
    return replace(usual, limit_s=min(usual.limit_s, max(_LEAST_LIMIT_S, terms.budget_s / 3)))
