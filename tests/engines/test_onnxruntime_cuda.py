"""The CUDA engine asks for what it needs, checks what it got, and says what is missing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines import onnxruntime_cuda, onnxruntime_executed
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.onnxruntime_cuda import provider_options, shape_computations
from burnish.engines.onnxruntime_placement import AssignedNode, assigned, fallbacks
from burnish.engines.onnxruntime_session import Provider, load
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

GRAPH = """(float[n, 4] x) => (float[n, 2] y, int64[2] s)
<float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { [product] y = MatMul(x, w) [size] s = Shape(y) }"""
TURNED = """(float[a, b] x) => (float[c, d] y)
{ t = Transpose<perm = [1, 0]>(x) [sizes] s = Shape(t) r = Relu(x) y = Reshape(r, s) }"""
"""ONNX Runtime asks for the shape of `x`, and turns that: a `Gather`."""
INSTALL = "pip uninstall onnxruntime && pip install 'burnish[gpu]'"
MISSING = not ENGINES["onnxruntime-cuda"].availability().ok


def test_f32_products_are_not_rounded_to_tf32_unless_asked() -> None:
    assert provider_options(EngineOptions()) == {
        "device_id": "0", "use_tf32": "0", "cudnn_conv_algo_search": "EXHAUSTIVE",
    }  # fmt: skip
    assert provider_options(EngineOptions(precision="tf32"))["use_tf32"] == "1"


def test_a_cuda_graph_and_a_device_are_passed_on() -> None:
    options = provider_options(EngineOptions(cuda_graph=True, device_index=3))
    assert (options["enable_cuda_graph"], options["device_id"]) == ("1", "3")


@pytest.mark.skipif(not MISSING, reason="the CUDA engine works here")
def test_without_cuda_the_remedy_is_a_command(stored: Stored) -> None:
    with pytest.raises(MissingCapabilityError, match="engine onnxruntime-cuda cannot be used"):
        ENGINES["onnxruntime-cuda"].open(stored(GRAPH), EngineOptions())
    assert ENGINES["onnxruntime-cuda"].availability().remedy


@pytest.mark.parametrize(
    ("gpu", "library", "reason", "remedy"),
    [
        (False, False, "no NVIDIA GPU on this machine",
         f"use a machine with an NVIDIA GPU, then {INSTALL}"),
        (False, True, "no NVIDIA GPU on this machine", "use a machine with an NVIDIA GPU"),
        (True, False, "onnxruntime is installed without CUDA", INSTALL),
    ],
)  # fmt: skip
def test_a_machine_without_a_card_is_not_told_to_install_what_cannot_run_there(
    monkeypatch: pytest.MonkeyPatch, *, gpu: bool, library: bool, reason: str, remedy: str
) -> None:
    monkeypatch.setattr(onnxruntime_cuda, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(onnxruntime_cuda, "_has_cuda_library", lambda: library)
    found = ENGINES["onnxruntime-cuda"].availability()
    assert (found.ok, found.reason, found.remedy) == (False, reason, remedy)
    assert bool(found.version) == library


def test_shape_computations_that_the_runtime_makes_itself_are_no_fallback(stored: Stored) -> None:
    """Of BERT from PyTorch's exporter, a `Gather` in each layer was called one."""
    model = stored(TURNED)
    nodes = assigned(load(model, EngineOptions(), Provider("CPUExecutionProvider", "cpu")))
    assert nodes is not None
    assert "Gather" in [node.op_type for node in nodes]
    allowed = shape_computations(model, nodes)
    fallen = [node.op_type for node in fallbacks(nodes, "CUDAExecutionProvider", allowed)]
    assert sorted(fallen) == ["Relu", "Reshape"]


def test_where_all_nodes_elsewhere_are_the_models_nothing_is_rewritten(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnxruntime_executed, "save", None)
    there = AssignedNode("CPUExecutionProvider", "size", "Shape")
    found = shape_computations(stored(GRAPH), [there])
    assert [node.name for node in found] == ["size"]


@pytest.mark.gpu
@pytest.mark.skipif(MISSING, reason="no CUDA here")
class TestOnTheDevice:
    """What can only be seen on a GPU."""

    def test_nodes_are_on_the_gpu_and_shapes_may_be_on_the_cpu(self, stored: Stored) -> None:
        with ENGINES["onnxruntime-cuda"].open(stored(GRAPH), EngineOptions()) as session:
            placement = session.placement
        assert placement.device == "cuda:0"
        assert placement.nodes_by_provider["CUDAExecutionProvider"] >= 1

    def test_a_captured_graph_computes_what_a_plain_run_does(self, stored: Stored) -> None:
        model = stored("(float[4, 4] x) => (float[4, 4] y) { t = MatMul(x, x) y = Relu(t) }")
        feeds = {"x": np.arange(16, dtype=np.float32).reshape(4, 4)}
        with ENGINES["onnxruntime-cuda"].open(model, EngineOptions(cuda_graph=True)) as session:
            call = session.prepare(feeds)
            call()
            replayed = call.binding.copy_outputs_to_cpu()[0]
            np.testing.assert_allclose(replayed, session.run(feeds)["y"], rtol=1e-5)

    def test_tf32_rounds_and_f32_does_not(self, stored: Stored) -> None:
        model = stored("(float[256, 256] x) => (float[256, 256] y) { y = MatMul(x, x) }")
        feeds = {"x": np.random.default_rng(0).random((256, 256), np.float32)}
        expected = feeds["x"].astype(np.float64) @ feeds["x"].astype(np.float64)
        with ENGINES["onnxruntime-cuda"].open(model, EngineOptions()) as session:
            np.testing.assert_allclose(session.run(feeds)["y"], expected, rtol=1e-5)
        with ENGINES["onnxruntime-cuda"].open(model, EngineOptions(precision="tf32")) as session:
            assert session.placement.precision == "tf32"

    def test_an_operator_without_a_cuda_kernel_is_refused(self, stored: Stored) -> None:
        model = stored("(float[n, n] x) => (float y) { t = Relu(x) y = Det(t) }")
        with pytest.raises(MissingCapabilityError, match="went to CPUExecutionProvider: Det"):
            ENGINES["onnxruntime-cuda"].open(model, EngineOptions())
        options = EngineOptions(allow_fallback=True)
        with ENGINES["onnxruntime-cuda"].open(model, options) as session:
            assert any("Det" in note for note in session.placement.notes)
