"""Put a model's graph and the time of its nodes together, from an engine or from a trace file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from burnish.analyze import scenario as scenarios
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.transform import apply
from burnish.core.errors import UsageError
from burnish.feeds.choose import choose
from burnish.report.graph.picture import Picture, Timing
from burnish.store import onnx_files
from burnish.store.graph_of import graph_of
from burnish.store.stored import StoredModel
from burnish.study.timeline import Recorded, TimelineRequest, recorded


def picture(
    model: StoredModel, request: TimelineRequest | None, *, change: Scenario | None = None
) -> Picture:
    """Return a model's graph with the time of its nodes, and what `change` would make of it.

    Without a request there are no times.
    """
    if request is None:
        if change is not None:
            raise UsageError("a change needs times", hint="add --engine onnxruntime-cpu")
        return _untimed(model)
    found = recorded(dataclasses.replace(request, model=model))
    record = found.setting.scene.record
    assert record is not None, "a model was given"
    changed = apply(change, found.setting) if change else None
    timing = Timing(
        engine=request.engine if request.trace is None else found.source,
        source=found.source,
        setting=found.setting,
        after=_same_events(found, changed.graph, change) if changed and change else None,
        change=change.name if change else "",
        confidences=found.confidences,
    )
    notes = (*found.notes, *(changed.notes if changed else ()))
    return Picture(model.label, record, timing, notes)


def request_of(
    engine: str | None, trace: Path | None, request: TimelineRequest
) -> TimelineRequest | None:
    """Return what to record or to read; None: neither was asked for."""
    if engine is not None and trace is not None:
        raise UsageError(
            "--engine and --trace both say where the times come from", hint="give one of them"
        )
    if trace is not None:
        return dataclasses.replace(request, trace=trace)
    return dataclasses.replace(request, engine=engine) if engine is not None else None


def change_of(scale: tuple[str, ...], scenario: Path | None) -> Scenario | None:
    """Return the change that options and the first scenario of a file describe together."""
    actions: list[Action] = [scenarios.option("scale", text) for text in scale]
    names = list(scale)
    if scenario is not None:
        first, *_ = scenarios.read(scenario)
        actions += first.actions
        names.append(first.name)
    return Scenario(", ".join(names), tuple(actions)) if actions else None


def _untimed(model: StoredModel) -> Picture:
    feeds, *_ = choose(model, data=None, bindings={}, seed=0, padding="right")
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    return Picture(
        model.label, graph_of(onnx_files.read(model.onnx), feeds.bindings, shapes=shapes)
    )


def _same_events(found: Recorded, after: EventGraph, change: Scenario) -> EventGraph:
    if len(found.setting.graph.events) != len(after.events):
        raise UsageError(
            f"{change.name!r} takes events away, and a drawing needs the same before and after",
            hint="make them free instead: --scale WHAT=inf",
        )
    return after
