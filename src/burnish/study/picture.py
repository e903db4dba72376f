"""Put a model's graph and the time of its nodes together, from an engine or from a trace file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from burnish.analyze import scenario as scenarios
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.transform import apply
from burnish.core.errors import UsageError
from burnish.feeds.choose import choose, made_for
from burnish.report.graph.picture import Picture, Timing
from burnish.store import onnx_files
from burnish.store.graph_of import graph_of
from burnish.study.timeline import TimelineRequest, recorded


def picture(
    request: TimelineRequest,
    *,
    engine: str | None = None,
    trace: Path | None = None,
    change: Scenario | None = None,
) -> Picture:
    """Return a model's graph with the time of its nodes, and what `change` would make of it.

    The times are recorded on `engine` or read from `trace`; with neither there are none.
    """
    if engine is not None and trace is not None:
        raise UsageError(
            "--engine and --trace both say where the times come from", hint="give one of them"
        )
    if engine is None and trace is None:
        if change is not None:
            raise UsageError("a change needs times", hint="add --engine onnxruntime-cpu")
        return _untimed(request)
    found = recorded(dataclasses.replace(request, engine=engine or request.engine, trace=trace))
    record = found.setting.scene.record
    assert record is not None, "a model was given"
    changed = apply(change, found.setting) if change else None
    timing = Timing(
        engine=engine or found.source,
        source=found.source,
        setting=found.setting,
        after=changed.graph if changed else None,
        change=change.name if change else "",
        confidences=found.confidences,
    )
    notes = (*found.notes, *(changed.notes if changed else ()))
    return Picture(found.label, record, timing, notes)


def change_of(scale: tuple[str, ...], scenario: Path | None) -> Scenario | None:
    """Return the change that options and the first scenario of a file describe together."""
    actions: list[Action] = [scenarios.option("scale", text) for text in scale]
    names = list(scale)
    if scenario is not None:
        first, *_ = scenarios.read(scenario)
        actions += first.actions
        names.append(first.name)
    return Scenario(", ".join(names), tuple(actions)) if actions else None


def _untimed(request: TimelineRequest) -> Picture:
    model = request.model
    assert model is not None, "there is no graph without a model"
    loaded = onnx_files.read(model.onnx)
    sizes, seed, padding = request.bindings, request.seed, request.padding
    if request.data is not None:
        feeds, *_ = choose(model, data=request.data, bindings=sizes)
    else:
        feeds = made_for(loaded, bindings=sizes, seed=seed, padding=padding)
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    record = graph_of(loaded, feeds.bindings, shapes=shapes)
    return Picture(model.label, record)
