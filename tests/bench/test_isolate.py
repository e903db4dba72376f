from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench.isolate import WorkerProcess, WorkerTerms
from burnish.bench.subject import BenchSubject, WorkerFailedError
from burnish.engines.base import EngineOptions
from burnish.process.child import ProcessLimits
from burnish.store.stored import StoredModel
from burnish.timing.stopwatch import WarmupLimit

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
doubled (float[N, 4] x) => (float[N, 4] y) { y = Add(x, x) }
"""
ODD = """
import os, sys, time
from burnish.bench.worker import BlockRequest, CallSamples, WorkerOpening

class Odd:
    def open(self, request: WorkerOpening) -> None:
        {}
    def block(self, request: BlockRequest) -> CallSamples:
        print('{{"samples_s": [9]}}', flush=True)
        return CallSamples((0.5,))
"""


@pytest.fixture
def subject(tmp_path: Path) -> BenchSubject:
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "doubled.onnx")
    model = StoredModel(tmp_path / "doubled.onnx", "doubled")
    return BenchSubject("doubled", model, "onnxruntime-cpu", EngineOptions(threads=1))


@pytest.fixture
def terms(tmp_path: Path) -> WorkerTerms:
    return WorkerTerms(
        feeds={"x": np.ones((2, 4), np.float32)},
        warmup=WarmupLimit(seconds=0.05),
        limits=ProcessLimits(60, environment={"PYTHONPATH": str(tmp_path)}),
        notes=("malloc: the system's",),
    )


@pytest.fixture
def odd(tmp_path: Path, subject: BenchSubject, terms: WorkerTerms) -> Callable[..., WorkerProcess]:
    """Return a maker of workers that do something else when they are to open a model."""

    def make(line: str, *, limit_s: float = 60) -> WorkerProcess:
        (tmp_path / "odd_worker.py").write_text(ODD.format(line))
        own = replace(terms, limits=replace(terms.limits, answer_s=limit_s))
        return WorkerProcess(subject, own, entry="odd_worker:Odd")

    return make


def test_a_worker_opens_times_and_computes(subject: BenchSubject, terms: WorkerTerms) -> None:
    worker = WorkerProcess(subject, terms)
    try:
        worker.ready()
        opened = worker.open()
        samples = worker.block(5, 0.0)
        peak = worker.peak_memory_bytes()
        (outputs,) = worker.outputs((), 2).values()
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


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"engine": "onnxruntime-gpu"}, r"^unknown engine 'onnxruntime-gpu' \(did you mean "),
        ({"model": StoredModel(Path("no.onnx"), "no")}, r"^no\.onnx: no such file \(list the "),
    ],
)
def test_what_an_engine_refuses_is_the_reason_with_its_hint(
    subject: BenchSubject, terms: WorkerTerms, changes: Mapping[str, object], reason: str
) -> None:
    worker = WorkerProcess(replace(subject, **changes), terms)  # type: ignore[arg-type]
    with pytest.raises(WorkerFailedError, match=reason):
        worker.open()
    worker.end()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "sys.stderr.write('about to fall'); sys.stderr.flush(); os.kill(os.getpid(), 11)",
            "the process ended by SIGSEGV during 'open': about to fall",
        ),
        ("os._exit(3)", "the process ended with exit code 3 during 'open'"),
        ("raise ValueError('out of paint')", "ValueError: out of paint"),
        (
            "time.sleep(600)",
            "the process gave no answer within 2.00 s during 'open'; --budget gives it longer",
        ),
    ],
)
def test_however_a_worker_fails_that_is_the_reason(
    odd: Callable[..., WorkerProcess], line: str, reason: str
) -> None:
    # only what never answers may be waited for briefly: a busy machine is slow to start a process
    worker = odd(line, limit_s=2.0 if "sleep" in line else 60.0)
    with pytest.raises(WorkerFailedError) as failure:
        worker.open()
    worker.end()
    worker.end()
    assert str(failure.value) == reason
    with pytest.raises(ProcessLookupError):
        os.kill(worker._child._process.pid, 0)


def test_chatter_is_no_answer(odd: Callable[..., WorkerProcess]) -> None:
    worker = odd("pass")
    try:
        assert worker.block(1, 0.0) == (0.5,)
    finally:
        worker.end()
