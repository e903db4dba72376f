from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench import feed_file, worker
from burnish.core import records
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel, TorchSource

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
negated (float[2] x) => (float[2] y) { y = Neg(x) }
"""


@pytest.fixture
def opening(tmp_path: Path) -> dict[str, Any]:
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "negated.onnx")
    feed_file.write(tmp_path / "feeds.npz", {"x": np.array([1, 2], np.float32)})
    return {
        "command": "open",
        "model": records.encode(StoredModel(tmp_path / "negated.onnx", "negated")),
        "engine": "onnxruntime-cpu",
        "options": dataclasses.asdict(EngineOptions(threads=1)),
        "feeds": str(tmp_path / "feeds.npz"),
        "limit": {"calls": 10, "seconds": 0.01},
    }


@pytest.fixture(autouse=True)
def _collector_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_silence_collector", lambda: None)


def answers(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    worker.serve((json.dumps(request) for request in requests), found.append)
    return found


def test_commands_are_answered_in_order(opening: dict[str, Any], tmp_path: Path) -> None:
    block = {"command": "block", "calls": 3, "settle_s": 0.0}
    outputs = {"command": "outputs", "path": str(tmp_path / "out.npz")}
    first, second, third, last = answers(opening, block, {"command": "memory"}, outputs)
    assert set(first) == {
        "load_s", "first_call_s", "warmup_calls", "warmup_s", "converged", "call_s", "placement",
    }  # fmt: skip
    assert len(second["samples_s"]) == 3
    assert third["peak_memory_bytes"] > 0
    assert last == {}
    assert feed_file.read(tmp_path / "out.npz")["y"].tolist() == [-1, -2]


def test_what_the_user_can_act_on_is_one_line_with_its_hint(opening: dict[str, Any]) -> None:
    reply = answers({**opening, "engine": "onnxruntime-gpu"})[0]
    assert reply["failure"].startswith("unknown engine 'onnxruntime-gpu' (did you mean ")


def test_anything_else_is_told_and_ends_the_worker(opening: dict[str, Any]) -> None:
    found: list[dict[str, Any]] = []
    request = json.dumps({**opening, "feeds": "/nowhere.npz"})
    with pytest.raises(FileNotFoundError):
        worker.serve(iter([request]), found.append)
    assert found[0]["failure"].startswith("FileNotFoundError: ")


def test_a_model_with_its_source_survives_the_pipe() -> None:
    source = TorchSource(
        "function", "package.module:make", {"layers": 2, "rate": 0.5, "bias": True}
    )
    model = StoredModel(Path("m.onnx"), "m", "dynamo", (Path("test_data_set_0"),), source)
    sent = json.loads(json.dumps(records.encode(model)))
    assert records.decode(StoredModel, sent) == model
