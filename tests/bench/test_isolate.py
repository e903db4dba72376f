from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench import feed_file
from burnish.bench.isolate import Terms, WorkerProcess
from burnish.bench.subject import BenchSubject, WorkerFailedError
from burnish.bench.timing import WarmupLimit
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
doubled (float[N, 4] x) => (float[N, 4] y) { y = Add(x, x) }
"""


@pytest.fixture
def subject(tmp_path: Path) -> BenchSubject:
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "doubled.onnx")
    model = StoredModel(tmp_path / "doubled.onnx", "doubled")
    return BenchSubject("doubled", model, "onnxruntime-cpu", EngineOptions(threads=1))


@pytest.fixture
def terms(tmp_path: Path) -> Terms:
    feed_file.write(tmp_path / "feeds.npz", {"x": np.ones((2, 4), np.float32)})
    return Terms(
        feeds=tmp_path / "feeds.npz",
        scratch=tmp_path,
        limit_s=60,
        warmup=WarmupLimit(seconds=0.05),
        notes=("malloc: the system's",),
        environment={"PYTHONPATH": str(tmp_path)},
    )


@pytest.fixture
def fake(tmp_path: Path, subject: BenchSubject, terms: Terms) -> Callable[..., WorkerProcess]:
    """Return a maker of workers that run a few lines instead of the real thing."""

    def make(lines: str, *, limit_s: float = 60) -> WorkerProcess:
        head = "import os, sys, time\nreplies = os.fdopen(int(sys.argv[1]), 'w', buffering=1)\n"
        (tmp_path / "odd_worker.py").write_text(head + lines)
        own = Terms(terms.feeds, terms.scratch, limit_s, terms.warmup, (), terms.environment)
        return WorkerProcess(subject, own, module="odd_worker")

    return make


def test_a_worker_opens_times_and_computes(subject: BenchSubject, terms: Terms) -> None:
    worker = WorkerProcess(subject, terms)
    try:
        worker.ready()
        opened = worker.open()
        samples = worker.block(5, 0.0)
        peak = worker.peak_memory_bytes()
        outputs = worker.outputs()
    finally:
        worker.end()
    assert opened.placement.device == "cpu"
    assert opened.placement.threads == 1
    assert opened.placement.notes[-1] == "malloc: the system's"
    assert opened.warmup_calls >= 1
    assert min(opened.load_s, opened.first_call_s, opened.call_s) > 0
    assert len(samples) == 5
    assert min(samples) > 0
    assert peak is not None
    assert peak > 1 << 20
    assert np.array_equal(outputs["y"], np.full((2, 4), 2, np.float32))


def test_what_an_engine_refuses_is_the_reason(
    subject: BenchSubject, terms: Terms, tmp_path: Path
) -> None:
    feed_file.write(tmp_path / "feeds.npz", {"wrong": np.ones((2, 4), np.float32)})
    worker = WorkerProcess(subject, terms)
    try:
        with pytest.raises(WorkerFailedError, match="x"):
            worker.open()
    finally:
        worker.end()


def test_a_crash_is_told_with_its_signal_and_last_words(
    fake: Callable[..., WorkerProcess],
) -> None:
    worker = fake(
        "print('about to fall', file=sys.stderr, flush=True)\n"
        "sys.stdin.readline()\nos.kill(os.getpid(), 11)\n"
    )
    with pytest.raises(WorkerFailedError) as failure:
        worker.open()
    worker.end()
    expected = "the process ended by SIGSEGV during 'open': about to fall"
    assert str(failure.value) == expected


def test_an_early_end_is_told_with_its_exit_code(fake: Callable[..., WorkerProcess]) -> None:
    worker = fake("sys.exit(3)\n")
    with pytest.raises(WorkerFailedError, match="ended with exit code 3 during 'block'"):
        worker.block(1, 0.0)
    worker.end()


def test_a_worker_that_hangs_is_ended(fake: Callable[..., WorkerProcess]) -> None:
    worker = fake("replies.write(str(os.getpid()) + '\\n')\ntime.sleep(600)\n", limit_s=2.0)
    worker_id = int(worker._next_line("start"))
    with pytest.raises(WorkerFailedError, match=r"no answer to 'open' within 2.00 s"):
        worker.open()
    worker.end()
    with pytest.raises(ProcessLookupError):
        os.kill(worker_id, 0)


def test_what_a_worker_started_ends_with_it(fake: Callable[..., WorkerProcess]) -> None:
    worker = fake(
        "child = os.fork()\nif child:\n    replies.write(str(child) + '\\n')\ntime.sleep(600)\n"
    )
    child = int(worker._next_line("start"))
    worker.end()
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_chatter_on_both_streams_is_no_answer(fake: Callable[..., WorkerProcess]) -> None:
    worker = fake(
        "sys.stdin.readline()\nprint('{\"samples_s\": [9]}', flush=True)\n"
        "os.write(2, b'loading\\n')\nreplies.write('{\"samples_s\": [0.5]}\\n')\ntime.sleep(60)\n"
    )
    try:
        assert worker.block(1, 0.0) == (0.5,)
    finally:
        worker.end()


def test_a_failure_that_the_worker_tells_is_the_reason(
    fake: Callable[..., WorkerProcess],
) -> None:
    worker = fake('sys.stdin.readline()\nreplies.write(\'{"failure": "out of paint"}\\n\')\n')
    with pytest.raises(WorkerFailedError, match=r"^out of paint$"):
        worker.block(1, 0.0)
    worker.end()
    worker.end()
