"""A crash or a hang of a program is a result."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from burnish.process.program import ProgramOutcome, run


def python(code: str) -> ProgramOutcome:
    return run([sys.executable, "-c", code], time_limit_s=600)


def test_what_a_child_prints_comes_back() -> None:
    outcome = python("print('hello')")
    assert (outcome.ok, outcome.output, outcome.reason) == (True, "hello\n", "")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('bad luck')", "ValueError: bad luck"),
        ("import os; os.kill(os.getpid(), 11)", "crashed (SIGSEGV)"),
        ("import sys; sys.exit(3)", "ended with exit code 3"),
    ],
)
def test_a_failure_has_a_reason(code: str, reason: str) -> None:
    outcome = python(code)
    assert (outcome.ok, outcome.reason) == (False, reason)


def test_a_child_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = ["sh", "-c", f"(sleep 1; touch {mark}) & echo started; sleep 60"]
    outcome = run(command, time_limit_s=0.3)
    assert (outcome.ok, outcome.reason) == (False, "did not end within 0.3 s")
    assert outcome.output == "started\n"
    time.sleep(1.2)
    assert not mark.exists()


def test_a_program_that_is_not_there_cannot_be_started() -> None:
    outcome = run(["/no/such/program"], time_limit_s=1)
    assert outcome.reason == "cannot be started (No such file or directory)"


def test_an_interrupted_program_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", f"(sleep 1; touch {mark}) & sleep 60"], time_limit_s=600)
    time.sleep(1.2)
    assert not mark.exists()
