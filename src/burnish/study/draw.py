"""Draw a model's graph into files, each in the format that its name asks for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.core import files
from burnish.core.collecting import uncollected
from burnish.core.progress import SILENT, Progress
from burnish.report.exports.by_suffix import Look, writer_for
from burnish.report.graph.picture import Picture, overlay
from burnish.report.graph.written import GraphReport, WrittenFile
from burnish.study.picture import change_of, picture
from burnish.study.recordings import require_model
from burnish.study.requests.looking import GraphCommand
from burnish.study.requests.vocabulary import path
from burnish.study.timeline import timeline_of


def answer(asked: GraphCommand, *, progress: Progress = SILENT) -> GraphReport:
    """Draw a model's graph into all asked files, and return what was written."""
    given = asked.output
    targets = [Path(one) for one in ([given] if isinstance(given, str | os.PathLike) else given)]
    for target in targets:
        writer_for(target)
    require_model(asked.model, "graph")
    change = change_of(asked.scale, path(asked.scenario))
    request = timeline_of(asked, asked.model)
    options = replace(request.options, allow_fallback=asked.allow_fallback)
    groups = tuple(Path(one) for one in asked.groups)
    request = replace(request, options=options, groups=groups)
    found = picture(request, engine=asked.engine, trace=path(asked.trace), change=change)
    progress.step("graph", 1, 2, f"{len(found.graph.nodes)} nodes")
    report = draw(found, targets, Look(asked.view, asked.left_to_right))
    progress.step("graph", 2, 2, ", ".join(target.name for target in targets))
    return report


def draw(drawn: Picture, targets: Sequence[Path], look: Look = Look()) -> GraphReport:  # noqa: B008
    """Write a graph to all `targets` and return what was written; nothing is, if one cannot be."""
    with uncollected():
        texts = [(target, writer_for(target)(drawn, look)) for target in targets]
    for target, text in texts:
        files.write_text(target, text)
    time = overlay(drawn)
    return GraphReport(
        label=drawn.label,
        nodes=len(drawn.graph.nodes),
        files=tuple(WrittenFile(target, target.stat().st_size) for target, _ in texts),
        engine=time.engine if time else None,
        wall_s=time.wall_s if time else None,
        after_wall_s=time.after_wall_s if time else None,
        coverage=time.coverage if time else None,
        unattributed_s=time.unattributed_s if time else None,
        critical_nodes=len(time.critical) if time else 0,
        notes=drawn.notes,
    )
