"""The whole workflow on one model: optimise, verify, measure, profile, report."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from burnish.analyze.advise import Advice, advised
from burnish.analyze.profile import Profile
from burnish.bench import choose
from burnish.bench.measure import BenchReport
from burnish.bench.recorded import cells_of, tasks_of
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.bench.verdict import require_sound
from burnish.core import files, records, settings
from burnish.core.errors import CheckFailedError, MissingCapabilityError, ModelError
from burnish.core.hashing import value_key
from burnish.core.progress import SILENT, Progress
from burnish.core.steps import StepLog
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError
from burnish.feeds.feed import Feeds
from burnish.parity.report import VerifyReport
from burnish.parity.request import VerifyRequest
from burnish.parity.verdict import verdict
from burnish.process.child import answer_limit_s
from burnish.report import explore, html, record
from burnish.report.drawings import Drawings, drawings
from burnish.report.graph.picture import Picture
from burnish.report.record import RunReport
from burnish.store import layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.store.trust import foreign_code
from burnish.study.advise_changes import model_changes
from burnish.study.given import models_of
from burnish.study.inputs import fed, feeds_of
from burnish.study.judge import judge_of
from burnish.study.kept import KnownCells
from burnish.study.optimize import optimize_file
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.picture import picture_of
from burnish.study.profiling import Recorder, profiled, recording_of
from burnish.study.requests.judging import CPU, BenchCommand, RunCommand
from burnish.study.requests.line import line
from burnish.study.requests.vocabulary import names, path
from burnish.study.rewriting import options_of_run
from burnish.study.timeline import Recorded, TimelineRequest, typical, unprofiled_s
from burnish.study.trial import FusionTrial
from burnish.version import __version__

PAGE = "report.html"
EXPLORE = "explore.html"
RESULT = "result.json"
_SECONDS_PER_SUBJECT = 20.0
_VERIFY_S = 15.0
"""How long to verify beyond the asked samples: each fusion was tried on its own before."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Where the time of the models goes, and the drawings of the last of them."""

    profiles: tuple[Profile, ...]
    drawn: Drawings | None
    smaller: tuple[Advice, ...] = ()
    """What fewer bits and fewer weights are predicted to give."""


@dataclass(frozen=True, slots=True)
class _Study:
    """One run: what it is about, and where it keeps what it has finished."""

    model: StoredModel
    folder: Path
    asked: RunCommand
    source_key: str
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


def answer(asked: RunCommand, *, progress: Progress = SILENT) -> RunReport:
    """Do all of it, write report, result and optimised model into a folder, return the record.

    Steps that an earlier run into the same folder has finished are not repeated. A rewritten
    model that computes something else is not written; the report says so.
    """
    (model,) = models_of(asked.model, asked.store, asked.trust_factory)
    folder = Path(asked.output)
    log = StepLog(folder / "steps")
    study = _Study(model, folder, asked, onnx_files.content_key(model.onnx), log, progress)
    kinds = {
        RESULT: records.files_of(RunReport),
        PAGE: html.FILES,
        EXPLORE: html.FILES,
        study.target.name: _own(log),
    }
    for name, kind in kinds.items():
        files.check_file(folder / name, kind)
    report, looked = _studied(study)
    document = records.document(report, schema=record.SCHEMA)
    files.write_text(folder / RESULT, records.text_of(document), kinds[RESULT])
    files.write_text(folder / PAGE, html.page(report, looked.drawn), kinds[PAGE])
    return report


def require(asked: RunCommand, report: RunReport) -> None:
    """Raise if the rewritten model was rejected, or a subject is wrong or could not be measured."""
    if not report.parity.passed:
        raise CheckFailedError(
            f"the rewritten model was rejected: {verdict(report.parity)}",
            hint=f"see {Path(asked.output) / report.files['report']} for the node and the rule",
        )
    require_sound(report.bench, chosen=bool(asked.engine))


def _own(log: StepLog) -> files.Kind:
    """Return which model may be replaced: ours by its content, or, damaged, by what was noted."""

    def refusal(path: Path) -> str | None:
        noted = log.noted("optimize")
        was_here = noted is not None and noted.get("target") == str(path)
        return None if was_here else onnx_files.OWN.refusal(path)

    return files.Kind(onnx_files.OWN.name, refusal)


def _studied(study: _Study) -> tuple[RunReport, Looked]:
    optimized = _optimized(study)
    parity = optimized.parity
    assert parity is not None
    models, keys = [study.model], [study.source_key]
    if parity.passed and optimized.target_key is not None:
        models, keys = [*models, study.optimized], [*keys, optimized.target_key]
    feeds = feeds_of(study.model, study.asked)
    measured = _measured(study, models, keys, feeds)
    looked = _profiled(study, models, keys, feeds)
    report = RunReport(
        model=study.model.label,
        original=str(study.model.onnx),
        optimized=str(study.target),
        source_key=study.source_key,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        burnish_version=__version__,
        command=line(study.asked),
        rewrite=optimized.rewrite,
        parity=parity,
        bench=measured,
        profile=looked.profiles,
        steps=study.log.marks,
        files=_files(study, parity, looked),
        smaller=looked.smaller,
    )
    return report, looked


