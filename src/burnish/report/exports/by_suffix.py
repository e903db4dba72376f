"""Which file a graph is written to says what is written: the ending chooses the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.report import explore
from burnish.report.exports import model_explorer, netron, perfetto, table
from burnish.report.graph.describe import describer
from burnish.report.graph.draw import Head, drawing
from burnish.report.graph.picture import Picture, chosen, overlay


@dataclass(frozen=True, slots=True)
class Look:
    """How a drawing is to look; pages and tables do not care."""

    view: str = "auto"
    left_to_right: bool = False


def svg(picture: Picture, look: Look) -> str:
    """Return the drawing of a view."""
    view, time = chosen(picture, look.view), overlay(picture)
    described = describer(picture.graph, time, view)
    facts = [*explore.facts(picture, time), *described.left_out(view)]
    head = Head(picture.label, facts)
    return drawing(view, described, head, left_to_right=look.left_to_right)


WRITERS: Mapping[str, Callable[[Picture, Look], str]] = {
    ".model-explorer.json": lambda picture, _: model_explorer.graph(picture),
    ".node-data.json": lambda picture, _: model_explorer.node_data(picture),
    ".netron.json": lambda picture, _: netron.attachment(picture),
    ".perfetto.json": lambda picture, _: perfetto.timeline(picture),
    ".svg": svg,
    ".html": lambda picture, _: explore.page(picture),
    ".csv": lambda picture, _: table.as_csv(picture),
    ".md": lambda picture, _: table.as_markdown(picture),
    ".json": lambda picture, _: table.as_json(picture),
}
"""By the end of the file's name; the longest that fits is meant."""


def writer_for(path: Path) -> Callable[[Picture, Look], str]:
    """Return what writes files of this name."""
    for ending, writer in WRITERS.items():
        if path.name.lower().endswith(ending):
            return writer
    raise UsageError(
        f"{path.name}: its ending says no format", hint=f"end it in one of {', '.join(WRITERS)}"
    )
