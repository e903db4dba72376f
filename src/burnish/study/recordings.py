"""Look at timelines of which no model is known: one, several side by side, or those of ranks."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from burnish.analyze.profile import Profile, ProfiledSubject, ProfileReport, profile_of, report
from burnish.analyze.ranks import ranks
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.study.diagnosing import RunContext, diagnosed
from burnish.study.requests import line
from burnish.study.requests.option import fields
from burnish.trace import foreign
from burnish.trace.events import Trace
from burnish.trace.formats import read_any, recognised
from burnish.trace.grouping import GroupLibrary
from burnish.trace.runs import warm

_CALLED_SO = re.compile(r"\.(?:json(?:\.gz)?|sqlite|xplane\.pb)$")
"""What recordings are called that can be read."""
_OF_WORKER = re.compile(r"(?P<worker>.+)\.\d{10,}\.pt\.trace\.json(?:\.gz)?")


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
    recordings = _in(folder)
    last = _last_of_each(recordings)
    left_out = _left_out(folder, recordings)
    if len(last) == 1:
        alone, timeline = timelines(last, known, progress=progress)
        return _with_notes(alone, (*_of_one(len(recordings)), *left_out)), timeline
    paths = {path.name: path for path in last}
    traces: dict[str, Trace] = {}
    for number, (name, path) in enumerate(paths.items(), 1):
        traces[name] = read_any(path)
        progress.step("read", number, len(paths), name)
    _require_one_run(traces, folder)
    found = ranks(traces)
    slowest, timeline = timelines([paths[found.slowest.label]], known)
    notes = (*found.notes, *left_out, *_missing(traces), *_damage(traces, found.slowest.label))
    return replace(slowest, ranks=replace(found, notes=notes)), timeline


def is_timeline(given: object) -> bool:
    """Return whether something is the path of a file that holds a recording, or is called so."""
    path = _place(given)
    if path is None or not path.is_file() or path.suffix == ".onnx":
        return False
    return foreign.is_called_so(path) or recognised(path) is not None


def require_model(given: object, command: str) -> None:
    """Refuse a recording where its model is wanted, with the command that takes both."""
    if is_timeline(given):
        where = shlex.quote(str(given))
        raise UsageError(
            f"{given} is a recording, and burnish {command} is about a model",
            hint=f"give its model, too: burnish {command} MODEL --trace {where}"
            if command == "graph"
            else f"see where its time goes: burnish profile {where}",
        )


def require_unasked(asked: object, options: Sequence[str], recording: object) -> None:
    """Refuse what says how a model is run where what is looked at was recorded already."""
    for one in fields(type(asked)):
        if one.name in options and getattr(asked, one.name) != one.default:
            raise UsageError(
                f"{one.flags[0]} says how a model is run, and {recording} was recorded already",
                hint=f"leave {one.flags[0]} out, or record a model with it",
            )


def holds_recordings(given: object) -> bool:
    """Return whether something is the path of a folder with recordings, one or those of ranks."""
    folder = _place(given)
    if folder is None or not folder.is_dir() or any(folder.glob("*.onnx")):
        return False
    return bool(_in(folder))


def _place(given: object) -> Path | None:
    return Path(given) if isinstance(given, str | os.PathLike) else None


def _in(folder: Path) -> list[Path]:
    """Return the recordings in a folder, or in the last run of one that TensorBoard shows."""
    runs = sorted(folder.glob("plugins/profile/*/"))
    files = [path for path in folder.iterdir() if path.is_file()]
    files = files if any(map(_holds_recording, files)) else [*runs[-1].iterdir()] if runs else []
    return sorted(path for path in files if _holds_recording(path) and not _is_twin(path))


def _holds_recording(path: Path) -> bool:
    return path.is_file() and path.suffix != ".onnx" and recognised(path) is not None


def _is_twin(path: Path) -> bool:
    """Return whether XLA wrote the same as a profile, which tells more."""
    host, is_trace, _ = path.name.partition(".trace.json")
    return bool(is_trace) and path.with_name(f"{host}.xplane.pb").is_file()


def _last_of_each(paths: Sequence[Path]) -> list[Path]:
    """Return the last recording of each worker, as PyTorch's handler for TensorBoard calls them."""
    found: dict[str, Path] = {}
    for path in paths:
        named = _OF_WORKER.fullmatch(path.name)
        found[named["worker"] if named else path.name] = path
    return list(found.values())


def _with_notes(found: ProfileReport, notes: Sequence[str]) -> ProfileReport:
    first, *others = found.profiles
    return replace(found, profiles=(replace(first, notes=(*first.notes, *notes)), *others))


def _of_one(recordings: int) -> tuple[str, ...]:
    if recordings == 1:
        return ()
    return (f"the folder holds {recordings:,} recordings of one worker: the last is read",)


def _left_out(folder: Path, recordings: Sequence[Path]) -> tuple[str, ...]:
    """Say which files beside recordings are called like one and hold none."""
    beside = {path for place in {one.parent for one in recordings} for path in place.iterdir()}
    names = sorted(
        path.name for path in beside if path.is_file() and _CALLED_SO.search(path.name)
        and not _is_twin(path) and not _holds_recording(path)
    )  # fmt: skip
    return (f"no recording could be read in {', '.join(names)}: left out",) if names else ()


def _require_one_run(traces: Mapping[str, Trace], folder: Path) -> None:
    """Raise where two recordings are of the same rank: what one waited for is not in the other."""
    of: dict[int, str] = {}
    for name, trace in traces.items():
        if trace.rank is not None and (first := of.setdefault(trace.rank, name)) != name:
            raise UsageError(
                f"{first} and {name} are both of rank {trace.rank}: they are of different runs",
                hint="keep the recordings of one run in a folder of their own, or set one against"
                f" the other: {line.joined('profile', folder / first, folder / name)}",
            )


def _missing(traces: Mapping[str, Trace]) -> tuple[str, ...]:
    """Say how many ranks of the run were not given: who waited for them cannot be told."""
    world = max((trace.world or 0 for trace in traces.values()), default=0)
    if world <= len(traces):
        return ()
    here = f"the run had {world:,} ranks and {len(traces):,} are here"
    return (f"{here}: waiting for the others shows as communication",)


def _damage(traces: Mapping[str, Trace], shown: str) -> tuple[str, ...]:
    """Return what reading the ranks told that are not shown themselves."""
    told = set(traces[shown].notes)
    return tuple(
        f"{name}: {note}"
        for name, trace in traces.items() for note in trace.notes if note not in told
    )  # fmt: skip


def _labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return how files are called: by their names, or their paths where these are the same."""
    alone = len({path.name for path in paths}) == len(paths)
    return {path: path.name if alone else str(path) for path in paths}