def _optimized(study: _Study) -> OptimizeReport:
    asked, options = study.asked, options_of_run(study.asked)
    request = VerifyRequest(
        reference=study.model,
        shapes=(asked.shape,) if asked.shape else (),
        samples=asked.samples,
        seed=asked.seed,
        padding=asked.padding,
        data=path(asked.data),
        budget_s=_VERIFY_S,
    )

    def make() -> OptimizeReport:
        try:
            return optimize_file(
                study.model, study.target, options, request=request,
                trial=FusionTrial(check=asked.trial, bindings=asked.shape),
                progress=study.progress,
            )  # fmt: skip
        except RewriteRejectedError as error:
            return error.report

    key = study.key(options, asked.trial, request)
    return study.log.once("optimize", make, key=key, kind=OptimizeReport, holds=_is_there)


def _is_there(report: OptimizeReport) -> bool:
    """Return whether the model that a finished step wrote is still what it was."""
    if report.target_key is None:
        return True
    try:
        return onnx_files.content_key(report.target) == report.target_key
    except ModelError:
        return False


def _measured(
    study: _Study, models: list[StoredModel], keys: list[str], feeds: Feeds
) -> BenchReport:
    asked = study.asked
    subjects = _subjects(study, models)
    plan = BenchOptions(
        rounds=asked.rounds,
        baseline=subjects[0].label,
        seed=asked.seed,
        budget_s=asked.budget or _SECONDS_PER_SUBJECT * len(subjects),
        limit_s=answer_limit_s(asked.budget, BenchOptions().limit_s),
    )

    def make() -> BenchReport:
        judge = judge_of(subjects, subjects[0].model, feeds)
        report = bench(subjects, feeds, plan, judge=judge, progress=study.progress)
        kept = KnownCells(None)
        tasks = tasks_of(report, rounds=plan.rounds, blocks=plan.blocks)
        kept.add(cells_of(report, tasks, {one.label: one.model.label for one in subjects}))
        left = (*choose.left_out(models, names(asked.engine), line(asked)), *kept.notes)
        rerun = _rerun(study, models)
        return dataclasses.replace(report, notes=(*left, *report.notes), rerun=rerun)

    key = study.key(keys, subjects, plan, feeds.bindings, path(asked.data), asked.padding)
    return study.log.once("bench", make, key=key, kind=BenchReport)


def _subjects(study: _Study, models: list[StoredModel]) -> tuple[BenchSubject, ...]:
    return choose.subjects(models, names(study.asked.engine), _engine_options(study.asked))


def _engine_options(asked: RunCommand) -> EngineOptions:
    return EngineOptions(threads=asked.threads, allow_fallback=asked.allow_fallback)


def _rerun(study: _Study, models: list[StoredModel]) -> str:
    asked = study.asked
    code = foreign_code(study.model) if study.model.trusted else None
    measuring = BenchCommand(
        models,
        engine=asked.engine,
        shape=asked.shape,
        data=asked.data,
        rounds=asked.rounds,
        trust_factory=(code,) if code else (),
    )
    return line(measuring)


def _profiled(study: _Study, models: list[StoredModel], keys: list[str], feeds: Feeds) -> Looked:
    options = _engine_options(study.asked)
    engines = {subject.engine for subject in _subjects(study, models)}
    engine = "onnxruntime-cpu" if "onnxruntime-cpu" in engines else sorted(engines)[0]

    def make() -> Looked:
        looked = [_looked_at(study, model, engine, feeds) for model in models]
        seen = [one for one in looked if one is not None]
        if not seen:
            return Looked((), None)
        files.write_text(study.folder / EXPLORE, explore.page(seen[-1].picture), html.FILES)
        profiles = tuple(one.profile for one in seen)
        return Looked(profiles, drawings(seen[-1].picture), _smaller(seen[0], engine))

    key = study.key(keys, engine, options, feeds.bindings, study.asked.seed)
    is_there = (study.folder / EXPLORE).exists
    return study.log.once(
        "profile", make, key=key, kind=Looked, holds=lambda one: not one.profiles or is_there()
    )


@dataclass(frozen=True, slots=True)
class _Inference:
    """Where the time of one model goes."""

    profile: Profile
    picture: Picture
    request: TimelineRequest
    recorded: Recorded


def _smaller(original: _Inference, engine: str) -> tuple[Advice, ...]:
    """Return what fewer bits and fewer weights are predicted to give, where that can be told."""
    if engine != CPU:
        return ()
    return advised(model_changes(original.request, original.recorded))


def _looked_at(study: _Study, model: StoredModel, engine: str, feeds: Feeds) -> _Inference | None:
    """Return where a model's time goes, and its picture; None where no engine could tell."""
    options, subject = _engine_options(study.asked), fed(model, feeds)
    how = Recorder(options, shape=study.asked.shape)
    request = TimelineRequest(
        model, engine=engine, options=options, shape=study.asked.shape, cache=settings.read().cache
    )
    try:
        recording = recording_of(subject, engine, how)
        found, _, _ = profiled(recording, subject, engine, how)
        assert recording.trace is not None, "else there was no profile either"
        plain_s = unprofiled_s(recording.trace, recording.plain_s)
        recorded = typical(recording.trace, plain_s, request, subject)
        drawn = picture_of(recorded, request)
    except (EngineCrashedError, MissingCapabilityError) as error:  # its row there says so, too
        study.progress.step("profile", 1, 1, error.problem)
        return None
    study.progress.step("profile", 1, 1, model.label)
    return _Inference(found, drawn, request, recorded)


def _files(study: _Study, parity: VerifyReport, looked: Looked) -> dict[str, str]:
    written = {"report": PAGE, "result": RESULT}
    written |= {"explore": EXPLORE} if looked.profiles else {}
    return {**written, "model": study.target.name} if parity.passed else written
