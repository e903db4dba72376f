"""The whole workflow on one model: optimise, verify, measure, profile, report."""

from __future__ import annotations

import dataclasses
import datetime as dt
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.analyze.profile import Profile, ProfileReport, Subject, profile
from burnish.bench import choose
from burnish.bench.measure import BenchReport
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import files, records
from burnish.core.errors import ModelError
from burnish.core.hashing import value_key
from burnish.core.progress import SILENT, Progress
from burnish.core.steps import StepLog
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError
from burnish.engines.recording import Repeats
from burnish.feeds.choose import choose as choose_feeds
from burnish.feeds.feed import Feeds, Padding
from burnish.infer.graph_of import graph_of
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.process.child import answer_limit_s
from burnish.report import html, record
from burnish.report.record import RunReport
from burnish.rewrite.options import OptimizeOptions
from burnish.store import layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.store.trust import OPTION, foreign_code
from burnish.study.judge import judge_of
from burnish.study.optimize import OptimizeReport, RejectedError, optimize_file
from burnish.study.trial import Trial
from burnish.version import __version__

PAGE = "report.html"
RESULT = "result.json"
_SECONDS_PER_SUBJECT = 20.0
_VERIFY_S = 15.0
"""How long to verify beyond the asked samples: each fusion was tried on its own before."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a user may choose; everything has a default."""

    engines: tuple[str, ...] = ()
    """Empty: every engine that works here and can run the model."""
    bindings: Mapping[str, int] = field(default_factory=dict)
    data: Path | None = None
    seed: int = 0
    padding: Padding = "right"
    samples: int = 3
    engine: EngineOptions = field(default_factory=EngineOptions)
    optimize: OptimizeOptions = field(default_factory=OptimizeOptions)
    check: bool = True
    """Try each fusion on its own against what it replaces."""
    bench: BenchOptions = field(default_factory=BenchOptions)
    budget_s: float | None = None
    """About how long to measure; None: as long as the number of subjects calls for."""


@dataclass(frozen=True, slots=True)
class _Study:
    """One run: what it is about, and where it keeps what it has finished."""

    model: StoredModel
    folder: Path
    options: RunOptions
    source_key: str
    command: str
    log: StepLog
    progress: Progress

    @property
    def target(self) -> Path:
        return self.folder / f"{self.model.onnx.stem}_optimized.onnx"

    @property
    def optimized(self) -> StoredModel:
        source = layout.stored(self.target)
        return dataclasses.replace(source, name=f"{self.model.label}_optimized", torch=None)

    def key(self, *parts: object) -> str:
        """Return a key that changes with the model, with burnish, and with `parts`."""
        return value_key([__version__, self.source_key, *map(records.encode, parts)])


def run(
    model: StoredModel,
    folder: Path,
    options: RunOptions = RunOptions(),  # noqa: B008  (frozen)
    *,
    command: str = "",
    progress: Progress = SILENT,
) -> RunReport:
    """Do all of it, write report, result and optimised model into `folder`, return the record.

    Steps that an earlier run into the same folder has finished are not repeated. A rewritten
    model that computes something else is not written; the report says so.
    """
    key = onnx_files.content_key(model.onnx)
    log = StepLog(folder / "steps")
    study = _Study(model, folder, options, key, command, log, progress)
    kinds = {
        RESULT: records.files_of(RunReport),
        PAGE: html.FILES,
        study.target.name: _own(log),
    }
    for name, kind in kinds.items():
        files.check_file(folder / name, kind)
    report = _studied(study)
    document = records.document(report, schema=record.SCHEMA)
    files.write_text(folder / RESULT, records.text_of(document), kinds[RESULT])
    files.write_text(folder / PAGE, html.page(report), kinds[PAGE])
    return report


def _own(log: StepLog) -> files.Kind:
    """Return which model may be replaced: ours by its content, or, damaged, by what was noted."""

    def refusal(path: Path) -> str | None:
        noted = log.noted("optimize")
        was_here = noted is not None and noted.get("target") == str(path)
        return None if was_here else onnx_files.OWN.refusal(path)

    return files.Kind(onnx_files.OWN.name, refusal)


def _studied(study: _Study) -> RunReport:
    optimized = _optimized(study)
    parity = optimized.parity
    assert parity is not None
    models = [study.model, study.optimized] if parity.passed else [study.model]
    return RunReport(
        model=study.model.label,
        original=str(study.model.onnx),
        optimized=str(study.target),
        source_key=study.source_key,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        burnish_version=__version__,
        command=study.command,
        rewrite=optimized.rewrite,
        parity=parity,
        bench=_measured(study, models),
        profile=_profiled(study, models),
        steps=study.log.marks,
        files=_files(study, parity),
    )


