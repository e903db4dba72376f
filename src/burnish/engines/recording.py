"""Run a model often: with a timeline and without one, or in turns with others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.core.arrays import Arrays
from burnish.engines.base import Session
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
    """The seconds of each run without recording, which itself costs time per node."""
    load: float | None = None
    """How many programs wanted each processor before it began; None: the system does not tell."""


def record(
    session: Session,
    feeds: Arrays,
    repeats: Repeats,
    clock: Callable[[], float] = time.perf_counter,
) -> Recording:
    """Return a timeline, and the times of runs without one, in the process of the session."""
    load = load_per_processor()
    trace = session.trace(feeds, warmup=repeats.warmup, runs=repeats.runs)
    if trace is None:
        return Recording(None)
    call = session.prepare(feeds)
    for _ in range(repeats.warmup):
        call()
    began, times = clock(), list[float]()
    while len(times) < repeats.runs or clock() - began < repeats.plain_s:
        times.append(_timed(call, clock))
    return Recording(trace, tuple(times), load)


def load_per_processor() -> float | None:
    """Return how many programs wanted each processor in the last minute."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class Turns:
    """How several models take turns."""

    rounds: int
    """The fewest; what slows the machine down slows all that run in one."""
    warmup: int = 2
    """Rounds before these that are not counted."""
    calls: int = 1
    """Of each model in a round."""
    settling: int = 0
    """The first of these only bring back to the caches what the others have pushed out."""
    for_s: float = 0.0
    """For how long to go on, if the rounds take less."""


def take_turns(
    calls: Sequence[Callable[[], None]],
    turns: Turns,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[tuple[float, ...], ...]:
    """Return the seconds of each one's calls; who goes first alternates."""
    samples: list[list[float]] = [[] for _ in calls]
    number, began = -turns.warmup, clock()
    while number < turns.rounds or clock() - began < turns.for_s:
        for call, own in list(zip(calls, samples, strict=True))[:: -1 if number % 2 else 1]:
            times = [_timed(call, clock) for _ in range(turns.settling + turns.calls)]
            own += times[turns.settling :] if number >= 0 else ()
        number += 1
    return tuple(map(tuple, samples))


def _timed(call: Callable[[], None], clock: Callable[[], float]) -> float:
    before = clock()
    call()
    return clock() - before
