from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node

TYPES = (
    "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool",
)  # fmt: skip


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_every_type_is_cast_to_every_other(source: str, target: str) -> None:
    inputs = {"x": np.array([[0, 1, 2.7, 100.4, 3]], np.float64).astype(source)}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(target))
    assert_as_runtime(one_node("Cast", inputs, results=[target], to=kind), inputs)


@pytest.mark.parametrize("source", TYPES)
def test_bfloat16_is_cast_in_both_directions(source: str) -> None:
    inputs = {"x": np.array([0, 1, 3, 100], source)}
    model = one_node("Cast", inputs, results=[ml_dtypes.bfloat16], to=TensorProto.BFLOAT16)
    found = judged(model, inputs)["out"]
    np.testing.assert_array_equal(found, inputs["x"].astype(ml_dtypes.bfloat16))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(source))
    back = judged(one_node("Cast", {"x": found}, results=[source], to=kind), {"x": found})
    np.testing.assert_array_equal(back["out"], inputs["x"])


def test_integers_wrap_and_fractions_are_cut_off() -> None:
    inputs = {"x": np.array([300, -1, 255], np.int32)}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.uint8))
    assert_as_runtime(one_node("Cast", inputs, results=["uint8"], to=kind), inputs)
    inputs = {"x": np.array([1.9, -1.9, -0.5], np.float32)}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.int32))
    assert_as_runtime(one_node("Cast", inputs, results=["int32"], to=kind), inputs)


def test_nan_and_infinity_are_true() -> None:
    inputs = {"x": np.array([np.nan, np.inf, 0.0, -0.0], np.float32)}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.bool_))
    assert_as_runtime(one_node("Cast", inputs, results=["bool"], to=kind), inputs)


def test_cast_like_takes_the_type_and_reads_nothing() -> None:
    inputs = {"x": numbers((2, 3)), "like": np.zeros((1,), np.int64)}
    model = one_node("CastLike", inputs, results=["int64"])
    assert_as_runtime(model, inputs)
    assert lowered(model).inputs == ("x",)


def test_the_type_as_text_is_left() -> None:
    model = one_node("Cast", {"x": numbers((2,))}, opset=5, to="FLOAT")
    with pytest.raises(ModelError, match="the type is named by text, as before opset 6"):
        lowered(model)


def test_a_type_that_nests_do_not_compute_with_is_left() -> None:
    model = one_node("Cast", {"x": numbers((2,))}, results=[ml_dtypes.float8_e5m2], to=19)
    with pytest.raises(ModelError, match="'out' has elements of type FLOAT8E5M2"):
        lowered(model)


@pytest.mark.parametrize("dtype", TYPES)
def test_identity_copies(dtype: str) -> None:
    inputs = {"x": numbers((2, 0, 3), dtype)}
    assert_as_runtime(one_node("Identity", inputs), inputs)


def test_dropout_keeps_everything_when_nothing_is_trained() -> None:
    inputs = {"x": numbers((2, 3))}
    model = one_node("Dropout", inputs, outputs=("out", "mask"), results=["float32", "bool"])
    assert_as_runtime(model, inputs)


def test_dropout_in_training_with_a_ratio_of_zero_keeps_everything() -> None:
    inputs = {"x": numbers((2, 3))}
    held = {"ratio": np.array(0, np.float32), "training": np.array(True)}
    assert_as_runtime(one_node("Dropout", inputs, held), inputs)


def test_dropout_in_training_is_left() -> None:
    inputs = {"x": numbers((2, 3))}
    held = {"ratio": np.array(0.5, np.float32), "training": np.array(True)}
    with pytest.raises(ModelError, match="it drops at random: the node is in training mode"):
        lowered(one_node("Dropout", inputs, held))
    with pytest.raises(ModelError, match="it drops at random: the node is in training mode"):
        lowered(one_node("Dropout", inputs, opset=6))


def test_dropout_whose_mode_is_not_known_is_left() -> None:
    inputs = {"x": numbers((2, 3)), "training": np.array(False)}
    with pytest.raises(ModelError, match="its training mode is not a constant"):
        lowered(one_node("Dropout", inputs, order=["x", "", "training"]))
