"""The drawings of one typical inference that stand on a page: its graph, its roof, its timeline."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.report import exploring
from burnish.report.charts.room import NARROW, PAGE
from burnish.report.graph.describe import describer
from burnish.report.graph.draw import inlined
from burnish.report.graph.groups import View, by_module, simplified
from burnish.report.graph.picture import Picture, overlay

Both = tuple[str, str]
"""A drawing for wide pages and one for narrow ones."""
_MOST_BOXES = 80
"""More of them, and a graph on a page is scrolled through instead of seen."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """SVG, to stand in a page that has the colours; one that cannot be drawn is empty."""

    label: str
    """The model that they are of."""
    engine: str
    graph: str
    roofline: Both
    timeline: Both


def drawings(picture: Picture) -> Drawings | None:
    """Return the drawings of an inference; None where it was not timed."""
    timing = picture.timing
    if timing is None:
        return None
    view = _view(picture)
    wide, narrow = (exploring.charts(timing, picture.graph, room) for room in (PAGE, NARROW))
    return Drawings(
        label=picture.label,
        engine=timing.engine,
        graph=inlined(view, describer(picture.graph, overlay(picture), view), picture.label),
        roofline=(wide["roofline"], narrow["roofline"]),
        timeline=(wide["timeline"], narrow["timeline"]),
    )


def _view(picture: Picture) -> View:
    simple = simplified(picture.graph)
    return simple if len(simple.boxes) <= _MOST_BOXES else by_module(picture.graph)
