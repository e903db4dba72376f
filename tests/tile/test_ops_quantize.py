from __future__ import annotations

import numpy as np
import pytest

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("scales", [1, 3])
def test_quantizing_is_as_in_onnx_runtime(dtype: str, scales: int) -> None:
    x = numbers((4, 3)) * 1000
    x[0, 0], x[1, 0], x[2, 0] = 1.5, 2.5, -0.5
    shape = () if scales == 1 else (3,)
    inputs = {
        "x": x, "scale": np.abs(numbers(shape, seed=1)) + np.float32(1),
        "zero": np.asarray(numbers(shape, "int8", 2)).astype(dtype),
    }  # fmt: skip
    assert_as_runtime(one_node("QuantizeLinear", inputs, results=[dtype], axis=1), inputs)


def test_without_a_zero_point_it_quantizes_to_bytes() -> None:
    inputs = {"x": numbers((4, 3)) * 10, "scale": np.asarray(0.5, np.float32)}
    assert_as_runtime(one_node("QuantizeLinear", inputs, results=["uint8"]), inputs)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("scales", [1, 3])
def test_dequantizing_is_as_in_onnx_runtime(dtype: str, scales: int) -> None:
    shape = () if scales == 1 else (3,)
    inputs = {
        "x": np.asarray(numbers((4, 3), "int8")).astype(dtype) * 5,
        "scale": np.abs(numbers(shape, seed=1)),
        "zero": np.asarray(numbers(shape, "int8", 2) * (dtype != "int32")).astype(dtype),
    }  # fmt: skip
    assert_as_runtime(one_node("DequantizeLinear", inputs, results=["float32"], axis=1), inputs)


def test_blocks_share_a_scale() -> None:
    inputs = {"x": numbers((4, 6), "int8"), "scale": np.abs(numbers((4, 2), seed=1))}
    model = one_node("DequantizeLinear", inputs, results=["float32"], axis=1, block_size=3)
    assert_as_runtime(model, inputs)


def test_types_that_are_not_covered_say_so() -> None:
    inputs = {"x": numbers((4,)), "scale": np.asarray(1, np.float32)}
    with pytest.raises(ModelError, match="it dequantizes from f32"):
        lowered(one_node("DequantizeLinear", inputs))
    inputs["zero"] = np.asarray(1, np.int32)
    with pytest.raises(ModelError, match="it quantizes to i32"):
        lowered(one_node("QuantizeLinear", inputs, results=["int32"]))
