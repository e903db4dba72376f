"""Run a program that is not ours: a crash or a hang of it is a result, not the end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    """How a program ended, and what it said."""

    ok: bool
    output: str
    """All of stdout."""
    reason: str
    """Why it failed, in one line; empty if it did not."""


def run(command: Sequence[str], *, time_limit_s: float) -> ProgramOutcome:
    """Run a program to its end, or end it and everything that it started."""
    try:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return ProgramOutcome(ok=False, output="", reason=f"cannot be started ({error.strerror})")
    with started as program:
        try:
            output, errors = program.communicate(timeout=time_limit_s)
        except subprocess.TimeoutExpired:
            _kill(program)
            output, _ = program.communicate()
            reason = f"did not end within {time_limit_s:g} s"
            return ProgramOutcome(ok=False, output=output, reason=reason)
        except BaseException:
            _kill(program)
            raise
    code = program.returncode
    return ProgramOutcome(code == 0, output, "" if code == 0 else _reason(code, errors))


def signal_name(number: int) -> str:
    """Return the name of a signal; some have none."""
    known = {one.value: one.name for one in signal.Signals}
    return known.get(number, f"signal {number}")


def _kill(program: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


def _reason(code: int, errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if code < 0:
        return f"crashed ({signal_name(-code)})"
    return lines[-1][:200] if lines else f"ended with exit code {code}"
