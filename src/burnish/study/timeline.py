"""A model's typical inference as an event graph, with its graph and its device beside it."""

from __future__ import annotations

import dataclasses
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.analyze.amdahl import (
    Correction,
    Denominators,
    called,
    denominators,
    longest_unprofiled,
    unprofiled,
)
from burnish.analyze.dependencies import as_executed
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.analyze.twins import steadied
from burnish.bench.call_cost import call_cost, call_cost_beside
from burnish.core import settings, units
from burnish.core.errors import MissingCapabilityError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Repeats
from burnish.feeds.feed import Feeds, Padding
from burnish.hw import choose as hardware
from burnish.hw.spec import HardwareSpec, for_cores
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.stored import StoredModel
from burnish.study.given import models_of
from burnish.study.inputs import FedModel, fed, feeds_of
from burnish.study.observed import completed
from burnish.study.requests.looking import AdviseCommand, GraphCommand, WhatIfCommand
from burnish.study.requests.vocabulary import AnyModel, path, positive
from burnish.trace.attribute import attribute
from burnish.trace.events import DEVICE, Confidence, Trace
from burnish.trace.formats import read_any
from burnish.trace.graph_units import GraphIndex
from burnish.trace.graph_units import units as units_of
from burnish.trace.grouping import GroupLibrary, library
from burnish.trace.numbering import USUAL, numbered
from burnish.trace.runs import joined, warm

DISPATCH_S = 1e-6
"""What an engine spends between two nodes, where the device's file does not tell."""
_DISTURBED = (
    "inferences without profiling took {}, more than with it less what profiling adds: something "
    "else was using the machine; {} is taken, from the nodes alone"
)
ENGINE = "onnxruntime-cpu"
_RECORDINGS, _SHORT_S = 5, 1.2
"""How often a timeline is recorded, where the runs without one took less than this."""
_BATCH_NAMES = ("batch", "batch_size", "N")


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    """What to record, or which recording to read."""

    model: StoredModel | None = None
    trace: Path | None = None
    """A recorded timeline; None: record one."""
    engine: str = ENGINE
    options: EngineOptions = field(default_factory=EngineOptions)
    shape: Mapping[str, int] = field(default_factory=dict)
    data: Path | None = None
    seed: int = 0
    padding: Padding = "right"
    hw: str | None = None
    """A catalog entry or a TOML file; None: this machine."""
    cache: Path = Path()
    warmup: int = 5
    runs: int = 20
    plain_s: float = 1.0
    """For how long to time inferences without profiling."""
    groups: tuple[Path, ...] = ()
    """Files of kernel groups besides those that come along: TOML, or Amdahl4ML's XML."""
    batches: tuple[int, ...] = ()
    """Batch sizes that a scenario asks about."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One typical inference, ready to be changed."""

    label: str
    source: str
    setting: Setting
    denominators: Denominators
    correction: Correction | None
    notes: tuple[str, ...]
    feeds: Feeds | None = None
    is_blind: bool = False
    """Whether nodes ran on a device whose work was not recorded."""
    confidences: Mapping[tuple[str, ...], Confidence] = field(default_factory=dict)
    """By the nodes of an event: how they are known."""


def timeline_of(
    asked: WhatIfCommand | AdviseCommand | GraphCommand, model: AnyModel | None
) -> TimelineRequest:
    """Return the inference of `model` that a request is about, to be recorded now."""
    models = models_of(model, asked.store, asked.trust_factory)
    return TimelineRequest(
        model=models[0] if models else None,
        engine=asked.engine or ENGINE,
        options=EngineOptions(threads=asked.threads),
        shape=positive(asked.shape),
        data=path(asked.data),
        seed=asked.seed,
        padding=asked.padding,
        hw=asked.hw,
        cache=settings.read().cache,
    )


def recorded(request: TimelineRequest) -> Recorded:
    """Return the typical inference of a model that is run now, or of a recorded timeline."""
    subject = fed(request.model, feeds_of(request.model, request)) if request.model else None
    if request.trace is not None:
        return typical(_read(request.trace), None, request, subject)
    assert subject is not None
    trace, plain_s, call_s = _run(request, subject)
    return typical(trace, plain_s, request, subject, call_s=call_s)


