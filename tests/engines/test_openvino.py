"""OpenVINO computes in the precision that was asked for, and says what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnish.core.array_types import array_type
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.openvino import explain
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

ENGINE = ENGINES["openvino"]
EXP = "(float[n] x) => (float[n] y) { y = Exp(x) }"

needed = pytest.mark.skipif(not ENGINE.availability().ok, reason="openvino is not installed")


@needed
def test_single_precision_is_asked_for_and_obtained(stored: Stored) -> None:
    values = np.linspace(0, 1, 64, dtype=np.float32)
    with ENGINE.open(stored(EXP), EngineOptions(threads=1)) as session:
        assert session.placement.precision == "f32"
        assert session.placement.threads == 1
        outputs = session.run({"x": values})
    np.testing.assert_allclose(outputs["y"], np.exp(values), rtol=1e-6)


@needed
def test_threads_that_are_not_there_are_told(stored: Stored) -> None:
    with ENGINE.open(stored(EXP), EngineOptions(threads=100_000)) as session:
        obtained = session.placement.threads
        assert obtained is not None
        assert obtained < 100_000
        told = f"100000 threads were asked for, OpenVINO takes {obtained}"
        assert told in session.placement.notes


@needed
def test_bf16_values_are_not_mistaken_for_f16(stored: Stored) -> None:
    model = stored("(bfloat16[n] x) => (bfloat16[n] y) { y = Relu(x) }")
    array = np.array([-1, 3], array_type("bf16"))
    with ENGINE.open(model, EngineOptions()) as session:
        outputs = session.run({"x": array})
    assert outputs["y"].dtype == array.dtype
    np.testing.assert_array_equal(outputs["y"].astype(np.float32), [0, 3])


@needed
def test_double_precision_is_not_silently_single(stored: Stored) -> None:
    model = stored("(double[n] x) => (double[n] y) { y = Exp(x) }")
    with pytest.raises(MissingCapabilityError) as caught:
        ENGINE.open(model, EngineOptions())
    assert caught.value.problem == "the model's arithmetic is f64, OpenVINO computes it in f32"
    with ENGINE.open(model, EngineOptions(allow_fallback=True)) as session:
        assert caught.value.problem in session.placement.notes


@needed
def test_an_unknown_operator_is_named(stored: Stored) -> None:
    with pytest.raises(ModelError) as caught:
        ENGINE.open(stored("(float[n] x) => (float[n] y) { y = custom.Fast(x) }"), EngineOptions())
    assert "OpenVINO does not know the operators custom.Fast" in caught.value.problem
    assert caught.value.hint == "use --engine onnxruntime-cpu"


@needed
def test_a_node_that_fails_is_named(stored: Stored) -> None:
    model = stored("(float[n] x, float[m] z) => (float[k] y) { [sum] y = Add(x, z) }")
    with ENGINE.open(model, EngineOptions()) as session, pytest.raises(ModelError) as caught:
        session.run({"x": np.zeros(2, np.float32), "z": np.zeros(3, np.float32)})
    assert "Add (node '" in caught.value.problem
    assert "failed in OpenVINO" in caught.value.problem


@needed
def test_text_is_refused(stored: Stored) -> None:
    with pytest.raises(ModelError, match="'x' is text"):
        ENGINE.open(stored("(string[n] x) => (string[n] y) { y = Identity(x) }"), EngineOptions())


@needed
def test_wide_integers_carry_a_warning(stored: Stored) -> None:
    with ENGINE.open(stored("(int64[n] x) => (int64[n] y) { y = Neg(x) }"), EngineOptions()) as s:
        assert any("i64 in i32" in note for note in s.placement.notes)


def test_a_message_without_a_known_shape_gives_its_last_line() -> None:
    error = explain("Exception from a.cpp:1:\nException from b.cpp:2:\nbad luck\n\n", _MODEL)
    assert error.problem == "m.onnx: OpenVINO cannot use it (bad luck)"


_MODEL = StoredModel(Path("m.onnx"), "m")
