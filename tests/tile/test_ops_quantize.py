from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
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


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_onnx_runtimes_own_pair_is_the_same(dtype: str) -> None:
    scale, zero = np.asarray(0.5, np.float32), np.asarray(3, dtype)
    given = {"x": numbers((4, 3)) * 10, "scale": scale, "zero": zero}
    stored = one_node("com.microsoft.QuantizeLinear", given, results=[dtype])
    assert_as_runtime(stored, given)
    given["x"] = np.asarray(numbers((4, 3), "int8")).astype(dtype)
    read = one_node("com.microsoft.DequantizeLinear", given, results=["float32"])
    assert_as_runtime(read, given)


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


def bytes_of(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    """Return bytes over the whole range of their type."""
    ends = np.iinfo(np.dtype(dtype))
    drawn = np.random.default_rng(seed).integers(ends.min, ends.max + 1, shape)
    return np.asarray(drawn).astype(dtype)


@pytest.mark.parametrize("factor", [1, 0, -3], ids=["any", "all zero", "mostly negative"])
def test_a_scale_is_found_as_in_onnx_runtime(factor: int) -> None:
    inputs = {"x": (numbers((2, 5, 12)) - np.float32(factor < 0) * 2) * np.float32(abs(factor))}
    model = one_node(
        "DynamicQuantizeLinear", inputs, outputs=("y", "step", "zero"),
        results=["uint8", "float32", "uint8"],
    )  # fmt: skip
    assert_as_runtime(model, inputs, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("left", "right"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]
)
@given(sizes=st.tuples(*[st.integers(1, 9)] * 3), zeros=st.sampled_from(["", "one", "each"]))
@settings(max_examples=12, deadline=None)
def test_products_of_bytes_have_the_bits_of_onnx_runtime(
    left: str, right: str, sizes: tuple[int, int, int], zeros: str
) -> None:
    rows, terms, columns = sizes
    inputs = {"a": bytes_of((2, rows, terms), left)}
    constants = {"b": bytes_of((terms, columns), right, 1)}
    order = ["a", "b"]
    if zeros:
        inputs["p"] = bytes_of((), left, 2)
        constants["q"] = bytes_of((columns,) if zeros == "each" else (), right, 3)
        order += ["p", "q"]
    model = one_node("MatMulInteger", inputs, constants, order=order, results=["int32"])
    assert_as_runtime(model, inputs, rtol=0, atol=0)


@pytest.mark.parametrize("right", ["int8", "uint8"])
@pytest.mark.parametrize("bias", [True, False])
def test_quantised_products_are_scaled_and_biased_as_in_onnx_runtime(
    right: str, bias: bool
) -> None:
    weights = {"w": bytes_of((12, 7), right, 1), "scale": np.abs(numbers((7,), seed=2))}
    weights |= {"bias": numbers((7,), seed=3)} if bias else {}
    last = ["bias"] if bias else []
    inputs = {"x": numbers((2, 5, 12))}
    order = ["x", "w", "scale", *([""] if bias else []), *last]
    model = one_node("com.microsoft.DynamicQuantizeMatMul", inputs, weights, order=order)
    assert_as_runtime(model, inputs)
    inputs = {
        "x": bytes_of((2, 5, 12), "uint8"), "step": np.asarray(0.1, np.float32),
        "zero": np.asarray(128, np.uint8),
    }  # fmt: skip
    order = ["x", "w", "step", "scale", "zero", *([""] if bias else []), *last]
    model = one_node(
        "com.microsoft.MatMulIntegerToFloat", inputs, weights, order=order, results=["float32"]
    )
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"a": bytes_of((3,), "uint8"), "b": bytes_of((3, 2), "int8")}, "a vector is an operand"),
        (
            {"a": bytes_of((2, 3), "uint8"), "b": bytes_of((3, 2), "int8"),
             "p": bytes_of((1, 2, 1), "uint8")},
            r"scales, zero points or a bias of the shape \(1, 2, 1\)",
        ),
    ],
)  # fmt: skip
def test_products_of_bytes_that_are_not_covered_say_so(inputs: dict[str, Array], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        lowered(one_node("MatMulInteger", inputs, results=["int32"]))


def test_scales_of_other_types_are_not_covered() -> None:
    inputs = {"x": numbers((2, 4)).astype(np.float64)}
    with pytest.raises(ModelError, match="it quantises f64"):
        lowered(one_node("DynamicQuantizeLinear", inputs, outputs=("y", "s", "z"),
                         results=["uint8", "float32", "uint8"]))  # fmt: skip


@pytest.mark.parametrize("masked", [True, False])
def test_attention_of_bytes_is_as_in_onnx_runtime(masked: bool) -> None:
    inputs = {"x": bytes_of((2, 6, 8), "uint8")}
    mask = np.array([[1] * 6, [1, 1, 1, 1, 0, 0]], np.int32)
    inputs |= {"mask": mask} if masked else {}
    weights = {
        "w": bytes_of((8, 24), "int8", 1), "bias": numbers((24,), seed=2),
        "step": np.asarray(0.01, np.float32), "scale": np.abs(numbers((24,), seed=3)) / 50,
        "zero": np.asarray(120, np.uint8), "none": np.zeros(24, np.int8),
    }  # fmt: skip
    order = ["x", "w", "bias", "step", "scale", "mask" if masked else "", "zero", "none"]
    model = one_node(
        "com.microsoft.QAttention", inputs, weights, order=order, results=["float32"], num_heads=2
    )
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("more", "why"),
    [({"past": numbers((2, 1, 2, 3, 4))}, "a past"), ({}, "positions that it turns")],
)
def test_attention_of_bytes_that_is_not_covered_says_so(more: dict[str, Array], why: str) -> None:
    inputs = {
        "x": bytes_of((1, 6, 8), "uint8"), "w": bytes_of((8, 24), "int8"),
        "bias": numbers((24,)), "step": np.asarray(0.01, np.float32),
        "scale": np.asarray(0.01, np.float32), **more,
    }  # fmt: skip
    order = ["x", "w", "bias", "step", "scale", *(["", "", "", "past"] if more else [])]
    model = one_node(
        "com.microsoft.QAttention", inputs, order=order, results=["float32"], num_heads=2,
        do_rotary=0 if more else 1,
    )  # fmt: skip
    with pytest.raises(ModelError, match=why):
        lowered(model)
