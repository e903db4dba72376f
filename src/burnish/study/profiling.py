"""Profile models on engines, or read what was recorded elsewhere, and set them side by side."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from burnish.analyze.diagnosis import Diagnosis
from burnish.analyze.profile import (
    Profile,
    ProfiledSubject,
    ProfileReport,
    profile,
    profile_of,
    report,
)
from burnish.core import files, settings
from burnish.core.command import command
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Recording, Repeats
from burnish.infer.graph_of import graph_of
from burnish.process.scratch import scratch
from burnish.report import compared
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study import outside
from burnish.study.diagnosing import RunContext, diagnosed
from burnish.study.given import models_of
from burnish.study.inputs import FedModel, fed, feeds_of
from burnish.study.recordings import (
    distributed,
    holds_recordings,
    is_timeline,
    require_unasked,
    timelines,
)
from burnish.study.requests.looking import ProfileCommand
from burnish.study.requests.vocabulary import AnyModel, Sizes, names, path, positive
from burnish.study.timeline import unprofiled_s
from burnish.trace import chrome
from burnish.trace.events import Trace
from burnish.trace.formats import read_any
from burnish.trace.grouping import GroupLibrary, library
from burnish.trace.runs import warm

Found = tuple[Profile, Trace, ProfiledSubject]
Profiles = tuple[ProfileReport, tuple[Trace, ...]]
"""What was found, and the timelines."""
_RECORDING = ("nsys", "ncu", "perf", "runs", "warmup", "data", "threads", "allow_fallback")
"""Options that mean nothing where there is a recording."""
_PLAIN_S = 0.5
"""For how long inferences are timed without recording: a tenth of that is over before a processor
that was idle runs at its usual speed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Recorder:
    """How models are run to be recorded."""

    options: EngineOptions
    repeats: Repeats = dataclasses.field(default_factory=Repeats)
    known: GroupLibrary | None = None
    """Which nodes one operator or kernel performs; None: as Burnish's own library says."""
    shape: Sizes = dataclasses.field(default_factory=dict)
    """The sizes that the user asked for: commands about the same inference name them, too."""


def answer(asked: ProfileCommand, *, progress: Progress = SILENT) -> ProfileReport:
    """Return every model on every engine; with several, the last against the first."""
    given = asked.output
    targets = [Path(one) for one in ([given] if isinstance(given, str | os.PathLike) else given)]
    writers = [(target, compared.writer_for(target)) for target in targets]
    found, traces = profiles(asked, progress=progress)
    texts = [(target, write(found)) for target, write in writers]
    if (timeline := path(asked.trace_out)) is not None:
        texts.append((timeline, chrome.text(traces[0])))
    for number, (target, text) in enumerate(texts, 1):
        files.write_text(target, text)
        progress.step("write", number, len(texts), str(target))
    return found


def profiles(asked: ProfileCommand, *, progress: Progress = SILENT) -> Profiles:
    """Return models on engines, or recordings as they are, with their timelines."""
    given = asked.model if isinstance(asked.model, list | tuple) else (asked.model,)
    known = library(tuple(Path(one) for one in asked.groups))
    if any(is_timeline(one) or holds_recordings(one) for one in given):
        return _as_they_are(given, known, asked, progress)
    models = models_of(asked.model, asked.store, asked.trust_factory)
    engines = names(asked.engine)
    _require_one_timeline(asked, len(models) * len(engines))
    if (trace := path(asked.trace)) is not None:
        _require_one_model(models)
        require_unasked(asked, _RECORDING, trace)
        found, timeline, _ = _read(models[0], trace, known, asked)
        return report((found,)), (timeline,)
    if asked.nsys or asked.ncu or asked.perf:
        return _from_outside(models, engines, known, asked)
    done: list[Found] = []
    for model in models:
        subject = fed(model, feeds_of(model, asked))
        for engine in engines:
            done.append(recorded(subject, engine, _recorder(asked, known)))
            note = f"{model.label} on {engine}"
            progress.step("profile", len(done), len(models) * len(engines), note)
    graphs = [subject.graph for _, _, subject in done if subject.graph is not None]
    return report(tuple(one for one, _, _ in done), graphs), tuple(one for _, one, _ in done)


def _from_outside(
    models: Sequence[StoredModel],
    engines: Sequence[str],
    known: GroupLibrary,
    asked: ProfileCommand,
) -> Profiles:
    """Return what profilers found that watched a program from outside."""
    if (many := len(models) * len(engines)) > 1:
        raise UsageError(
            f"a profiler watches one model on one engine, and {many} are asked for",
            hint="give one MODEL and one --engine",
        )
    wanted = {"nsys": asked.nsys, "ncu": asked.ncu}
    for tool in (tool for tool, is_wanted in wanted.items() if is_wanted):
        outside.require(tool)
    subject, engine = fed(models[0], feeds_of(models[0], asked)), engines[0]
    how = _recorder(asked, known)
    with scratch("watch") as folder:
        if asked.nsys:
            watched = outside.nsys(subject, engine, how.options, folder=folder, runs=asked.runs)
            found, timeline = _watched(watched, subject, engine, how)
        else:
            found, timeline, _ = recorded(subject, engine, how)
        told = None
        if asked.ncu:
            told = outside.ncu(subject, engine, how.options, folder=folder)
        elif asked.perf:
            told = outside.perf(subject, engine, how.options, folder=folder, runs=asked.runs)
    return dataclasses.replace(report((found,)), traffic=told), (timeline,)


