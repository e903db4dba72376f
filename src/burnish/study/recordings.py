"""Look at timelines of which no model is known: one, several side by side, or those of ranks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.analyze.profile import Profile, ProfiledSubject, ProfileReport, profile_of, report
from burnish.analyze.ranks import ranks
from burnish.core.progress import SILENT, Progress
from burnish.study.diagnosing import RunContext, diagnosed
from burnish.trace.events import Trace
from burnish.trace.formats import read_any, recognised
from burnish.trace.grouping import GroupLibrary
from burnish.trace.runs import warm


def timelines(
    paths: Sequence[Path], known: GroupLibrary | None = None, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return recordings of which no model is known, the last set against the first."""
    labels = _labels(paths)
    profiles, traces = list[Profile](), list[Trace]()
    for number, path in enumerate(paths, 1):
        trace = warm(read_any(path))
        found, trace = profile_of(trace, ProfiledSubject(labels[path], trace.source, None, known))
        told = diagnosed(trace, None, RunContext(str(path), trace.source, is_trace=True))
        profiles.append(replace(found, diagnosis=told))
        traces.append(trace)
        progress.step("profile", number, len(paths), labels[path])
    return report(tuple(profiles)), tuple(traces)


def distributed(
    folder: Path, known: GroupLibrary | None = None, *, progress: Progress = SILENT
) -> tuple[ProfileReport, tuple[Trace, ...]]:
    """Return the ranks whose timelines lie in a folder, and the profile of the slowest."""
    paths = {path.name: path for path in _in(folder)}
    traces: dict[str, Trace] = {}
    for number, (name, path) in enumerate(paths.items(), 1):
        traces[name] = read_any(path)
        progress.step("read", number, len(paths), name)
    found = ranks(traces)
    slowest, timeline = timelines([paths[found.slowest.label]], known)
    return replace(slowest, ranks=found), timeline


def is_timeline(given: object) -> bool:
    """Return whether something is the path of a file that holds a recording."""
    path = _place(given)
    return path is not None and path.is_file() and _holds_recording(path)


def is_ranks(given: object) -> bool:
    """Return whether something is the path of a folder with the timelines of several ranks."""
    folder = _place(given)
    if folder is None or not folder.is_dir() or any(folder.glob("*.onnx")):
        return False
    return len(_in(folder)) > 1


def _place(given: object) -> Path | None:
    return Path(given) if isinstance(given, str | os.PathLike) else None


def _in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and _holds_recording(path))


def _holds_recording(path: Path) -> bool:
    return path.suffix != ".onnx" and recognised(path) is not None


def _labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return how files are called: by their names, or their paths where these are the same."""
    alone = len({path.name for path in paths}) == len(paths)
    return {path: path.name if alone else str(path) for path in paths}
