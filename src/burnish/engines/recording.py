"""Run a model often: with a timeline and without one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from burnish.core.arrays import Arrays
from burnish.engines.base import Session
from burnish.timing.stopwatch import WALL, Clock, sampled
from burnish.timing.waiting import waiting
from burnish.trace.events import Trace


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often a model is run: first to warm up, then to be recorded."""

    warmup: int = 3
    runs: int = 10
    plain_s: float = 0.0
    """For how long to run it without recording, if `runs` take less."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded."""

    trace: Trace | None
    """None: the engine records no timeline, and nothing was timed."""
    plain_s: tuple[float, ...] = ()
    """The seconds of each run without recording, which itself costs time per node, and without
    what it waited for a processor."""
    load: float | None = None
    """How many programs wanted each processor before it began; None: the system does not tell."""


def record(
    session: Session,
    feeds: Arrays,
    repeats: Repeats,
    clock: Clock = WALL,
) -> Recording:
    """Return a timeline, and the times of runs without one, in the process of the session."""
    load = load_per_processor()
    # before: a profiler that has once been on a card leaves every later launch slower
    times = sampled(
        session.prepare(feeds),
        calls=repeats.runs,
        for_s=repeats.plain_s,
        settle_calls=repeats.warmup,
        clock=clock,
        waited=waiting(),
    )
    trace = session.trace(feeds, warmup=repeats.warmup, runs=repeats.runs)
    return Recording(None) if trace is None else Recording(trace, times, load)


def load_per_processor() -> float | None:
    """Return how many programs wanted each processor in the last minute."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None
