"""Trace a model on an engine and break its time down."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.analyze.align import aligned, corresponding
from burnish.analyze.breakdown import (
    Breakdown,
    by_kernel,
    by_layer,
    by_module,
    by_node,
    by_operator,
    by_origin,
    counted,
)
from burnish.analyze.diagnosis import Diagnosis
from burnish.analyze.difference import Difference, difference
from burnish.analyze.ranks import Ranks
from burnish.analyze.traffic import MemoryTraffic
from burnish.analyze.twins import uneven
from burnish.core.errors import MissingCapabilityError
from burnish.engines.recording import Recording
from burnish.store.graph import GraphRecord
from burnish.trace.attribute import TimeCoverage, attribute, coverage
from burnish.trace.events import Trace
from burnish.trace.grouping import GroupLibrary

SCHEMA = 1
_BUSY = 0.7
"""From so many programs per processor on, runs are interrupted."""


@dataclass(frozen=True, slots=True)
class ProfiledSubject:
    """What is profiled: a model, by the name people call it, on an engine."""

    label: str
    engine: str
    graph: GraphRecord | None
    """None: only its timeline is there."""
    groups: GroupLibrary | None = None
    """Which nodes one operator or kernel performs; None: as Burnish's own library says."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Where one model spends its time on one engine."""

    label: str
    engine: str
    plain_s: float | None
    """Median wall time of the same runs without profiling, which itself costs time per node;
    None: the timeline was recorded elsewhere."""
    by_operator: Breakdown
    by_node: Breakdown
    """Under the names of the graph that the engine really ran."""
    by_origin: Breakdown
    """By the model's own nodes; those that ran as one are one row."""
    by_layer: Breakdown
    by_kernel: Breakdown
    coverage: TimeCoverage | None
    """How much of the time is led back to nodes of the model, and how surely; None: no model."""
    source: str
    notes: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None
    """What holds it back; None: nobody asked."""

    @property
    def named_share(self) -> float:
        """Return the part of the nodes' time that is in nodes that the model names."""
        if self.coverage is None or not self.coverage.total_s:
            return 1.0
        return self.coverage.seconds_s.get("exact", 0.0) / self.coverage.total_s


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The profiles of some models, and how the last differs from the first."""

    profiles: tuple[Profile, ...]
    difference: Difference | None
    """By operator."""
    aligned: Difference | None = None
    """By the first model's nodes; a fused node is set beside those that it replaced."""
    by_kernel: Difference | None = None
    by_layer: Difference | None = None
    """By the names that both have."""
    ranks: Ranks | None = None
    """What the ranks of a distributed run spend on each other; the profile is the slowest one's."""
    traffic: MemoryTraffic | None = None
    """What an inference moves through memory, where that was asked for."""


def profile(recording: Recording, subject: ProfiledSubject) -> tuple[Profile, Trace]:
    """Return where a model spent its time, and the timeline that says so, with its nodes."""
    if recording.trace is None:
        raise MissingCapabilityError(
            f"{subject.label}: the engine {subject.engine} records no timeline",
            hint="profile it on one that does: burnish profile MODEL --engine onnxruntime-cpu",
        )
    plain_s = statistics.median(recording.plain_s)
    found, trace = profile_of(recording.trace, subject, plain_s=plain_s)
    return replace(found, notes=(*found.notes, *_busy(recording.load))), trace


def _busy(load: float | None) -> tuple[str, ...]:
    if load is None or load < _BUSY:
        return ()
    return (
        (
            f"the machine was busy: {load:.1f} programs wanted each processor before the first run,"
            " so times are of a shared machine"
        ),
    )


def profile_of(
    trace: Trace, subject: ProfiledSubject, *, plain_s: float | None = None
) -> tuple[Profile, Trace]:
    """Return where the time of a recorded timeline went, and that timeline with the nodes."""
    graph = subject.graph
    if graph is not None:
        trace = attribute(trace, graph, subject.groups)
    ran = counted(trace)
    found = Profile(
        label=subject.label,
        engine=subject.engine,
        plain_s=plain_s,
        by_operator=by_operator(ran),
        by_node=by_node(ran),
        by_origin=by_origin(ran) if graph is not None else by_node(ran),
        by_layer=by_layer(ran, graph) if graph is not None else by_module(ran, trace),
        by_kernel=by_kernel(ran),
        coverage=coverage(trace) if graph is not None else None,
        source=trace.source,
        notes=trace.notes,
    )
    told = uneven(found.by_origin, graph) if graph is not None else ()
    return replace(found, notes=(*found.notes, *told)), trace


def report(profiles: tuple[Profile, ...], graphs: Sequence[GraphRecord] = ()) -> ProfileReport:
    """Return profiles with the difference of the last from the first.

    By operator; and by node, where the graphs of the profiled models are given, in order.
    """
    if len(profiles) < 2:
        return ProfileReport(profiles, None)
    first, last = profiles[0], profiles[-1]
    names = (first.label, last.label)
    if names[0] == names[1]:
        names = (f"{first.label} on {first.engine}", f"{last.label} on {last.engine}")
    return ProfileReport(
        profiles,
        difference(first.by_operator, last.by_operator, names=names),
        _aligned(first, last, graphs, names) if graphs else None,
        difference(first.by_kernel, last.by_kernel, names=names),
        difference(first.by_layer, last.by_layer, names=names),
    )


def _aligned(
    first: Profile, last: Profile, graphs: Sequence[GraphRecord], names: tuple[str, str]
) -> Difference:
    same = graphs[0] == graphs[-1]
    corresponds = {} if same else corresponding(graphs[0], graphs[-1])
    return aligned(first.by_origin, last.by_origin, corresponds, names=names)
