from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node
from tile.operands import UNTIMED, tensor


@UNTIMED
@given(
    x=tensor(("float32", "float64"), least_dims=1),
    op_type=st.sampled_from(["Softmax", "LogSoftmax"]),
    opset=st.sampled_from([9, 11, 13, 21]),
    data=st.data(),
)
def test_softmax_of_every_opset(x: Array, op_type: str, opset: int, data: st.DataObject) -> None:
    least = -x.ndim if opset > 10 else 0
    axis = data.draw(st.integers(least, x.ndim - 1))
    model = one_node(op_type, {"x": x}, opset=opset, axis=axis)
    if x.size == 0 or (opset < 13 and axis == 0 and x.ndim == 0):
        assert judged(model, {"x": x})["out"].shape == x.shape
    else:
        assert_as_runtime(model, {"x": x})


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 13])
def test_the_axis_without_an_attribute(op_type: str, opset: int) -> None:
    inputs = {"x": numbers((2, 3, 4))}
    assert_as_runtime(one_node(op_type, inputs, opset=opset), inputs)


@UNTIMED
@given(
    x=tensor(("float32",), least_dims=1, least_size=1), opset=st.sampled_from([11, 13]),
    data=st.data(),
)  # fmt: skip
def test_hardmax_is_one_at_the_first_maximum(x: Array, opset: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assert_as_runtime(one_node("Hardmax", {"x": x}, opset=opset, axis=axis), {"x": x})


def test_softmax_is_four_nests_and_its_logarithm_three() -> None:
    inputs = {"x": numbers((2, 8))}
    assert [op.combine for op in lowered(one_node("Softmax", inputs)).ops] == [
        "max", None, "sum", None,
    ]  # fmt: skip
    assert [op.combine for op in lowered(one_node("LogSoftmax", inputs)).ops] == [
        "max", "sum", None,
    ]  # fmt: skip


def test_softmax_has_nan_infinity_and_large_numbers_as_the_runtime() -> None:
    rows = [[1e30, 1, 2], [np.nan, 1, 2], [np.inf, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3]
    inputs = {"x": np.array(rows, np.float32)}
    assert_as_runtime(one_node("Softmax", inputs), inputs)
    assert_as_runtime(one_node("LogSoftmax", inputs), inputs)


def test_softmax_of_half_precision_is_summed_in_f32() -> None:
    inputs = {"x": np.zeros((1, 5000), np.float16)}
    found = judged(one_node("Softmax", inputs), inputs)["out"]
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.float16(1 / 5000))
