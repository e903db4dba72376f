"""Put a model's graph and the time of its nodes together, from an engine or from a trace file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from burnish.analyze import scenario as scenarios
from burnish.analyze.advise import AdviceFacts
from burnish.analyze.diagnosis import Diagnosis, diagnosis, launches_only
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.transform import apply
from burnish.core.errors import UsageError
from burnish.infer.graph_of import graph_of
from burnish.report.graph.picture import Picture, PictureTiming
from burnish.store import onnx_files
from burnish.study.diagnosing import same_sizes
from burnish.study.inputs import fed, feeds_of
from burnish.study.timeline import Recorded, TimelineRequest, recorded


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
    request = dataclasses.replace(request, engine=engine or request.engine, trace=trace)
    return picture_of(recorded(request), request, change=change)


def picture_of(
    found: Recorded, request: TimelineRequest, *, change: Scenario | None = None
) -> Picture:
    """Return the graph of a model whose inference was recorded, and what holds that back."""
    record = found.setting.scene.record
    assert record is not None, "a model was given"
    changed = apply(change, found.setting) if change else None
    timing = PictureTiming(
        engine=found.source if request.trace else request.engine,
        source=found.source,
        setting=found.setting,
        after=changed.graph if changed else None,
        change=change.name if change else "",
        confidences=found.confidences,
    )
    notes = (*found.notes, *(changed.notes if changed else ()))
    return Picture(found.label, record, timing, notes, _diagnosis(found, request))


def _diagnosis(found: Recorded, request: TimelineRequest) -> Diagnosis:
    model = request.model
    what = request.trace or (model.compiled or model.onnx if model else "")
    facts = AdviceFacts(
        str(what),
        request.engine,
        extra=same_sizes(request.shape, request.options.threads),
        is_trace=request.trace is not None,
    )
    told = launches_only if found.is_blind else diagnosis
    return told(found.setting, facts)


def change_of(scale: Sequence[str], scenario: Path | None) -> Scenario | None:
    """Return the change that options and the first scenario of a file describe together."""
    actions: list[Action] = [scenarios.option("scale", text) for text in scale]
    names = list(scale)
    if scenario is not None:
        first, *_ = scenarios.read(scenario)
        actions += first.actions
        names.append(first.name)
    return Scenario(", ".join(names), tuple(actions)) if actions else None


def _untimed(request: TimelineRequest) -> Picture:
    assert request.model is not None, "there is no graph without a model"
    model = request.model
    if request.data is not None:
        return Picture(model.label, fed(model, feeds_of(model, request)).graph)
    # sizes that nobody gave stay names: to guess ones at which it runs, it would have to be run
    return Picture(model.label, graph_of(onnx_files.look(model.onnx), request.shape))
