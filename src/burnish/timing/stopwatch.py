"""Time calls inside one process: warm up until they are steady, then sample them.

The clock is an argument, in nanoseconds, so that tests bring their own time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from burnish.timing.waiting import never

Call = Callable[[], object]
Clock = Callable[[], int]

WALL: Clock = time.perf_counter_ns

WINDOW_S = 0.005
"""A window of warm-up calls lasts at least this long: shorter ones see the timer's noise."""
WINDOWS = 3
STEADY_WITHIN = 0.03
"""Steady: the medians of the last windows differ by at most this share."""
SETTLE_S = 0.01
"""A block begins with unrecorded calls for this long: the caches hold another process's data."""
LONG_CALL_S = 1.0
"""A call this long needs no others before it: what settles takes less than 1 % of it."""


@dataclass(frozen=True, slots=True)
class WarmupLimit:
    """Where the warm-up ends even if the calls are not steady."""

    calls: int = 2000
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class Warmup:
    """What the warm-up took, and the call time it arrived at."""

    calls: int
    seconds: float
    converged: bool
    call_s: float


def timed(call: Call, clock: Clock = WALL) -> float:
    """Return how long one call takes, in seconds."""
    start = clock()
    call()
    return (clock() - start) / 1e9


def warm_up(call: Call, limit: WarmupLimit, clock: Clock = WALL) -> Warmup:
    """Call until the medians of the last windows agree, or until the limit."""
    start = clock()
    calls = 0
    medians: list[float] = []
    while not _steady(medians):
        elapsed_s = (clock() - start) / 1e9
        if medians and (calls >= limit.calls or elapsed_s >= limit.seconds):
            break
        window = _window(call, clock)
        calls += len(window)
        medians.append(statistics.median(window))
    return Warmup(
        calls=calls,
        seconds=(clock() - start) / 1e9,
        converged=_steady(medians),
        call_s=statistics.median(medians[-WINDOWS:]),
    )


def settling_s(call_s: float) -> float:
    """Return how long to call unrecorded at the start of a block, if a call takes `call_s`."""
    return SETTLE_S if call_s < LONG_CALL_S else 0.0


def sampled(  # noqa: PLR0913  (each is a choice of its own)
    call: Call,
    *,
    calls: int = 1,
    for_s: float = 0.0,
    settle_calls: int = 0,
    settle_s: float = 0.0,
    clock: Clock = WALL,
    waited: Clock = never,
) -> tuple[float, ...]:
    """Return the seconds of each call: at least `calls` of them, and for at least `for_s`.

    Before these, calls are made that are not recorded: `settle_calls`, and for `settle_s`. What a
    call `waited` for is not counted; that is asked outside of it, because asking takes time.
    """
    for _ in range(settle_calls):
        call()
    settled = clock() + int(settle_s * 1e9)
    while clock() < settled:
        call()
    marks: list[tuple[int, int]] = []
    until = clock() + int(for_s * 1e9)
    while len(marks) < calls or clock() < until:
        before = waited()
        start = clock()
        call()
        end = clock()
        marks.append((start, max(start, end - (waited() - before))))
    return tuple((end - start) / 1e9 for start, end in marks)


def _window(call: Call, clock: Clock) -> list[float]:
    samples = [timed(call, clock)]
    while sum(samples) < WINDOW_S:
        samples.append(timed(call, clock))
    return samples


def _steady(medians: list[float]) -> bool:
    last = medians[-WINDOWS:]
    return len(last) == WINDOWS and max(last) <= min(last) * (1 + STEADY_WITHIN)
