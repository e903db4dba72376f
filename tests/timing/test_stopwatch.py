from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.timing import stopwatch


class FakeTime:
    """A clock that moves only when `call` is called, by the next of the durations."""

    def __init__(self, durations_s: Iterator[float]) -> None:
        self._durations = durations_s
        self.now_ns = 0
        self.calls = 0

    def clock(self) -> int:
        return self.now_ns

    def call(self) -> None:
        self.now_ns += round(next(self._durations) * 1e9)
        self.calls += 1


def constant(duration_s: float) -> FakeTime:
    return FakeTime(iter(lambda: duration_s, None))


def falling(first_s: float, last_s: float, factor: float) -> Iterator[float]:
    duration_s = first_s
    while True:
        yield duration_s
        duration_s = max(last_s, duration_s * factor)


def test_steady_calls_need_three_windows() -> None:
    time = constant(0.01)
    warmup = stopwatch.warm_up(time.call, stopwatch.WarmupLimit(), time.clock)
    assert warmup == stopwatch.Warmup(calls=3, seconds=0.03, converged=True, call_s=0.01)


def test_warm_up_goes_on_until_calls_stop_getting_faster() -> None:
    time = FakeTime(falling(0.1, 0.01, 0.8))
    warmup = stopwatch.warm_up(time.call, stopwatch.WarmupLimit(), time.clock)
    assert warmup.converged
    assert warmup.call_s == pytest.approx(0.01)
    assert warmup.calls == 14


def test_short_calls_are_judged_in_windows_of_five_milliseconds() -> None:
    time = constant(0.001)
    assert stopwatch.warm_up(time.call, stopwatch.WarmupLimit(), time.clock).calls == 15


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        (stopwatch.WarmupLimit(calls=7, seconds=100), 7),
        (stopwatch.WarmupLimit(calls=1000, seconds=0.05), 2),
        (stopwatch.WarmupLimit(calls=1000, seconds=0.0), 1),
    ],
)
def test_warm_up_ends_at_its_limit_and_says_so(limit: stopwatch.WarmupLimit, calls: int) -> None:
    time = FakeTime(iter([0.02, 0.04] * 100))
    warmup = stopwatch.warm_up(time.call, limit, time.clock)
    assert (warmup.calls, warmup.converged) == (calls, False)


def test_a_block_gives_every_call_after_those_that_settle() -> None:
    time = FakeTime(iter([0.006, 0.006, 0.001, 0.003, 0.002]))
    samples = stopwatch.sampled(time.call, calls=3, settle_s=0.01, clock=time.clock)
    assert samples == (0.001, 0.003, 0.002)


def test_a_call_of_a_second_settles_by_itself() -> None:
    assert stopwatch.settling_s(0.5) == stopwatch.SETTLE_S
    assert stopwatch.settling_s(1.0) == 0
    time = constant(1.0)
    assert stopwatch.sampled(time.call, calls=1, settle_s=0.0, clock=time.clock) == (1.0,)
    assert time.calls == 1


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30))
def test_samples_are_exactly_the_time_that_passed(durations: list[float]) -> None:
    time = FakeTime(iter(durations))
    samples = stopwatch.sampled(time.call, calls=len(durations), settle_s=0.0, clock=time.clock)
    assert samples == pytest.approx(durations, abs=1e-9)


def test_calls_go_on_for_a_while_if_they_take_less() -> None:
    time = constant(0.01)
    assert len(stopwatch.sampled(time.call, calls=2, for_s=0.05, clock=time.clock)) == 5
    assert len(stopwatch.sampled(time.call, calls=2, settle_calls=3, clock=time.clock)) == 2
    assert time.calls == 10
