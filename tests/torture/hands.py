"""Hands: processes that do pieces of an attack, each on cores of its own.

A piece is a function of a module and its arguments. A piece that ends its process, or takes too
long, says so in its outcome and costs no other piece: the next one finds a new process.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

from torture.finding import Finding

Result = TypeVar("Result")
Ending = Literal["done", "raised", "crash", "hang"]

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome(Generic[Result]):
    """What became of one piece."""

    arguments: tuple[Any, ...]
    ending: Ending
    result: Result | None
    """None: it did not come to one."""
    what: str
    """What went wrong; empty: nothing."""
    seconds: float

    def trouble(self, where: str) -> list[Finding]:
        """Return the finding that a piece without a result is."""
        kinds = {"raised": "broke down", "crash": "crash", "hang": "hang"}
        return [Finding(kinds[self.ending], where, self.what)] if self.ending != "done" else []


class Hands:
    """So many processes, with as many threads here that hand them their work."""

    def __init__(self, jobs: int, *, limit_s: float = math.inf) -> None:
        """Have `jobs` hands, each started with its first work; after `limit_s` none is begun."""
        self._jobs = jobs
        self._until = time.monotonic() + limit_s
        self.left = 0
        """How many pieces were not begun."""
        self._pool = ThreadPoolExecutor(jobs, initializer=self._begin)
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._every: list[_Hand] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for hand in self._every:
            hand.end()
        self._pool.shutdown()

    def apart(self) -> Self:
        """Return the same hands, which count for somebody else what is left."""
        other = copy.copy(self)
        other.left = 0
        return other

    def spread(
        self,
        do: Callable[..., Result],
        pieces: Iterable[tuple[Any, ...]],
        *,
        limit_s: float,
        told: Callable[[Outcome[Result]], None] = lambda _outcome: None,
    ) -> list[Outcome[Result]]:
        """Return what became of each piece, in order; `told` hears of each as it comes.

        Pieces that time did not allow to begin are counted in `left`, and not returned.
        """

        def one(arguments: tuple[Any, ...]) -> Outcome[Result] | None:
            if time.monotonic() > self._until:
                with self._lock:
                    self.left += 1
                return None
            outcome: Outcome[Result] = self._mine.hand.ask(do, arguments, limit_s)
            with self._lock:
                told(outcome)
            return outcome

        return [outcome for outcome in self._pool.map(one, pieces) if outcome is not None]

    def _begin(self) -> None:
        with self._lock:
            _pin(len(self._every), self._jobs)
            self._mine.hand = _Hand()
            self._every.append(self._mine.hand)


def _pin(number: int, jobs: int) -> None:
    """Give this thread, and all that it starts, its share of the cores, if there are enough."""
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // jobs
    if each:
        os.sched_setaffinity(0, cores[number * each : (number + 1) * each])


class _Hand:
    """One process that does one piece after the other; a new one where it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(
        self, do: Callable[..., Result], arguments: tuple[Any, ...], limit_s: float
    ) -> Outcome[Result]:
        process, late = self._started(), threading.Event()
        start = time.monotonic()
        alarm = threading.Timer(limit_s, lambda: (late.set(), _end(process)))
        alarm.start()
        try:
            answer = _exchange(process, (do, arguments))
        finally:
            alarm.cancel()
        outcome = functools.partial(Outcome, arguments, seconds=time.monotonic() - start)
        if answer is not None:
            result, what = answer
            return outcome("raised" if what else "done", result, what)
        self.end()
        if late.is_set():
            return outcome("hang", None, f"no end after {limit_s:.0f} s")
        return outcome("crash", None, f"the process ended: {process.returncode}")

    def end(self) -> None:
        """End the process, and all that it started in its session."""
        if self._process is not None:
            _end(self._process)
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.torture.hands", str(os.getpid())], cwd=_ROOT,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        return self._process


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _exchange(process: subprocess.Popen[bytes], asked: object) -> tuple[Any, str] | None:
    """Send a piece and return the result and what went wrong; None: the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(asked, process.stdin)
        process.stdin.flush()
        result, what = pickle.load(process.stdout)
    except (BrokenPipeError, EOFError, pickle.UnpicklingError):
        process.wait()
        return None
    return result, str(what)


def _fall_with(parent: int) -> None:
    """End this process and its group as soon as nobody waits for it any more."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.killpg(0, signal.SIGKILL)


def _serve(parent: int) -> None:
    """Do the pieces that come on stdin; what they print goes to stderr."""
    threading.Thread(target=_fall_with, args=(parent,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    given = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with contextlib.suppress(EOFError):
        while True:
            do, arguments = pickle.load(given)
            try:
                answer = (do(*arguments), "")
            except Exception as error:  # whatever it is, the outcome tells it
                answer = (None, f"{type(error).__name__}: {error}")
            pickle.dump(answer, answers)
            answers.flush()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
