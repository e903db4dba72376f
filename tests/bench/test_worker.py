from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench import worker
from burnish.bench.subject import BenchSubject
from burnish.bench.worker import Bench, BlockRequest, OutputsRequest, WorkerOpening
from burnish.core.errors import UsageError
from burnish.engines.base import EngineOptions
from burnish.process.wire import Incoming, packed
from burnish.store.stored import StoredModel, TorchSource
from burnish.timing.stopwatch import WarmupLimit

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
negated (float[2] x) => (float[2] y) { y = Neg(x) }
"""


@pytest.fixture
def opening(tmp_path: Path) -> WorkerOpening:
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "negated.onnx")
    model = StoredModel(tmp_path / "negated.onnx", "negated")
    subject = BenchSubject("negated", model, "onnxruntime-cpu", EngineOptions(threads=1))
    return WorkerOpening(subject, {"x": np.array([1, 2], np.float32)}, WarmupLimit(10, 0.01))


@pytest.fixture(autouse=True)
def _collector_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_silence_collector", lambda: None)


def test_requests_are_answered_in_order(opening: WorkerOpening) -> None:
    bench = Bench()
    bench.ready("burnish.engines.onnxruntime_cpu")
    opened = bench.open(opening)
    assert min(opened.load_s, opened.first_call_s, opened.call_s) > 0
    assert opened.placement.threads == 1
    assert len(bench.block(BlockRequest(3, 0.0)).samples_s) == 3
    assert bench.peak_memory_bytes() > 0
    ((key, outputs),) = bench.outputs(OutputsRequest((), 2)).results.items()
    assert outputs["y"].tolist() == [-1, -2]
    assert bench.outputs(OutputsRequest((key,), 1)).results == {}


LEAN = """
import sys
import numpy as np
from pathlib import Path
from burnish.bench.subject import BenchSubject
from burnish.bench.worker import Bench, WorkerOpening, OutputsRequest
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel
from burnish.timing.stopwatch import WarmupLimit
worker = Bench()
worker.ready("burnish.engines.onnxruntime_cpu")
subject = BenchSubject(
    "m", StoredModel(Path(sys.argv[1]), "m"), "onnxruntime-cpu", EngineOptions(arithmetic="f16")
)
opened = worker.open(
    WorkerOpening(subject, {"x": np.array([1, 2], np.float32)}, WarmupLimit(1, 0.0))
)
print(opened.placement.precision, {"onnx", "onnx_ir", "torch"} & set(sys.modules))
"""


def test_a_model_that_its_starter_has_read_is_not_read_again(opening: WorkerOpening) -> None:
    words = [sys.executable, "-c", LEAN, str(opening.subject.model.onnx)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "f16 set()\n", "else its memory and its start would be measured, too"


def test_feeds_that_do_not_fit_are_named(opening: WorkerOpening) -> None:
    with pytest.raises(UsageError, match="input 'x' is missing"):
        Bench().open(WorkerOpening(opening.subject, {}, opening.warmup))


def test_a_model_with_its_source_survives_the_wire() -> None:
    source = TorchSource(
        "function", "package.module:make", {"layers": 2, "rate": 0.5, "bias": True}
    )
    model = StoredModel(Path("m.onnx"), "m", "dynamo", (Path("test_data_set_0"),), source)
    incoming, stream = Incoming(), b"".join(packed("open", model))
    message = None
    while message is None:
        count = incoming.room.nbytes
        incoming.room[:], stream = stream[:count], stream[count:]
        message = incoming.advance(count)
    assert message.value(StoredModel) == model
