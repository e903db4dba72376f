"""A module is fed by the names in its ONNX file, in the precision that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.torch_session import arguments_by_name, flat_outputs
from burnish.store.stored import StoredModel, TorchSource

Stored = Callable[..., StoredModel]

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

FACTORY = """
import torch

class Twice(torch.nn.Linear):
    def forward(self, x):
        return {"y": super().forward(x)} if self.packed else super().forward(x)

def twice(packed=False):
    module = Twice(2, 2, bias=False)
    torch.nn.init.eye_(module.weight)
    module.packed = packed
    return module, (torch.zeros(1, 2),)
"""
GRAPH = "(float[n, 2] input_0) => (float[n, 2] y) { y = Identity(input_0) }"


@pytest.fixture
def twice(stored: Stored, tmp_path: Path) -> Callable[..., StoredModel]:
    (tmp_path / "factory.py").write_text(FACTORY)
    return lambda **arguments: stored(
        GRAPH, torch=TorchSource("function", "factory.py:twice", arguments)
    )


def test_names_that_forward_knows_go_there_in_any_order() -> None:
    named = arguments_by_name({"b": 2, "a": 1}, {"a": 0, "b": 0, "c": 9}, ())
    assert named == {"a": 1, "b": 2, "c": 9}


def test_other_names_are_taken_in_order() -> None:
    assert arguments_by_name({"in.0": 1, "in.1": 2}, (0, 0), ("a", "b", "c")) == {"a": 1, "b": 2}


def test_another_number_of_inputs_is_refused() -> None:
    with pytest.raises(ModelError) as caught:
        arguments_by_name({"x": 1}, (0, 0), ("a", "b"))
    assert caught.value.problem == "the model has the inputs x, its PyTorch module takes a, b"


def test_outputs_are_flattened_in_order() -> None:
    one, two, three = torch.zeros(1), torch.zeros(2), torch.zeros(3)
    assert flat_outputs({"a": one, "b": [two, (three, None)]}) == [one, two, three]


@pytest.mark.parametrize("packed", [False, True])
def test_inputs_in_order_and_packed_outputs_work(twice: Stored, packed: bool) -> None:
    with ENGINES["torch-eager"].open(twice(packed=packed), EngineOptions()) as session:
        outputs = session.run({"input_0": np.ones((3, 2), np.float32)})
    np.testing.assert_array_equal(outputs["y"], np.ones((3, 2)))


def test_the_precision_that_was_asked_for_is_obtained(twice: Stored) -> None:
    with ENGINES["torch-eager"].open(twice(), EngineOptions(precision="bf16")) as session:
        assert session.placement.precision == "bf16"
        outputs = session.run({"input_0": np.ones((1, 2), np.float32)})
    assert str(outputs["y"].dtype) == "bfloat16"


def test_the_thread_count_is_given_back(twice: Stored) -> None:
    before = torch.get_num_threads()
    with ENGINES["torch-eager"].open(twice(), EngineOptions(threads=before + 1)) as session:
        assert session.placement.device != "cpu" or session.placement.threads == before + 1
    assert torch.get_num_threads() == before


def test_an_unknown_precision_is_refused(twice: Stored) -> None:
    with pytest.raises(UsageError) as caught:
        ENGINES["torch-eager"].open(twice(), EngineOptions(precision="i8"))
    assert caught.value.problem == "PyTorch modules cannot be cast to 'i8'"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_cpu_has_no_tf32(twice: Stored) -> None:
    with pytest.raises(MissingCapabilityError, match="the CPU has none"):
        ENGINES["torch-eager"].open(twice(), EngineOptions(precision="tf32"))


def test_another_number_of_outputs_is_refused(stored: Stored, tmp_path: Path) -> None:
    (tmp_path / "factory.py").write_text(FACTORY)
    graph = "(float[n, 2] x) => (float[n, 2] y, float[n, 2] z) { y = Relu(x) z = Neg(x) }"
    model = stored(graph, torch=TorchSource("function", "factory.py:twice", {}))
    with (
        ENGINES["torch-eager"].open(model, EngineOptions()) as session,
        pytest.raises(ModelError, match="returns 1 tensors, the ONNX model has 2 outputs"),
    ):
        session.run({"x": np.ones((1, 2), np.float32)})


def test_a_closed_session_does_not_run(twice: Stored) -> None:
    with ENGINES["torch-eager"].open(twice(), EngineOptions()) as session:
        pass
    with pytest.raises(ValueError, match="the session is closed"):
        session.run({"input_0": np.ones((1, 2), np.float32)})
