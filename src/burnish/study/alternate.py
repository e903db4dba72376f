"""Time two models in turn in one process: less than a verdict, and enough for a figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from burnish.bench.subject import BenchSubject
from burnish.engines.base import ENGINES
from burnish.feeds.feed import Feeds

_WARMUP = 5
_FEWEST = 30
_TURN, _SETTLING = 8, 2


def alternating(
    subjects: Sequence[BenchSubject],
    feeds: Feeds,
    *,
    for_s: float,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[tuple[float, ...], ...]:
    """Return the seconds of each subject's calls, a few of each in turn for `for_s`.

    Whatever else uses the machine disturbs neighbours alike. The first calls of each turn only
    bring back to the caches what the other subject has pushed out.
    """
    with ExitStack() as stack:
        sessions = [
            stack.enter_context(ENGINES[one.engine].open(one.model, one.options))
            for one in subjects
        ]
        calls = [session.prepare(feeds.arrays) for session in sessions]
        for call in calls * _WARMUP:
            call()
        samples: list[list[float]] = [[] for _ in calls]
        began = clock()
        while len(samples[0]) < _FEWEST or clock() - began < for_s:
            for call, own in zip(calls, samples, strict=True):
                own += [_timed(call, clock) for _ in range(_TURN)][_SETTLING:]
    return tuple(map(tuple, samples))


def _timed(call: Callable[[], None], clock: Callable[[], float]) -> float:
    before = clock()
    call()
    return clock() - before
