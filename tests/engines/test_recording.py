from __future__ import annotations

import itertools
import os
from collections.abc import Callable

import pytest

from burnish.core.arrays import Arrays
from burnish.engines.recording import Recording, Repeats, record
from burnish.trace.events import Trace
from timelines import run, trace


class FakeSession:
    """A session that answers with a timeline made by hand, and counts its calls."""

    def __init__(self, timeline: Trace | None) -> None:
        self.timeline = timeline
        self.asked: dict[str, int] = {}
        self.calls = 0

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        self.asked = {"warmup": warmup, "runs": runs}
        return self.timeline

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        def call() -> None:
            self.calls += 1

        return call


def recorded(session: FakeSession, repeats: Repeats) -> Recording:
    ticks = itertools.count(0, 500_000_000)
    return record(session, {}, repeats, lambda: next(ticks))  # type: ignore[arg-type]


def test_a_timeline_comes_with_the_times_of_runs_without_one() -> None:
    session = FakeSession(trace(run(0, 100)))
    found = recorded(session, Repeats(warmup=1, runs=3))
    assert found.trace is session.timeline
    assert session.asked == {"warmup": 1, "runs": 3}
    assert found.plain_s == (0.5, 0.5, 0.5)
    assert session.calls == 4


def test_short_runs_are_repeated_for_a_while() -> None:
    found = recorded(FakeSession(trace(run(0, 100))), Repeats(warmup=0, runs=2, plain_s=6.0))
    assert len(found.plain_s) == 5


def test_an_engine_without_timelines_has_no_times() -> None:
    assert recorded(FakeSession(None), Repeats()) == Recording(None)


def test_runs_are_timed_before_a_profiler_has_been_there() -> None:
    session = FakeSession(trace(run(0, 100)))
    session.trace = lambda *_, **__: pytest.fail("too early") if not session.calls else None  # type: ignore[method-assign]
    recorded(session, Repeats(warmup=0, runs=2))
    assert session.calls == 2


def test_how_busy_the_machine_was_is_told_where_the_system_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0, 0.0, 0.0))
    assert recorded(FakeSession(trace(run(0, 100))), Repeats()).load == 1.5

    def silent() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", silent)
    assert recorded(FakeSession(trace(run(0, 100))), Repeats()).load is None
