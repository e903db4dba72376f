"""Operators from bytes to bytes, against ONNX Runtime: two, or one in a hundred, may differ."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import by_runtime, judged, lowered, numbers, one_node
from tile.test_ops_quantize import bytes_of

STEP = np.asarray(0.02, np.float32)


def assert_within_a_step(model: onnx.ModelProto, inputs: dict[str, Array]) -> None:
    """Compare with ONNX Runtime: numbers that lie half-way may be rounded either way."""
    found, expected = judged(model, inputs)["out"], by_runtime(model, inputs)["out"]
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    apart = np.abs(found.astype(np.int32) - expected.astype(np.int32))
    assert apart.max() <= 1
    assert (apart > 0).sum() <= 2 + apart.size // 100
    assert len(np.unique(expected)) > 5


def quantised(name: str, array: Array, step: Array = STEP, zero: int = 7) -> dict[str, Array]:
    return {name: array, f"{name}s": step, f"{name}z": np.asarray(zero, array.dtype)}


@pytest.mark.parametrize(
    ("left", "right"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]
)
@pytest.mark.parametrize("each", [False, True])
def test_products(left: str, right: str, each: bool) -> None:
    inputs = {"a": bytes_of((2, 5, 12), left)}
    steps = np.linspace(0.01, 0.03, 7, dtype=np.float32) if each else STEP
    zeros = np.zeros(7, right) if each else np.asarray(3, right)
    constants = {
        **quantised("a", inputs["a"]), "b": bytes_of((12, 7), right, 1), "bs": steps, "bz": zeros,
        "ys": np.asarray(0.9, np.float32), "yz": np.asarray(11, left),
    }  # fmt: skip
    del constants["a"]
    order = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    assert_within_a_step(one_node("QLinearMatMul", inputs, constants, order=order), inputs)


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("real", [False, True])
def test_products_with_a_bias(transposed: int, real: bool) -> None:
    inputs = {"a": bytes_of((5, 12), "uint8")}
    shape = (7, 12) if transposed else (12, 7)
    constants = {
        "as": STEP, "az": np.asarray(100, np.uint8), "b": bytes_of(shape, "int8", 1), "bs": STEP,
        "bz": np.asarray(0, np.int8), "c": numbers((7,), "int32", 3) * 1000,
        "ys": np.asarray(0.5, np.float32), "yz": np.asarray(128, np.uint8),
    }  # fmt: skip
    order = ["a", "as", "az", "b", "bs", "bz", "c", *([] if real else ["ys", "yz"])]
    used = {name: array for name, array in constants.items() if name in order}
    results = ["float32" if real else "uint8"]
    model = one_node(
        "com.microsoft.QGemm", inputs, used, order=order, results=results, transB=transposed
    )
    if real:
        found, expected = judged(model, inputs)["out"], by_runtime(model, inputs)["out"]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    else:
        assert_within_a_step(model, inputs)


@pytest.mark.parametrize(("channels", "groups"), [(8, 1), (3, 1), (16, 2), (6, 6)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("right", ["int8", "uint8"])
def test_convolutions_with_pads_that_count_as_zero(
    channels: int, groups: int, bias: bool, right: str
) -> None:
    inputs = {"x": bytes_of((2, channels, 6, 7), "uint8")}
    maps = 2 * groups
    constants = {
        "xs": STEP, "xz": np.asarray(120, np.uint8),
        "w": bytes_of((maps, channels // groups, 3, 3), right, 1),
        "ws": np.linspace(0.01, 0.03, maps, dtype=np.float32),
        "wz": np.full(maps, 128 if right == "uint8" else 0, right),
        "ys": np.asarray(0.5, np.float32), "yz": np.asarray(128, np.uint8),
        "b": numbers((maps,), "int32", 3) * 500,
    }  # fmt: skip
    order = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", *(["b"] if bias else [])]
    used = {name: array for name, array in constants.items() if name in order}
    model = one_node(
        "QLinearConv", inputs, used, order=order, group=groups, pads=[1, 1, 1, 1], strides=[2, 1]
    )
    assert_within_a_step(model, inputs)


def test_convolutions_in_32_bits_are_exact() -> None:
    inputs = {"x": bytes_of((1, 4, 5, 5), "uint8")}
    constants = {"w": bytes_of((3, 4, 3, 3), "uint8", 1), "p": np.asarray(9, np.uint8),
                 "q": np.asarray(128, np.uint8)}  # fmt: skip
    model = one_node("ConvInteger", inputs, constants, results=["int32"], pads=[1, 0, 0, 1])
    assert (judged(model, inputs)["out"] == by_runtime(model, inputs)["out"]).all()


@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_sums_and_products_of_elements(op_type: str, dtype: str) -> None:
    inputs = {"a": bytes_of((3, 4, 5), dtype), "b": bytes_of((5,), dtype, 1)}
    constants = {
        "as": STEP, "az": np.asarray(3, dtype), "bs": np.asarray(0.03, np.float32),
        "bz": np.asarray(5, dtype), "ys": np.asarray(0.07, np.float32), "yz": np.asarray(9, dtype),
    }  # fmt: skip
    order = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
    model = one_node(f"com.microsoft.{op_type}", inputs, constants, order=order)
    assert_within_a_step(model, inputs)


@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [
        ("QLinearSigmoid", {}),
        ("QLinearLeakyRelu", {"alpha": 0.2}),
        ("QLinearSoftmax", {"axis": -1}),
        ("QLinearGlobalAveragePool", {}),
        ("QLinearAveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ],
)
def test_functions_of_the_numbers_that_bytes_stand_for(
    op_type: str, attributes: dict[str, object]
) -> None:
    inputs = {"x": bytes_of((4, 8, 6, 6), "uint8")}
    small = np.asarray(1 / 256 if op_type != "QLinearLeakyRelu" else 0.02, np.float32)
    small = STEP if "Pool" in op_type else small
    constants = {
        "xs": STEP, "xz": np.asarray(128 * ("Pool" not in op_type), np.uint8), "ys": small,
        "yz": np.asarray(0, np.uint8),
    }  # fmt: skip
    model = one_node(f"com.microsoft.{op_type}", inputs, constants, **attributes)
    if op_type == "QLinearSoftmax":
        model.graph.node[0].attribute.append(onnx.helper.make_attribute("opset", 13))
    assert_within_a_step(model, inputs)


def test_tensors_of_other_scales_are_joined() -> None:
    inputs = {"a": bytes_of((2, 3), "uint8"), "b": bytes_of((2, 4), "uint8", 1)}
    constants = {
        "ys": np.asarray(0.04, np.float32), "yz": np.asarray(9, np.uint8), "as": STEP,
        "az": np.asarray(3, np.uint8), "bs": np.asarray(0.03, np.float32),
        "bz": np.asarray(5, np.uint8),
    }  # fmt: skip
    order = ["ys", "yz", "a", "as", "az", "b", "bs", "bz"]
    model = one_node("com.microsoft.QLinearConcat", inputs, constants, order=order, axis=1)
    assert_within_a_step(model, inputs)


@pytest.mark.parametrize(
    ("changed", "attributes", "why"),
    [
        ({"wz": np.asarray(3, np.int8)}, {}, "its weights have zero points"),
        ({}, {"channels_last": 1}, "its channels are last"),
        ({"ws": np.ones((1, 2, 1), np.float32)}, {}, r"of the shape \(1, 2, 1\)"),
    ],
)
def test_convolutions_that_are_not_covered_say_so(
    changed: dict[str, Array], attributes: dict[str, int], why: str
) -> None:
    inputs = {"x": bytes_of((1, 4, 5, 5), "uint8")}
    constants = {
        "xs": STEP, "xz": np.asarray(3, np.uint8), "w": bytes_of((2, 4, 3, 3), "int8"), "ws": STEP,
        "wz": np.asarray(0, np.int8), "ys": STEP, "yz": np.asarray(0, np.uint8), **changed,
    }  # fmt: skip
    name = "com.microsoft.QLinearConv" if attributes else "QLinearConv"
    with pytest.raises(ModelError, match=why):
        lowered(one_node(name, inputs, constants, **attributes))
