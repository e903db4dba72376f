"""Profile models on engines, or read what was recorded elsewhere, and set them side by side."""

from __future__ import annotations

from pathlib import Path

from burnish.analyze.profile import (
    Profile,
    ProfileReport,
    Subject,
    profile,
    profile_of,
    report,
)
from burnish.core import files
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Repeats
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.given import models_of
from burnish.study.inputs import FedModel, fed, feeds_of
from burnish.study.requests.looking import ProfileCommand
from burnish.study.requests.vocabulary import names, path, positive
from burnish.trace import chrome
from burnish.trace.events import Trace
from burnish.trace.formats import read_any
from burnish.trace.grouping import Library, library

Found = tuple[Profile, Trace, Subject]


def answer(asked: ProfileCommand, *, progress: Progress = SILENT) -> ProfileReport:
    """Return every model on every engine; with several, the last against the first."""
    found, traces = profiles(asked, progress=progress)
    if (target := path(asked.trace_out)) is not None:
        files.write_text(target, chrome.text(traces[0]))
    return found


def profiles(
    asked: ProfileCommand, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return every model on every engine, and the timelines, led back to the models' nodes."""
    models = models_of(asked.model, asked.store, asked.trust_factory)
    engines = names(asked.engine)
    _require_one(asked, len(models), len(models) * len(engines))
    known = library(tuple(Path(one) for one in asked.groups))
    trace = path(asked.trace)
    if trace is not None:
        found, timeline, _ = _read(models[0], trace, known, asked)
        return report((found,)), (timeline,)
    done: list[Found] = []
    for model in models:
        subject = fed(model, feeds_of(model, asked))
        for engine in engines:
            done.append(_recorded(subject, engine, known, asked))
            note = f"{model.label} on {engine}"
            progress.step("profile", len(done), len(models) * len(engines), note)
    graphs = [subject.graph for _, _, subject in done]
    return report(tuple(one for one, _, _ in done), graphs), tuple(one for _, one, _ in done)


def recorded(
    subject: FedModel,
    engine: str,
    options: EngineOptions,
    repeats: Repeats,
    known: Library | None = None,
) -> Found:
    """Return where the time of a model on an engine goes."""
    about = Subject(subject.model.label, engine, subject.graph, known)
    with isolated.open_session(engine, subject.model, options) as session:
        return *profile(session.record(subject.feeds.arrays, repeats), about), about


def _require_one(asked: ProfileCommand, models: int, subjects: int) -> None:
    if asked.trace is not None and models > 1:
        raise UsageError(
            f"--trace is of one model, and {models} are given",
            hint="give the MODEL that was traced",
        )
    if asked.trace_out is not None and subjects > 1:
        raise UsageError(
            f"--trace-out takes one timeline, and {subjects} were asked for",
            hint="give one MODEL and one --engine",
        )


def _read(model: StoredModel, trace: Path, known: Library, asked: ProfileCommand) -> Found:
    timeline = read_any(trace)
    graph = graph_of(onnx_files.read(model.onnx), positive(asked.shape))
    subject = Subject(model.label, timeline.source, graph, known)
    return *profile_of(timeline, subject), subject


def _recorded(subject: FedModel, engine: str, known: Library, asked: ProfileCommand) -> Found:
    options = EngineOptions(threads=asked.threads, allow_fallback=asked.allow_fallback)
    return recorded(subject, engine, options, Repeats(asked.warmup, asked.runs), known)
