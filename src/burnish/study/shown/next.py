"""What to do after each command: the command that goes on from its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.study.recordings import is_timeline
from burnish.study.requests import guarding, judging, listing, looking, pruning, rewriting
from burnish.study.requests.line import joined, line
from burnish.study.requests.vocabulary import names

Next = Callable[[Any, Any], str | None]
"""Given a request and its record; None: what is shown ends with a command already."""


def next_command(asked: Any, report: Any) -> str | None:  # noqa: ANN401  (a request, its record)
    """Return the command to go on with; None: what is shown ends with one already."""
    following = _NEXT.get(type(asked))
    return None if following is None else following(asked, report)


def _after_bench(asked: judging.BenchCommand, report: Any) -> str | None:  # noqa: ANN401
    if any(one.status == "no time" or one.cut_off for one in report.measurements):
        return None  # a note says that the same command goes on, and what is shown ends with it
    engine = names(asked.engine)[:1]
    return joined("profile", asked.model, *(("--engine", *engine) if engine else ()))


def _after_profile(asked: looking.ProfileCommand, report: Any) -> str:  # noqa: ANN401
    models = asked.model if isinstance(asked.model, list | tuple) else (asked.model,)
    last = report.profiles[-1]
    if last.coverage is None:
        return joined("whatif", _recording(Path(str(models[-1])), last.label), "--sweep")
    return joined("advise", models[-1], "--engine", names(asked.engine)[0])


def _recording(given: Path, name: str) -> Path:
    """Return the file that was looked at; of a folder, that of this name."""
    return max(given.rglob(name), default=given / name) if given.is_dir() else given


def _after_graph(asked: looking.GraphCommand, _report: object) -> str:
    if asked.engine is None and asked.trace is None:
        return line(asked, "--engine", judging.CPU)
    return joined("whatif", asked.model, "--sweep")


def _after_whatif(asked: looking.WhatIfCommand, _report: object) -> str:
    if asked.model is None and is_timeline(asked.subject):
        return joined("profile", asked.subject, "--by", "kernel")
    return joined("advise", asked.model or asked.subject)


def _after_list(_asked: object, found: Any) -> str:  # noqa: ANN401  (a StoreListing)
    if not found.models:
        return joined("export", "bert-base", "--store", found.store)
    first = f"{found.models[0].name}/{found.models[0].variant}"
    return joined("model", "show", first, "--store", found.store)


_NEXT: Mapping[type, Next] = {
    judging.VerifyCommand: lambda a, found: (
        joined("bench", a.model, a.candidate) if found.passed else None
    ),
    judging.BenchCommand: _after_bench,
    guarding.HistoryCommand: lambda a, _: joined(
        "dashboard", "-o", "page.html", *(("--ledger", a.ledger) if a.ledger else ())
    ),
    rewriting.OptimizeCommand: lambda a, found: joined("bench", a.model, found.target),
    pruning.PruneCommand: lambda a, found: joined("bench", a.model, found.target),
    pruning.SensitivityCommand: lambda a, _: joined("prune", a.model, "--max-error", "0.1"),
    rewriting.TimeCommand: lambda a, _: joined(
        "compile", "MODEL", "--timings", a.output, "-o", "FOLDER"
    ),
    rewriting.ExecCommand: lambda a, _: joined(
        "bench", a.folder, "--engine", "burnish,onnxruntime-cpu"
    ),
    looking.ProfileCommand: _after_profile,
    looking.GraphCommand: _after_graph,
    looking.WhatIfCommand: _after_whatif,
    listing.ZooListCommand: lambda _, found: joined("export", found.models[0].name),
    listing.ZooShowCommand: lambda a, _: joined("export", a.name),
    listing.ModelListCommand: _after_list,
    listing.ModelShowCommand: lambda a, _: joined("explain", a.model),
    listing.InputsCommand: lambda a, found: joined(
        "profile", a.model, "--data", found.samples[0].path
    ),
    listing.DoctorCommand: lambda a, found: (
        joined("advise", "MODEL", "--hw", found.path) if a.probe else "burnish run MODEL -o report"
    ),
}
