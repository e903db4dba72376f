"""Models are profiled on engines, or from recordings made elsewhere."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

from burnish.core.errors import ModelError, UsageError
from burnish.store.stored import StoredModel
from burnish.study.profiling import profiles
from burnish.study.requests.looking import ProfileCommand
from kineto_events import kernel, launch, op, written

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 4] x, float[batch, 4] z) => (float[batch, 4] y, float[batch, 4] u) {
    shifted = Add(x, z)
    [the_relu] y = Relu(shifted)
    u = Sigmoid(shifted)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> StoredModel:
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return StoredModel(path, "tiny")


def test_two_inputs_two_outputs_and_nameless_nodes_are_all_led_back(model: StoredModel) -> None:
    request = ProfileCommand(model, warmup=1, runs=2)
    found, (trace,) = profiles(request)
    assert found.profiles[0].coverage.share == 1.0
    nodes = {node for span in trace.spans for node in span.nodes}
    assert nodes == {"Add_0", "the_relu", "Sigmoid_2"}


def test_one_model_twice_is_aligned_node_by_node(model: StoredModel) -> None:
    request = ProfileCommand([model, model], warmup=1, runs=2)
    found, traces = profiles(request)
    assert len(traces) == 2
    assert found.aligned is not None
    labels = {row.label for row in found.aligned.rows}
    assert labels == {"Add_0", "the_relu", "Sigmoid_2", "unattributed", "between nodes"}


def test_a_recording_is_read_instead_of_made(model: StoredModel, tmp_path: Path) -> None:
    events = [op("aten::relu", 0, 9, [2, 4]), launch(2, 1), kernel("k", 20, 5, 1, device=1)]
    request = ProfileCommand(model, trace=written(tmp_path, *events))
    found, (trace,) = profiles(request)
    assert found.profiles[0].plain_s is None
    assert found.profiles[0].by_origin.rows[0].label == "the_relu"
    assert any(span.device == 1 for span in trace.spans)


def test_an_empty_recording_says_what_to_do(model: StoredModel, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the trace holds no complete inference") as caught:
        profiles(ProfileCommand(model, trace=written(tmp_path)))
    assert caught.value.hint == "record one with burnish profile MODEL --runs 10"


def test_a_recording_is_of_one_model(model: StoredModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        profiles(ProfileCommand([model, model], trace=written(tmp_path)))
    assert caught.value.problem == "--trace is of one model, and 2 are given"
    assert caught.value.hint == "give the MODEL that was traced"
