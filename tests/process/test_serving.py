"""A child ends with its parent, on every system, and says what it is doing only to a parent."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from burnish.process import serving

WAIT = """
import sys, time
from burnish.process import serving
serving._SET_SIGNAL = int(sys.argv[2])
serving.end_with_parent(int(sys.argv[1]))
print("waiting", flush=True)
time.sleep(600)
"""
NO_SUCH_CALL = 99999


def started(life: int, call: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WAIT, str(life), str(call)], pass_fds=(life,),
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("call", [serving._SET_SIGNAL, NO_SUCH_CALL])
def test_the_end_of_a_pipe_ends_the_process_by_the_system_or_else_by_a_thread(call: int) -> None:
    life, held = os.pipe()
    with started(life, call) as process:
        os.close(life)
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        os.close(held)
        assert process.wait(timeout=600) == -9


@pytest.mark.parametrize("call", [serving._SET_SIGNAL, NO_SUCH_CALL])
def test_a_parent_that_has_ended_already_is_noticed(call: int) -> None:
    life, held = os.pipe()
    os.close(held)
    with started(life, call) as process:
        os.close(life)
        assert process.wait(timeout=600) in (1, -9)
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_a_stage_is_told_to_nobody_where_there_is_no_parent() -> None:
    serving.stage("export")
