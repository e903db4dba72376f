from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.core.tensors import TensorSpec
from burnish.store import layout, onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.summarize import list_store, summarize
from burnish.store.summary import UnknownOperator

TEXT = """
<ir_version: 10, opset_import: ["" : 20, "alien" : 3], producer_name: "me", producer_version: "2">
g (float[n, 3] x) => (float[n, 2] y)
<float[3, 2] weight = {1, 2, 3, 4, 5, 6}>
{ h = MatMul(x, weight) y = alien.Strange(h) }
"""
HISTORY = History("abc", (HistoryStep("test", "made by a test"),))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = layout.place(tmp_path, "tiny", "dynamo")
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    onnx_files.write(model, path, history=HISTORY)
    (path.parent / "test_data_set_0").mkdir()
    return tmp_path


def test_a_summary_says_what_the_model_is(store: Path) -> None:
    summary = summarize(layout.resolve("tiny", store))
    assert summary.label == "tiny/dynamo"
    assert summary.file_bytes == summary.path.stat().st_size
    assert summary.inputs == (TensorSpec("x", "f32", ("n", 3)),)
    assert summary.outputs == (TensorSpec("y", "f32", ("n", 2)),)
    assert (summary.ir_version, summary.opsets) == (10, {"ai.onnx": 20, "alien": 3})
    assert summary.producer == "me 2"
    assert (summary.parameters, summary.parameter_bytes) == (6, 24)
    assert summary.operators == {"MatMul": 1, "alien.Strange": 1}
    assert summary.unknown == (UnknownOperator("", "Strange", "alien"),)
    assert [path.name for path in summary.data_sets] == ["test_data_set_0"]
    assert summary.history == HISTORY


def test_data_files_count_as_part_of_the_model(tmp_path: Path) -> None:
    weight = ir.tensor(np.zeros((3, 500), np.float32), name="weight")
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    model.graph.initializers["weight"].const_value = weight
    ir.save(model, tmp_path / "m.onnx", external_data="m.data")
    summary = summarize(layout.stored(tmp_path / "m.onnx"))
    assert summary.data_files == ("m.data",)
    assert summary.file_bytes == (tmp_path / "m.onnx").stat().st_size + weight.nbytes


def test_a_listing_names_models_that_cannot_be_read(store: Path) -> None:
    broken = layout.place(store, "broken", "dynamo")
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"PK\x03\x04")
    first, second = list_store(store).models
    assert (first.name, first.inputs) == ("broken", ())
    assert "starts like a zip archive" in (first.problem or "")
    assert (second.name, second.problem, second.data_sets) == ("tiny", None, 1)
