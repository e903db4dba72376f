"""All that a drawing, a page or an export of a graph is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from burnish.analyze.computed import computed
from burnish.analyze.diagnosis import Diagnosis
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.transform import Setting
from burnish.report.graph.groups import View, by_kernel, by_module, full, simplified
from burnish.report.graph.overlay import Overlay
from burnish.report.graph.timed import overlay_of
from burnish.store.graph import GraphRecord
from burnish.trace.events import Confidence

VIEWS = ("auto", "full", "simple", "modules", "kernels")
_MOST_BOXES = 260
"""More than this on one drawing, and nobody reads it: modules are folded then."""


@dataclass(frozen=True, slots=True)
class PictureTiming:
    """One typical inference of the model, and what a change would make of it."""

    engine: str
    source: str
    """What recorded it."""
    setting: Setting
    """The events, the model's graph and the device."""
    after: EventGraph | None = None
    """The same events after a change that was simulated."""
    change: str = ""
    confidences: Mapping[tuple[str, ...], Confidence] = field(default_factory=dict)
    """By the nodes of an event: how they are known."""

    @property
    def events(self) -> EventGraph:
        """Return the events as they were recorded."""
        return self.setting.graph


@dataclass(frozen=True, slots=True)
class Picture:
    """A model's graph and, where it was traced, its time."""

    label: str
    graph: GraphRecord
    timing: PictureTiming | None = None
    notes: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None
    """What holds its inference back; None: it was not timed."""


def overlay(picture: Picture) -> Overlay | None:
    """Return the time on the graph; None where nothing was traced."""
    timing = picture.timing
    if timing is None:
        return None
    return overlay_of(
        timing.events,
        picture.graph,
        engine=timing.engine,
        after=timing.after,
        confidences=timing.confidences,
    )


def chosen(picture: Picture, name: str) -> View:
    """Return the view of one of the `VIEWS`; `auto` folds modules where there are many nodes."""
    match name:
        case "full":
            return full(picture.graph)
        case "simple":
            return simplified(picture.graph)
        case "modules":
            return by_module(picture.graph)
        case "kernels":
            return by_kernel(picture.graph, _kernels(picture.timing) if picture.timing else ())
        case "auto":
            simple = simplified(picture.graph)
            return simple if len(simple.boxes) <= _MOST_BOXES else by_module(picture.graph)
        case _:
            raise ValueError(f"{name!r} is none of {', '.join(VIEWS)}")


def _kernels(timing: PictureTiming) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what computes, in the model's words, and the nodes that it does."""
    for place in timing.events.work:
        event = timing.events.events[place]
        yield computed(event, timing.setting), event.nodes
