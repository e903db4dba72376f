"""Draw a model's graph into files, each in the format that its name asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.core import files
from burnish.report.exports.by_suffix import Look, writer_for
from burnish.report.graph.picture import Picture, overlay
from burnish.report.graph.written import GraphReport, WrittenFile


def draw(picture: Picture, targets: Sequence[Path], look: Look = Look()) -> GraphReport:  # noqa: B008
    """Write a graph to all `targets` and return what was written; nothing is, if one cannot be."""
    texts = [(path, writer_for(path)(picture, look)) for path in targets]
    for path, text in texts:
        files.write_text(path, text)
    time = overlay(picture)
    return GraphReport(
        label=picture.label,
        nodes=len(picture.graph.nodes),
        files=tuple(WrittenFile(path, path.stat().st_size) for path, _ in texts),
        engine=time.engine if time else None,
        wall_s=time.wall_s if time else None,
        after_wall_s=time.after_wall_s if time else None,
        coverage=time.coverage if time else None,
        unattributed_s=time.unattributed_s if time else None,
        critical_nodes=len(time.critical) if time else 0,
        notes=picture.notes,
    )
