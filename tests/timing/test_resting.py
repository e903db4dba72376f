from __future__ import annotations

import sys
import threading
import time

import pytest

from burnish.timing.resting import LONGEST_S, LOOK_S, others_are_busy, rested_s


class SpinningFor:
    """A process whose threads spin for `busy_s` from now on."""

    def __init__(self, busy_s: float) -> None:
        self.now_s, self._busy_s = 0.0, busy_s

    def clock(self) -> int:
        return round(self.now_s * 1e9)

    def is_busy(self) -> bool:
        return self.now_s < self._busy_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.mark.parametrize("busy_s", [0.0, 0.01, 0.035])
def test_threads_that_spin_are_waited_for(busy_s: float) -> None:
    process = SpinningFor(busy_s)
    found = rested_s(process.clock, process.is_busy, process.sleep)
    assert busy_s < found <= busy_s + 3 * LOOK_S


def test_threads_that_never_rest_are_not_waited_for() -> None:
    process = SpinningFor(1e9)
    found = rested_s(process.clock, process.is_busy, process.sleep)
    assert LONGEST_S <= found < LONGEST_S + 2 * LOOK_S


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
def test_a_thread_that_runs_is_seen_and_one_that_waits_is_not() -> None:
    ended, waiting = threading.Event(), threading.Event()
    sleeper = threading.Thread(target=waiting.wait)
    spinner = threading.Thread(target=_spin, args=(ended,))
    sleeper.start()
    try:
        spinner.start()
        try:
            # it waits for Python's lock at times, of which this thread lets go while it sleeps
            assert any(_looked() for _ in range(1000))
        finally:
            ended.set()
            spinner.join()
        # this interpreter may have other threads, which run at times
        assert any(not _looked() for _ in range(1000))
    finally:
        waiting.set()
        sleeper.join()


def _looked() -> bool:
    time.sleep(0.001)
    return others_are_busy()


def _spin(ended: threading.Event) -> None:
    while not ended.is_set():
        pass
