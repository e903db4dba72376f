"""Profile models on engines, or read what was recorded elsewhere, and set them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.analyze.profile import (
    Profile,
    ProfileReport,
    Subject,
    profile,
    profile_of,
    report,
)
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Repeats
from burnish.feeds.choose import choose
from burnish.feeds.make import Padding
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace
from burnish.trace.formats import read_any
from burnish.trace.grouping import Library, library


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


def _together(
    done: Sequence[tuple[Profile, Trace, Subject]],
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    graphs = [subject.graph for _, _, subject in done]
    found = report(tuple(profile for profile, _, _ in done), graphs)
    return found, tuple(trace for _, trace, _ in done)


def _read(
    model: StoredModel, path: Path, known: Library, request: ProfileRequest
) -> tuple[Profile, Trace, Subject]:
    trace = read_any(path)
    graph = graph_of(onnx_files.read(model.onnx), request.bindings)
    subject = Subject(model.label, trace.source, graph, known)
    return *profile_of(trace, subject), subject


def _recorded(
    model: StoredModel, engine: str, known: Library, request: ProfileRequest
) -> tuple[Profile, Trace, Subject]:
    feeds, *_ = choose(
        model,
        data=request.data,
        bindings=request.bindings,
        seed=request.seed,
        padding=request.padding,
    )
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    graph = graph_of(onnx_files.read(model.onnx), feeds.bindings, shapes=shapes)
    subject = Subject(model.label, engine, graph, known)
    with isolated.open_session(engine, model, request.engine) as session:
        return *profile(session.record(feeds.arrays, request.repeats), subject), subject
