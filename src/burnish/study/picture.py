"""Put a model's graph and the time of its nodes together, from an engine or from a trace file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.analyze import scenario as scenarios
from burnish.analyze.dependencies import as_executed
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting, apply
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds, Padding
from burnish.hw import detect, spec
from burnish.hw.spec import HardwareSpec
from burnish.report.graph.picture import Picture, Timing
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.graph_of import graph_of
from burnish.store.stored import StoredModel
from burnish.trace import formats
from burnish.trace.attribute import attribute
from burnish.trace.events import Trace


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the model is fed."""

    data: Path | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    padding: Padding = "right"


@dataclass(frozen=True, slots=True)
class Recording:
    """Where the times come from: an engine that runs the model now, or a file; or nowhere."""

    engine: str | None = None
    trace: Path | None = None
    options: EngineOptions = field(default_factory=EngineOptions)
    warmup: int = 3
    runs: int = 10


def picture(
    model: StoredModel,
    recording: Recording,
    *,
    inputs: Inputs = Inputs(),  # noqa: B008
    device: str | None = None,
    change: Scenario | None = None,
) -> Picture:
    """Return a model's graph with the time of its nodes, and what `change` would make of it."""
    if recording.engine is not None and recording.trace is not None:
        raise UsageError(
            "--engine and --trace both say where the times come from", hint="give one of them"
        )
    feeds = _feeds(model, inputs)
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    record = graph_of(onnx_files.read(model.onnx), feeds.bindings, shapes=shapes)
    trace = _trace(model, recording, feeds)
    if trace is None:
        if change is not None:
            raise UsageError("a change needs times", hint="add --engine onnxruntime-cpu")
        return Picture(model.label, record)
    return _timed(model.label, record, attribute(trace, record), recording, device, change)


def change_of(scale: tuple[str, ...], scenario: Path | None) -> Scenario | None:
    """Return the change that options and the first scenario of a file describe together."""
    actions: list[Action] = [scenarios.option("scale", text) for text in scale]
    names = list(scale)
    if scenario is not None:
        first, *_ = scenarios.read(scenario)
        actions += first.actions
        names.append(first.name)
    return Scenario(", ".join(names), tuple(actions)) if actions else None


def _feeds(model: StoredModel, inputs: Inputs) -> Feeds:
    first, *_ = choose(
        model,
        data=inputs.data,
        bindings=inputs.bindings,
        seed=inputs.seed,
        padding=inputs.padding,
    )
    return first


def _trace(model: StoredModel, recording: Recording, feeds: Feeds) -> Trace | None:
    if recording.trace is not None:
        return formats.read_any(recording.trace)
    if recording.engine is None:
        return None
    with ENGINES[recording.engine].open(model, recording.options) as session:
        trace = session.trace(feeds.arrays, warmup=recording.warmup, runs=recording.runs)
    if trace is None:
        raise MissingCapabilityError(
            f"{model.label}: the engine {recording.engine} records no timeline",
            hint="use one that does: burnish graph MODEL --engine onnxruntime-cpu",
        )
    return trace


def _timed(
    label: str,
    record: GraphRecord,
    trace: Trace,
    recording: Recording,
    device: str | None,
    change: Scenario | None,
) -> Picture:
    events = as_executed(trace)
    setting = Setting(Scene(events, record), _device(device, recording.engine))
    changed = apply(change, setting) if change else None
    after = _same_events(events, changed.graph, change) if changed and change else None
    timing = Timing(
        engine=recording.engine or trace.source,
        source=trace.source,
        setting=setting,
        after=after,
        change=change.name if change else "",
        confidences={span.name: span.confidence for span in trace.spans if span.nodes},
    )
    notes = (*trace.notes, *(changed.notes if changed else ()))
    return Picture(label, record, timing, notes)


def _same_events(before: EventGraph, after: EventGraph, change: Scenario) -> EventGraph:
    if len(before.events) != len(after.events):
        raise UsageError(
            f"{change.name!r} takes events away, and a drawing needs the same before and after",
            hint="make them free instead: --scale WHAT=inf",
        )
    return after


def _device(name: str | None, engine: str | None) -> HardwareSpec | None:
    """Return the device that was named, else the one that the engine runs on, where it is known."""
    if name is not None:
        return spec.load(name)
    if engine in ("onnxruntime-cuda", "tensorrt"):
        entries = [detect.gpu_entry(gpu.name) for gpu in detect.gpus()]
        return next((spec.load(entry) for entry in entries if entry), None)
    return detect.this_cpu(detect.cpu()) if engine else None