def typical(
    trace: Trace, unprofiled_s: float | None, request: TimelineRequest, subject: FedModel | None,
    *, call_s: float | None = None,
) -> Recorded:  # fmt: skip
    """Return the typical inference of a timeline, as long as one without profiling took.

    `call_s` is what a call costs that computes nothing; None: it is measured now.
    """
    feeds = subject.feeds if subject else None
    record = completed(subject.graph, subject.model, subject.feeds) if subject else None
    known = library(request.groups)
    if record is not None:
        trace = attribute(trace, record, known)
    raw, disturbed = _executed(trace, record)
    if unprofiled_s is not None:
        known_s = call_cost(request.engine, request.options.threads) if call_s is None else call_s
        raw = called(raw, known_s)
    device = _device(request, on_device=any(event.kind in DEVICE for event in raw.events))
    found = denominators(raw, unprofiled_s=unprofiled_s)
    graph, correction, notes = raw, None, (*trace.notes, *disturbed)
    if unprofiled_s is not None:
        dispatch_s = device.launch_overhead_s if device is not None else DISPATCH_S
        wall_s, doubts = _believable(unprofiled_s, longest_unprofiled(raw, dispatch_s=dispatch_s))
        notes += doubts
        found = dataclasses.replace(found, unprofiled_s=wall_s)
        graph, correction = unprofiled(raw, wall_s=wall_s, dispatch_s=dispatch_s)
    batches = {size: _of_batch(subject, size) for size in request.batches if subject}
    return Recorded(
        label=request.model.label if request.model else str(request.trace),
        source=trace.source,
        setting=Setting(_scene(graph, record, request, known), device, batches),
        denominators=found,
        correction=correction,
        notes=notes,
        feeds=feeds,
        is_blind=is_blind(trace),
        confidences={span.nodes: span.confidence for span in trace.spans if span.nodes},
    )


def _executed(trace: Trace, record: GraphRecord | None) -> tuple[EventGraph, tuple[str, ...]]:
    """Return the events of a typical inference, and notes of what disturbed single ones."""
    raw = as_executed(trace)
    return steadied(raw, record, runs=trace.runs) if record is not None else (raw, ())


def _believable(measured_s: float, most_s: float) -> tuple[float, tuple[str, ...]]:
    """Return how long an inference takes, and a note where more was measured than it can."""
    if measured_s <= most_s:
        return measured_s, ()
    return most_s, (_DISTURBED.format(units.seconds(measured_s), units.seconds(most_s)),)


def _of_batch(subject: FedModel, size: int) -> GraphRecord:
    """Return the graph at another batch size; the shapes of what was fed no longer hold."""
    batch = {name: size for name in subject.feeds.bindings if name in _BATCH_NAMES}
    model = onnx_files.look(subject.model.onnx)
    return graph_of(model, {**subject.feeds.bindings, **batch}, shapes={})


def _scene(
    graph: EventGraph, record: GraphRecord | None, request: TimelineRequest, known: GroupLibrary
) -> Scene:
    ids = numbered(record, request.groups) if record is not None else ()
    return Scene(graph, record, _patterns(record, known), ids)


def _patterns(record: GraphRecord | None, known: GroupLibrary) -> dict[str, frozenset[str]]:
    """Return the nodes of each group that the graph has any of."""
    if record is None:
        return {}
    index = GraphIndex(record)
    found: dict[str, set[str]] = defaultdict(set)
    for group in (*known.groups, *USUAL):
        for unit in units_of(index, [group]):
            found[group.name.lower()] |= {record.nodes[place].name for place in unit.nodes}
    return {name: frozenset(nodes) for name, nodes in found.items()}


def _read(path: Path) -> Trace:
    """Return a recorded timeline without a first inference that only warmed up."""
    return warm(read_any(path))


