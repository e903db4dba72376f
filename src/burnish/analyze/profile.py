"""Trace a model on an engine and break its time down."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from burnish.analyze.breakdown import Breakdown, by_node, by_operator
from burnish.analyze.difference import Difference, difference
from burnish.core.arrays import Arrays
from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import Session
from burnish.trace.attribute import attribute
from burnish.trace.events import Trace

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Subject:
    """What is profiled: a model, by the name people call it, on an engine."""

    label: str
    engine: str
    nodes: frozenset[str]
    """The names of the model's own nodes."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often a model is run: first to warm up, then to be recorded."""

    warmup: int = 3
    runs: int = 10


@dataclass(frozen=True, slots=True)
class Profile:
    """Where one model spends its time on one engine."""

    label: str
    engine: str
    plain_s: float
    """Median wall time of the same runs without profiling, which itself costs time per node."""
    by_operator: Breakdown
    by_node: Breakdown
    """Under the names of the graph that the engine really ran."""
    named_s: float
    """How much of the time is in nodes that the model itself names; the engine made the rest."""
    source: str
    notes: tuple[str, ...] = ()

    @property
    def named_share(self) -> float:
        """Return the part of the nodes' time that is in nodes that the model names."""
        return self.named_s / self.by_node.total_s if self.by_node.total_s else 1.0


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """The profiles of some models, and how the last differs from the first."""

    profiles: tuple[Profile, ...]
    difference: Difference | None


def profile(
    session: Session,
    feeds: Arrays,
    subject: Subject,
    *,
    repeats: Repeats = Repeats(),  # noqa: B008
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Profile, Trace]:
    """Return where an opened model spends its time, and the timeline that says so."""
    trace = session.trace(feeds, warmup=repeats.warmup, runs=repeats.runs)
    if trace is None:
        raise MissingCapabilityError(
            f"{subject.label}: the engine {subject.engine} records no timeline",
            hint="profile it on one that does: burnish profile MODEL --engine onnxruntime-cpu",
        )
    run_once = session.prepare(feeds)
    walls = [_timed(run_once, clock) for _ in range(repeats.warmup + repeats.runs)]
    named = by_node(attribute(trace, subject.nodes))
    found = Profile(
        label=subject.label,
        engine=subject.engine,
        plain_s=statistics.median(walls[repeats.warmup :]),
        by_operator=by_operator(trace),
        by_node=by_node(trace),
        named_s=named.total_s - named.unattributed_s,
        source=trace.source,
        notes=trace.notes,
    )
    return found, trace


def report(profiles: tuple[Profile, ...]) -> ProfileReport:
    """Return profiles with the difference, by operator, of the last from the first."""
    if len(profiles) < 2:
        return ProfileReport(profiles, None)
    first, last = profiles[0], profiles[-1]
    names = (first.label, last.label)
    if names[0] == names[1]:
        names = (f"{first.label} on {first.engine}", f"{last.label} on {last.engine}")
    return ProfileReport(profiles, difference(first.by_operator, last.by_operator, names=names))


def _timed(call: Callable[[], None], clock: Callable[[], float]) -> float:
    begin = clock()
    call()
    return clock() - begin
