from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Return a shape, and the attributes of windows over it that ONNX Runtime accepts."""
    rank = draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "ceil_mode": draw(st.integers(0, 1)),
    }
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, size - 1)) for size in kernel * 2]
    if not draw(st.integers(0, 3)):
        attributes |= {"auto_pad": draw(st.sampled_from(["SAME_UPPER", "SAME_LOWER", "VALID"]))}
        attributes.pop("pads", None)
        attributes |= {"ceil_mode": 0, "kernel_shape": [3] * rank}
    return (2, 2, *(draw(st.integers(5, 8)) for _ in range(rank))), attributes


@settings(deadline=None)
@given(windows(), st.integers(1, 2), st.booleans(), st.sampled_from(["float32", "int8", "uint8"]))
def test_max_pool_is_as_in_onnx_runtime(
    window: tuple[tuple[int, ...], dict[str, Any]], dilation: int, places: bool, dtype: str
) -> None:
    shape, attributes = window
    if "auto_pad" not in attributes:
        attributes = {**attributes, "dilations": [dilation] * (len(shape) - 2)}
    inputs = {"x": numbers(shape, dtype)}
    names = ["out", "places"] if places else ["out"]
    model = one_node(
        "MaxPool", inputs, outputs=names, opset=22, results=[dtype, "int64"][: len(names)],
        **attributes,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("order", [0, 1])
def test_max_pool_tells_places_in_either_order(order: int) -> None:
    inputs = {"x": numbers((2, 3, 4, 6))}
    model = one_node(
        "MaxPool", inputs, outputs=["out", "places"], results=["float32", "int64"],
        kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 0, 0], storage_order=order,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@settings(deadline=None)
@given(windows(), st.integers(0, 1))
def test_average_pool_is_as_in_onnx_runtime(
    window: tuple[tuple[int, ...], dict[str, Any]], include: int
) -> None:
    shape, attributes = window
    inputs = {"x": numbers(shape)}
    model = one_node("AveragePool", inputs, opset=22, count_include_pad=include, **attributes)
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("operator", ["AveragePool", "MaxPool", "LpPool"])
@pytest.mark.parametrize("pads", [[0, 0], [1, 2]])
def test_taps_that_lie_behind_the_data_in_all_windows_are_no_loop(
    operator: str, pads: list[int]
) -> None:
    inputs = {"x": numbers((1, 2, 7))}
    zeros = {"count_include_pad": 1} if operator == "AveragePool" else {}
    model = one_node(
        operator, inputs, opset=19 if operator != "LpPool" else 18, kernel_shape=[50],
        strides=[50], ceil_mode=1, pads=pads, **zeros,
    )  # fmt: skip
    assert_as_runtime(model, inputs)
    reduced = [axis.extent for nest in lowered(model).ops for axis in nest.reduced]
    assert reduced == [7 + pads[0]]


def test_equal_windows_are_divided_by_a_number() -> None:
    inputs = {"x": numbers((1, 2, 6, 6))}
    graph = lowered(one_node("AveragePool", inputs, kernel_shape=[2, 2], strides=[2, 2]))
    assert not graph.constants
    graph = lowered(one_node("AveragePool", inputs, kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    (counts,) = graph.constants.values()
    assert counts.shape == (6, 6)
    assert counts[0, 0] == 4


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool_is_as_in_onnx_runtime(p: int) -> None:
    inputs = {"x": numbers((1, 2, 6, 7))}
    model = one_node(
        "LpPool", inputs, opset=18, p=p, kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1]
    )
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("operator", ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (1, 2, 1, 1), (1, 2, 3, 4, 5)])
def test_pooling_of_everything_is_as_in_onnx_runtime(operator: str, shape: tuple[int, ...]) -> None:
    inputs = {"x": numbers(shape)}
    assert_as_runtime(one_node(operator, inputs), inputs)


@pytest.mark.parametrize("operator", ["GlobalAveragePool", "AveragePool"])
def test_means_of_half_precision_are_formed_in_f32(operator: str) -> None:
    inputs = {"x": np.full((1, 1, 100, 100), 10, np.float16)}
    attributes = {} if operator.startswith("G") else {"kernel_shape": [100, 100]}
    graph = lowered(one_node(operator, inputs, **attributes))
    assert graph.ops[-1].body.dtype == "f32"
    assert graph.ops[-1].dtype == "f16"


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn_is_as_in_onnx_runtime(size: int) -> None:
    inputs = {"x": numbers((2, 6, 3, 4))}
    model = one_node("LRN", inputs, size=size, alpha=0.1, beta=0.6, bias=2.0)
    assert_as_runtime(model, inputs)


def test_pooling_without_a_kernel_is_refused() -> None:
    inputs = {"x": numbers((1, 2, 6, 6))}
    with pytest.raises(ModelError, match="it has no kernel_shape"):
        lowered(one_node("LpPool", inputs))


@pytest.mark.parametrize("operator", ["AveragePool", "LpPool", "MaxPool"])
def test_steps_wider_than_padded_windows_are_left_to_the_runtime(operator: str) -> None:
    model = one_node(
        operator, {"x": numbers((1, 2, 9))}, auto_pad="SAME_UPPER", kernel_shape=[1], strides=[3]
    )
    with pytest.raises(ModelError, match="where they begin is open"):
        lowered(model)
