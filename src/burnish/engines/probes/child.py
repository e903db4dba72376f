"""Run something in a child process: a crash or a hang there is a result, not the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended, and what it said."""

    ok: bool
    output: str
    """All of stdout."""
    reason: str
    """Why it failed, in one line; empty if it did not."""


def run(command: Sequence[str], *, time_limit_s: float) -> Outcome:
    """Run a program to its end, or end it and everything that it started."""
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Outcome(ok=False, output="", reason=f"cannot be started ({error.strerror})")
    try:
        output, errors = child.communicate(timeout=time_limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, _ = child.communicate()
        return Outcome(ok=False, output=output, reason=f"did not end within {time_limit_s:g} s")
    code = child.returncode
    return Outcome(code == 0, output, "" if code == 0 else _reason(code, errors))


def run_module(module: str, *arguments: str, time_limit_s: float) -> Outcome:
    """Run a Python module as a program, with this interpreter."""
    # -P: a file in the current folder must not take the place of a library
    command = [sys.executable, "-P", "-m", module, *arguments]
    return run(command, time_limit_s=time_limit_s)


def _reason(code: int, errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    return lines[-1][:200] if lines else f"ended with exit code {code}"
