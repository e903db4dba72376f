"""Profile models on engines, or read what was recorded elsewhere, and set them side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.analyze.profile import (
    Profile,
    ProfileReport,
    Subject,
    profile,
    profile_of,
    report,
)
from burnish.analyze.ranks import ranks
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Repeats
from burnish.feeds.choose import choose
from burnish.feeds.make import Padding
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.graph_of import graph_of
from burnish.store.stored import StoredModel
from burnish.study.diagnosing import Ran, diagnosed
from burnish.study.timeline import undisturbed
from burnish.trace.events import Trace
from burnish.trace.formats import read_any, recognised
from burnish.trace.grouping import Library, library
from burnish.trace.runs import warm


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What is profiled, and how."""

    models: tuple[StoredModel, ...]
    engines: tuple[str, ...]
    trace: Path | None = None
    """A recording to read instead of making one."""
    groups: tuple[Path, ...] = ()
    """Libraries of groups that come before Burnish's own."""
    engine: EngineOptions = field(default_factory=EngineOptions)
    repeats: Repeats = field(default_factory=Repeats)
    data: Path | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    padding: Padding = "right"
    cache: Path = Path()
    """Where what was measured of this machine lies."""


def profiles(
    request: ProfileRequest, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return every model on every engine, and the timelines, led back to the models' nodes."""
    known = library(request.groups)
    if request.trace is not None:
        if len(request.models) > 1:
            raise UsageError(
                f"--trace is of one model, and {len(request.models)} are given",
                hint="give the MODEL that was traced",
            )
        found, trace, _ = _read(request.models[0], request.trace, known, request)
        return report((found,)), (trace,)
    subjects = [(model, engine) for model in request.models for engine in request.engines]
    done = []
    for number, (model, engine) in enumerate(subjects, 1):
        done.append(_recorded(model, engine, known, request))
        progress.step("profile", number, len(subjects), f"{model.label} on {engine}")
    return _together(done)


def timelines(
    paths: Sequence[Path], request: ProfileRequest, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return recordings of which no model is known, the last set against the first."""
    known, done = library(request.groups), list[tuple[Profile, Trace]]()
    labels = _labels(paths)
    for number, path in enumerate(paths, 1):
        trace = warm(read_any(path))
        subject = Subject(labels[path], trace.source, None, known)
        found, trace = profile_of(trace, subject)
        ran = Ran(str(path), trace.source, is_trace=True, cache=request.cache)
        done.append((replace(found, diagnosis=diagnosed(trace, None, ran)), trace))
        progress.step("profile", number, len(paths), labels[path])
    return report(tuple(found for found, _ in done)), tuple(trace for _, trace in done)


def distributed(
    folder: Path, request: ProfileRequest, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return the ranks whose timelines lie in a folder, and the profile of the slowest."""
    paths = {path.name: path for path in _recordings(folder)}
    traces: dict[str, Trace] = {}
    for number, (name, path) in enumerate(paths.items(), 1):
        traces[name] = read_any(path)
        progress.step("read", number, len(paths), name)
    found = ranks(traces)
    slowest = paths[found.slowest.label]
    report_, timeline = timelines([slowest], request)
    return replace(report_, ranks=found), timeline


def is_ranks(name: str) -> bool:
    """Return whether a name is that of a folder with the timelines of several ranks."""
    folder = Path(name)
    if not folder.is_dir() or any(folder.glob("*.onnx")):
        return False
    return len(_recordings(folder)) > 1


def _recordings(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return [path for path in files if path.suffix != ".onnx" and recognised(path) is not None]


def is_timeline(name: str) -> bool:
    """Return whether a name is that of a file that holds a recording."""
    path = Path(name)
    return path.is_file() and path.suffix != ".onnx" and recognised(path) is not None


def _labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return how files are called: by their names, or their paths where these are the same."""
    alone = len({path.name for path in paths}) == len(paths)
    return {path: path.name if alone else str(path) for path in paths}


def _together(
    done: Sequence[tuple[Profile, Trace, GraphRecord]],
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    graphs = [graph for _, _, graph in done]
    found = report(tuple(profile for profile, _, _ in done), graphs)
    return found, tuple(trace for _, trace, _ in done)


def _read(
    model: StoredModel, path: Path, known: Library, request: ProfileRequest
) -> tuple[Profile, Trace, GraphRecord]:
    graph = graph_of(onnx_files.read(model.onnx), request.bindings)
    trace = warm(read_any(path))
    found, trace = profile_of(trace, Subject(model.label, trace.source, graph, known))
    if found.coverage is not None and found.coverage.total_s and not found.coverage.share:
        raise ModelError(
            f"{path}: none of its work is of {model.label}: {found.notes[-1]}",
            hint=f"give the model that it is of, or none: burnish profile {shlex.quote(str(path))}",
        )
    ran = Ran(str(path), trace.source, is_trace=True, cache=request.cache)
    return replace(found, diagnosis=diagnosed(trace, graph, ran)), trace, graph


def _recorded(
    model: StoredModel, engine: str, known: Library, request: ProfileRequest
) -> tuple[Profile, Trace, GraphRecord]:
    feeds, *_ = choose(
        model,
        data=request.data,
        bindings=request.bindings,
        seed=request.seed,
        padding=request.padding,
    )
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    graph = graph_of(onnx_files.read(model.onnx), feeds.bindings, shapes=shapes)
    with isolated.open_session(engine, model, request.engine) as session:
        recording = session.record(feeds.arrays, request.repeats)
    found, trace = profile(recording, Subject(model.label, engine, graph, known))
    ran = Ran(
        str(model.onnx),
        engine,
        is_trace=False,
        cache=request.cache,
        threads=request.engine.threads,
        bindings=request.bindings,
    )
    told = diagnosed(trace, graph, ran, plain_s=undisturbed(recording.plain_s))
    return replace(found, diagnosis=told), trace, graph
