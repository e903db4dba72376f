"""Plans against each other, and the fastest of them against every engine that is installed.

Kernels that were tuned one by one need not make the faster plan: what one of them leaves in the
caches, and in whose, is only seen here. Plans take turns in this process; the engines are met as
`burnish bench` meets them, in fresh processes, with an interval around each ratio.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from burnish.bench.measure import BenchReport, Verdict
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.codegen.backend import Backend
from burnish.codegen.pipeline import whole
from burnish.codegen.place import BuiltPlan, PreparedModel
from burnish.codegen.write import write
from burnish.core.errors import ModelError
from burnish.core.progress import SILENT, Progress
from burnish.core.units import seconds
from burnish.engines import isolated
from burnish.engines.base import ENGINES, EngineOptions
from burnish.feeds.feed import Feeds
from burnish.process.scratch import scratch
from burnish.runtime.folder import About
from burnish.runtime.load import open_folder
from burnish.store.stored import StoredModel
from burnish.study.compile_report import RaceRow
from burnish.timing.turns import Turns, take_turns

TURNS = Turns(rounds=9, warmup=0, settling=1, block_s=0.25)
TERMS = BenchOptions(rounds=5, blocks=6, budget_s=25.0)
OURS = "burnish"
ORT = "onnxruntime-cpu"
RIVALS = (ORT, "openvino")
"""The engines that run any ONNX model on a CPU; those that are installed are met."""
LEAST_GAIN = 0.02
"""A plan must be faster by this share: ONNX Runtime alone is simpler, and starts sooner."""


@dataclass(frozen=True, slots=True)
class Field:
    """What is raced, and on what."""

    model: StoredModel
    prepared: PreparedModel
    about: About
    feeds: Feeds
    backend: Backend
    progress: Progress = SILENT


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """The plan to keep, why, and how it stands against each engine."""

    built: BuiltPlan
    note: str
    rows: tuple[RaceRow, ...] = ()
    warnings: tuple[str, ...] = ()
    """Why to doubt the times."""


def raced(plans: Mapping[str, BuiltPlan], field: Field) -> RaceOutcome:
    """Return the fastest plan, or one in which ONNX Runtime runs everything.

    `plans` are named as a sentence calls them ("the tuned plan").
    """
    first = next(iter(plans.values()))
    own = {name: plan for name, plan in plans.items() if plan.plan.kernel_steps}
    if not own:
        why = Counter(r for step in first.plan.ort_steps for r in step.reasons.values())
        most = why.most_common(1)[0][0] if why else "it computes nothing"
        return RaceOutcome(first, f"ONNX Runtime runs the whole model: {most}")
    with scratch("race") as place:
        folders = {name: place / str(number) for number, name in enumerate(own)}
        for name, folder in folders.items():
            write(folder, field.about, [own[name]], field.backend)
        try:
            best, took = _fastest(folders, field)
            report = _met(folders[best], field)
        except ModelError:
            require_running(field.model, field.feeds)
            raise
    return _judged(own[best], took, report, field)


def require_running(model: StoredModel, feeds: Feeds) -> None:
    """Raise what is wrong with a model itself, if ONNX Runtime does not run it on some inputs.

    A part of it that does not run, in a folder that nobody has seen, would tell the user nothing.
    """
    unoptimised = EngineOptions(graph_level="off")
    with isolated.open_session(ORT, model, unoptimised) as session:
        session.run(feeds.arrays)


def _fastest(folders: Mapping[str, Path], field: Field) -> tuple[str, str]:
    """Return which plan is fastest when all take turns, and what each takes in words."""
    if len(folders) == 1:
        return next(iter(folders)), ""
    with ExitStack() as stack:
        calls = [
            stack.enter_context(open_folder(folder, threads=field.backend.machine.units)).prepare(
                field.feeds.arrays
            )
            for folder in folders.values()
        ]
        times = [list(map(statistics.median, own)) for own in take_turns(calls, TURNS)]
    medians = dict(zip(folders, map(statistics.median, times), strict=True))
    best, *others = sorted(medians, key=lambda name: medians[name])
    rest = [f"{name} {seconds(medians[name])}" for name in others]
    return best, f"{best} takes {seconds(medians[best])}, {', '.join(rest)}: "


def _met(folder: Path, field: Field) -> BenchReport:
    """Return how a plan does against every engine, in fresh processes that take turns."""
    options = EngineOptions(threads=field.backend.machine.units)
    compiled = dataclasses.replace(field.model, compiled=folder)
    here = [name for name in RIVALS if ENGINES[name].availability().ok]
    subjects = [BenchSubject(OURS, compiled, OURS, options)]
    subjects += [BenchSubject(name, field.model, name, options) for name in here]
    return bench(subjects, field.feeds, TERMS, progress=field.progress)


def _judged(built: BuiltPlan, took: str, report: BenchReport, field: Field) -> RaceOutcome:
    rows = tuple(_rows(report, field.prepared.sizes))
    said = took + "; ".join(map(str, rows))
    warnings = report.machine.warnings
    ort = next((row for row in rows if row.engine == ORT), None)
    if ort is None or ort.ratio is None or ort.ratio >= 1 + LEAST_GAIN:
        return RaceOutcome(built, said, rows, warnings)
    reason = f"ONNX Runtime runs the whole model as fast ({said})"
    return RaceOutcome(whole(field.prepared, field.backend, reason), reason, rows, warnings)


def _rows(report: BenchReport, sizes: Mapping[str, int]) -> list[RaceRow]:
    """Return each engine's time over ours: the report has ours, the baseline, over theirs."""
    turned = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    return [
        RaceRow(
            sizes=sizes,
            engine=one.candidate,
            verdict=turned.get(one.verdict, one.verdict).value,
            ratio=_inverse(one.ratio),
            low=_inverse(one.high),
            high=_inverse(one.low),
            confidence=one.confidence,
            reason=one.reason,
        )
        for one in report.comparisons
    ]


def _inverse(ratio: float | None) -> float | None:
    return None if ratio is None else 1 / ratio
