"""The measuring process is asked, and its end is told."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from burnish.codegen.tune.messages import Compile, Forget, Time
from burnish.codegen.tune.process import RequestRefusedError, WorkerDiedError, WorkerProcess
from codegen.tune.bad_kernels import TEXTS

LIMIT_S = 120.0


def test_it_answers_and_refuses_and_goes_on() -> None:
    with WorkerProcess() as worker:
        assert worker.ask(Compile(TEXTS["right"], "portable"), LIMIT_S).startswith(b"\x7fELF")
        with pytest.raises(RequestRefusedError, match="KeyError: 'nothing'"):
            worker.ask(Time("nothing", 1), LIMIT_S)
        assert worker.ask(Forget("nothing"), LIMIT_S) is None


def test_a_process_that_cannot_start_says_why() -> None:
    with (
        WorkerProcess(module="burnish.codegen.tune.nowhere") as worker,
        pytest.raises(WorkerDiedError, match=r"crashed \(with exit code 1\): .*No module named"),
    ):
        worker.ask(Forget("x"), LIMIT_S)


def test_a_process_that_gives_no_answer_is_ended() -> None:
    worker = WorkerProcess()
    with pytest.raises(WorkerDiedError, match=r"timed out after 10\.0 ms"):
        worker.receive(0.01)
    assert worker._process.poll() is not None


def test_a_worker_does_not_outlive_its_parent() -> None:
    script = (
        "import os; from burnish.codegen.tune.process import WorkerProcess;"
        "from burnish.codegen.tune.messages import Forget;"
        "worker = WorkerProcess(); worker.ask(Forget('x'), 120);"
        "print(worker._process.pid, flush=True); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    worker = int(done.stdout)
    for _ in range(100):
        if not _is_running(worker):
            return
        time.sleep(0.1)
    pytest.fail("the worker still runs")


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