def _run(request: TimelineRequest, subject: FedModel) -> tuple[Trace, float, float]:
    """Return a timeline, how long an inference takes without it, and what of that is the call."""
    repeats = Repeats(request.warmup, request.runs, request.plain_s / _RECORDINGS)
    with isolated.open_session(request.engine, subject.model, request.options) as session:
        arrays = subject.feeds.arrays
        found = [session.record(arrays, repeats)]
        if sum(found[0].plain_s) < _SHORT_S:
            found += [session.record(arrays, repeats) for _ in range(_RECORDINGS - 1)]
        traces = [one.trace for one in found if one.trace is not None]
        if len(traces) < len(found):
            raise MissingCapabilityError(
                f"{subject.model.label}: the engine {request.engine} records no timeline",
                hint="use one that does: --engine onnxruntime-cpu",
            )
        plain_s = [unprofiled_s(t, one.plain_s) for t, one in zip(traces, found, strict=True)]
        trace, took_s = one_of(traces, plain_s)
        call_s = call_cost_beside(session, arrays, took_s)
    return trace, took_s, call_s


def one_of(traces: Sequence[Trace], plain_s: Sequence[float]) -> tuple[Trace, float]:
    """Return recordings of the same as one, and how long an inference takes without one.

    A processor is now faster and now slower, also between the runs without a profile and those
    with one. So each is made as long as the usual one with a profile, and what is left of a node
    is its part of the whole. A device has a clock of its own: of what it did, that recording is
    taken in which profiling cost the usual.
    """
    lengths_s = [_usual_s(trace) for trace in traces]
    costs = [length_s / took_s for length_s, took_s in zip(lengths_s, plain_s, strict=True)]
    if not all(lengths_s) or any(s.category in DEVICE for trace in traces for s in trace.spans):
        steady = costs.index(statistics.median_low(costs))
        return traces[steady], plain_s[steady]
    usual_s = statistics.median(plain_s)
    profiled_s = statistics.median(costs) * usual_s
    return joined(traces, [profiled_s / length_s for length_s in lengths_s]), usual_s


def _usual_s(trace: Trace) -> float:
    """Return how long an inference of a recording took; 0: it marks none."""
    return statistics.median(
        [span.duration_s for span in trace.spans if span.category == "run"] or [0.0]
    )


def is_blind(trace: Trace) -> bool:
    """Return whether nodes ran on a device, and the timeline has none of its work."""
    if any(span.category in DEVICE for span in trace.spans):
        return False
    providers = {span.provider for span in trace.spans if span.provider}
    # what else names a provider waits for its device, so its times are those of the work
    return any(
        name.endswith("ExecutionProvider") and not name.startswith("CPU") for name in providers
    )


def unprofiled_s(trace: Trace, samples_s: Sequence[float]) -> float:
    """Return how long an inference takes without profiling.

    Nodes of the host are fitted to that, so it must be as little disturbed as they are. What
    waits for a device's kernels is a host that launches them: how long that usually takes is what
    the user waits for, and what a CUDA graph saves.
    """
    on_device = any(span.category in DEVICE for span in trace.spans)
    return statistics.median(samples_s) if on_device else undisturbed(samples_s)


def undisturbed(samples_s: Sequence[float]) -> float:
    """Return an inference that was hardly disturbed: one in ten is faster.

    On a machine that others use too, the median of whole inferences holds their time as well;
    that of single nodes, which the profile gives, hardly does. On a quiet one they are the same.
    """
    return sorted(samples_s)[len(samples_s) // 10]


def _device(request: TimelineRequest, *, on_device: bool) -> HardwareSpec | None:
    if request.hw is not None:
        device: HardwareSpec | None = hardware.asked(request.hw)
    elif on_device or request.engine.endswith("cuda"):
        device = hardware.this_gpu(request.cache)
    else:
        # another machine may have recorded the file; the limits of this one would say nothing
        device = hardware.this_cpu(request.cache) if request.trace is None else None
    threads = request.options.threads
    if device is None or device.kind != "cpu" or not threads:
        return device
    return for_cores(device, min(threads, device.compute_units))