def _optimized(study: _Study) -> OptimizeReport:
    options = study.options
    request = VerifyRequest(
        reference=study.model,
        shapes=(options.bindings,) if options.bindings else (),
        samples=options.samples,
        seed=options.seed,
        padding=options.padding,
        data=options.data,
        budget_s=_VERIFY_S,
    )

    def make() -> OptimizeReport:
        try:
            return optimize_file(
                study.model, study.target, options.optimize, request=request,
                trial=Trial(check=options.check, bindings=options.bindings),
                progress=study.progress,
            )  # fmt: skip
        except RejectedError as error:
            return error.report

    key = study.key(options.optimize, options.check, request)
    return study.log.once("optimize", make, key=key, kind=OptimizeReport, holds=_is_there)


def _is_there(report: OptimizeReport) -> bool:
    """Return whether the model that a finished step wrote is still what it was."""
    if report.target_key is None:
        return True
    try:
        return onnx_files.content_key(report.target) == report.target_key
    except ModelError:
        return False


def _measured(study: _Study, models: list[StoredModel]) -> BenchReport:
    options = study.options
    subjects = _subjects(study, models)
    feeds = _feeds(study)
    plan = dataclasses.replace(
        options.bench,
        baseline=subjects[0].label,
        seed=options.seed,
        budget_s=options.budget_s or _SECONDS_PER_SUBJECT * len(subjects),
        limit_s=answer_limit_s(options.budget_s, options.bench.limit_s),
    )

    def make() -> BenchReport:
        judge = judge_of(subjects, subjects[0].label, feeds)
        rerun = _rerun(study, models)
        report = bench(subjects, feeds, plan, judge=judge, rerun=rerun, progress=study.progress)
        left = choose.left_out(models, options.engines, study.command)
        return dataclasses.replace(report, notes=(*left, *report.notes))

    keys = [onnx_files.content_key(model.onnx) for model in models]
    key = study.key(keys, subjects, plan, feeds.bindings, options.data, options.padding)
    return study.log.once("bench", make, key=key, kind=BenchReport)


def _subjects(study: _Study, models: list[StoredModel]) -> tuple[BenchSubject, ...]:
    return choose.subjects(models, study.options.engines, study.options.engine)


def _rerun(study: _Study, models: list[StoredModel]) -> str:
    options = study.options
    sizes = ",".join(f"{name}={size}" for name, size in options.bindings.items())
    given = {
        "--engine": ",".join(options.engines),
        "--shape": sizes,
        "--data": str(options.data or ""),
        "--rounds": str(options.bench.rounds),
        OPTION: (foreign_code(study.model) or "") if study.model.trusted else "",
    }
    words = [word for name, value in given.items() if value for word in (name, value)]
    return shlex.join(["burnish", "bench", *(str(model.onnx) for model in models), *words])


def _profiled(study: _Study, models: list[StoredModel]) -> tuple[Profile, ...]:
    feeds = _feeds(study)
    engines = {subject.engine for subject in _subjects(study, models)}
    engine = "onnxruntime-cpu" if "onnxruntime-cpu" in engines else sorted(engines)[0]

    def make() -> ProfileReport:
        profiles = tuple(_profile(study, model, engine, feeds) for model in models)
        return ProfileReport(tuple(one for one in profiles if one is not None), None)

    keys = [onnx_files.content_key(model.onnx) for model in models]
    key = study.key(keys, engine, study.options.engine, feeds.bindings, study.options.seed)
    found = study.log.once("profile", make, key=key, kind=ProfileReport)
    return found.profiles


def _profile(study: _Study, model: StoredModel, engine: str, feeds: Feeds) -> Profile | None:
    graph = graph_of(onnx_files.read(model.onnx), feeds.bindings)
    subject = Subject(model.label, engine, graph)
    try:
        with isolated.open_session(engine, model, study.options.engine) as session:
            recording = session.record(feeds.arrays, Repeats())
    except EngineCrashedError as error:  # its row among the measurements says so, too
        study.progress.step("profile", 1, 1, error.problem)
        return None
    study.progress.step("profile", 1, 1, model.label)
    return None if recording.trace is None else profile(recording, subject)[0]


def _feeds(study: _Study) -> Feeds:
    options = study.options
    return choose_feeds(
        study.model,
        data=options.data,
        bindings=options.bindings,
        seed=options.seed,
        padding=options.padding,
    )[0]


def _files(study: _Study, parity: VerifyReport) -> dict[str, str]:
    written = {"report": PAGE, "result": RESULT}
    return {**written, "model": study.target.name} if parity.passed else written
