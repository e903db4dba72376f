from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("shift", [None, -7, -1, 0, 2, 9])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_trilu_is_as_in_onnx_runtime(upper: int, shift: int | None, dtype: str) -> None:
    inputs = {"x": numbers((2, 4, 5), dtype)}
    constants = {} if shift is None else {"k": np.asarray(shift, np.int64)}
    assert_as_runtime(one_node("Trilu", inputs, constants, upper=upper), inputs)


@pytest.mark.parametrize("shift", [-1, 0, 2])
@pytest.mark.parametrize("kind", [None, TensorProto.INT64])
def test_eye_like_is_as_in_onnx_runtime(shift: int, kind: int | None) -> None:
    inputs = {"x": numbers((4, 5))}
    attributes = {} if kind is None else {"dtype": kind}
    result = "float32" if kind is None else "int64"
    assert_as_runtime(one_node("EyeLike", inputs, results=[result], k=shift, **attributes), inputs)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_one_hot_is_as_in_onnx_runtime(axis: int, dtype: str) -> None:
    inputs = {
        "places": np.asarray([[0, 3, -1], [9, 2, -5]], dtype),
        "values": np.asarray([2, 5], np.float32),
    }
    model = one_node(
        "OneHot", inputs, {"depth": np.asarray([4], dtype)}, axis=axis, results=["float32"],
        order=["places", "depth", "values"],
    )  # fmt: skip
    assert_as_runtime(model, inputs)


def test_a_depth_that_is_fed_is_refused() -> None:
    inputs = {
        "places": np.asarray([0], np.int64), "depth": np.asarray(4, np.int64),
        "values": np.asarray([0, 1], np.float32),
    }  # fmt: skip
    with pytest.raises(ModelError, match="its input 'depth' is not a constant"):
        lowered(one_node("OneHot", inputs, results=["float32"]))


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_constants_of_a_shape_are_as_in_onnx_runtime(shape: tuple[int, ...]) -> None:
    value = numpy_helper.from_array(np.asarray([7], np.int32))
    constants = {"shape": np.asarray(shape, np.int64)}
    model = one_node("ConstantOfShape", {}, constants, results=["int32"], value=value)
    assert_as_runtime(model, {})
    assert_as_runtime(one_node("ConstantOfShape", {}, constants, results=["float32"]), {})


@pytest.mark.parametrize(("start", "limit", "delta"), [(0, 5, 1), (10, 0, -3), (1, 1, 2)])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_ranges_are_as_in_onnx_runtime(start: int, limit: int, delta: int, dtype: str) -> None:
    constants = {
        name: np.asarray(value, dtype)
        for name, value in (("start", start), ("limit", limit), ("delta", delta))
    }
    assert_as_runtime(one_node("Range", {}, constants), {})


def test_shape_and_size_are_as_in_onnx_runtime() -> None:
    inputs = {"x": numbers((2, 3, 4))}
    assert_as_runtime(one_node("Shape", inputs, results=["int64"]), inputs)
    assert_as_runtime(one_node("Shape", inputs, results=["int64"], start=1, end=-1), inputs)
    assert_as_runtime(one_node("Size", inputs, results=["int64"]), inputs)