def _watched(trace: Path, subject: FedModel, engine: str, how: Recorder) -> tuple[Profile, Trace]:
    timeline = warm(read_any(trace))
    about = ProfiledSubject(subject.model.label, engine, subject.graph, how.known)
    found, timeline = profile_of(timeline, about)
    return dataclasses.replace(
        found, diagnosis=_diagnosed(timeline, subject, engine, how)
    ), timeline


def _diagnosed(
    trace: Trace, subject: FedModel, engine: str, how: Recorder, *, plain_s: float | None = None
) -> Diagnosis:
    ran = RunContext(
        str(subject.model.compiled or subject.model.onnx),
        engine,
        is_trace=False,
        cache=settings.read().cache,
        threads=how.options.threads,
        bindings=how.shape,
    )
    return diagnosed(trace, subject.graph, ran, plain_s=plain_s)


def recorded(subject: FedModel, engine: str, how: Recorder) -> Found:
    """Return where the time of a model on an engine goes, and what holds it back."""
    return profiled(recording_of(subject, engine, how), subject, engine, how)


def recording_of(subject: FedModel, engine: str, how: Recorder) -> Recording:
    """Return inferences of a model on an engine, recorded and plain."""
    with isolated.open_session(engine, subject.model, how.options) as session:
        return session.record(subject.feeds.arrays, how.repeats)


def profiled(recording: Recording, subject: FedModel, engine: str, how: Recorder) -> Found:
    """Return where the time of recorded inferences goes, and what holds them back."""
    about = ProfiledSubject(subject.model.label, engine, subject.graph, how.known)
    found, trace = profile(recording, about)
    plain_s = unprofiled_s(trace, recording.plain_s)
    told = _diagnosed(trace, subject, engine, how, plain_s=plain_s)
    return dataclasses.replace(found, diagnosis=told), trace, about


def _as_they_are(
    given: Sequence[AnyModel], known: GroupLibrary, asked: ProfileCommand, progress: Progress
) -> Profiles:
    """Return recordings of which no model is given, or the ranks of one run."""
    paths = [Path(str(one)) for one in given if is_timeline(one) or holds_recordings(one)]
    if asked.trace is not None:
        raise UsageError(
            f"{paths[0]} is a recording, and so is --trace {asked.trace}",
            hint=f"give the model of one: {command('profile', 'MODEL', '--trace', asked.trace)}",
        )
    if len(paths) < len(given):
        raise UsageError(
            f"{paths[0]} is a recording, and not all of {', '.join(map(str, given))} are",
            hint=f"{command('profile', 'MODEL', '--trace', paths[0])}; or recordings alone",
        )
    require_unasked(asked, ("engine", "shape", *_RECORDING), paths[0])
    _require_one_timeline(asked, len(paths))
    if len(paths) == 1 and paths[0].is_dir():
        return distributed(paths[0], known, progress=progress)
    if folder := next((one for one in paths if one.is_dir()), None):
        raise UsageError(
            f"{folder} holds the ranks of one run, which are set against nothing else",
            hint=f"give it alone: burnish profile {shlex.quote(str(folder))}",
        )
    return timelines(paths, known, progress=progress)


def _require_one_model(models: Sequence[StoredModel]) -> None:
    if len(models) > 1:
        raise UsageError(
            f"--trace is of one model, and {len(models)} are given",
            hint="give the MODEL that was traced",
        )


def _require_one_timeline(asked: ProfileCommand, wanted: int) -> None:
    if asked.trace_out is not None and wanted > 1:
        raise UsageError(
            f"--trace-out takes one timeline, and {wanted} were asked for",
            hint="give one MODEL and one --engine",
        )


def _read(model: StoredModel, trace: Path, known: GroupLibrary, asked: ProfileCommand) -> Found:
    timeline = warm(read_any(trace))
    graph = graph_of(onnx_files.look(model.onnx), positive(asked.shape))
    subject = ProfiledSubject(model.label, timeline.source, graph, known)
    found, timeline = profile_of(timeline, subject)
    if found.coverage is not None and found.coverage.total_s and not found.coverage.share:
        raise ModelError(
            f"{trace}: none of its work is of {model.label}: {found.notes[-1]}",
            hint="give the model that it is of, or none: "
            f"burnish profile {shlex.quote(str(trace))}",
        )
    told = diagnosed(timeline, graph, RunContext(str(trace), timeline.source, is_trace=True))
    return dataclasses.replace(found, diagnosis=told), timeline, subject


def _recorder(asked: ProfileCommand, known: GroupLibrary) -> Recorder:
    return Recorder(
        EngineOptions(threads=asked.threads, allow_fallback=asked.allow_fallback),
        Repeats(asked.warmup, asked.runs, _PLAIN_S),
        known,
        asked.shape,
    )
