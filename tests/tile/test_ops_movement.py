"""Transpose, Reshape and its kin, Slice, Split, Expand, Tile, Concat and Pad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


def _i64(*values: int) -> Array:
    return np.asarray(values, np.int64)


@settings(deadline=None)
@given(st.permutations(range(4)), st.sampled_from([(2, 3, 4, 5), (1, 3, 1, 2), (2, 0, 3, 1)]))
def test_transpose_is_as_in_onnx_runtime(order: Sequence[int], shape: tuple[int, ...]) -> None:
    inputs = {"x": numbers(shape)}
    assert_as_runtime(one_node("Transpose", inputs, perm=list(order)), inputs)


def test_transpose_reverses_by_default() -> None:
    inputs = {"x": numbers((2, 3, 4), "int8")}
    assert_as_runtime(one_node("Transpose", inputs), inputs)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((2, 3, 4), (6, 4)), ((2, 3, 4), (-1,)), ((2, 3, 4), (0, -1)), ((2, 3, 4), (4, 0, 2)),
        ((2, 3, 4), (1, 2, 1, 12, 1)), ((1,), ()), ((), (1, 1)), ((6, 4), (8, 3)),
    ],
)  # fmt: skip
def test_reshape_is_as_in_onnx_runtime(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    inputs = {"x": numbers(shape)}
    assert_as_runtime(one_node("Reshape", inputs, {"shape": _i64(*wanted)}), inputs)


def test_reshape_may_take_zero_for_zero() -> None:
    inputs = {"x": numbers((0, 3))}
    assert_as_runtime(one_node("Reshape", inputs, {"shape": _i64(3, 0)}, allowzero=1), inputs)


def test_a_reshape_to_another_number_of_elements_is_refused() -> None:
    inputs = {"x": numbers((2, 3))}
    with pytest.raises(ModelError, match=r"its shape is \[4, 2\], and its data is \[2, 3\]"):
        lowered(one_node("Reshape", inputs, {"shape": _i64(4, 2)}))


def test_a_shape_that_is_fed_is_refused() -> None:
    inputs = {"x": numbers((2, 3)), "shape": _i64(3, 2)}
    with pytest.raises(ModelError, match="its input 'shape' is not a constant"):
        lowered(one_node("Reshape", inputs))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
def test_flatten_is_as_in_onnx_runtime(axis: int) -> None:
    inputs = {"x": numbers((2, 3, 4))}
    assert_as_runtime(one_node("Flatten", inputs, axis=axis), inputs)


@pytest.mark.parametrize("axes", [None, (0,), (-1, 0), (2,)])
def test_squeeze_is_as_in_onnx_runtime(axes: tuple[int, ...] | None) -> None:
    inputs = {"x": numbers((1, 3, 1, 4, 1))}
    constants = {} if axes is None else {"axes": _i64(*axes)}
    assert_as_runtime(one_node("Squeeze", inputs, constants), inputs)


@pytest.mark.parametrize("axes", [(0,), (-1, 0), (1, 3)])
def test_unsqueeze_is_as_in_onnx_runtime(axes: tuple[int, ...] | None) -> None:
    inputs = {"x": numbers((3, 4))}
    assert_as_runtime(one_node("Unsqueeze", inputs, {"axes": _i64(*axes)}), inputs)


def test_axes_were_an_attribute_before_opset_13() -> None:
    inputs = {"x": numbers((3, 1, 4))}
    assert_as_runtime(one_node("Squeeze", inputs, opset=11, axes=[1]), inputs)
    assert_as_runtime(one_node("Unsqueeze", inputs, opset=11, axes=[0, 4]), inputs)


_starts = st.one_of(st.integers(-9, 9), st.sampled_from([-(2**63), 2**63 - 1, 2**31 - 1]))
_ends = st.one_of(st.integers(-9, 9), st.sampled_from([-(2**63), 1000]))


@settings(deadline=None)
@given(
    st.lists(st.tuples(_starts, _ends, st.sampled_from([1, 2, 3, -1, -2])), min_size=1, max_size=3)
)
def test_slice_is_as_in_onnx_runtime(parts: list[tuple[int, int, int]]) -> None:
    inputs = {"x": numbers((5, 4, 3))}
    starts, ends, steps = zip(*parts, strict=True)
    constants = {
        "starts": _i64(*starts), "ends": _i64(*ends),
        "axes": _i64(*[-1, 0, 1][: len(parts)]), "steps": _i64(*steps),
    }  # fmt: skip
    assert_as_runtime(one_node("Slice", inputs, constants), inputs)


def test_a_slice_backwards_to_the_largest_number_is_refused() -> None:
    inputs = {"x": numbers((5,))}
    constants = {
        "starts": _i64(3), "ends": _i64(2**63 - 1), "axes": _i64(0), "steps": _i64(-1),
    }  # fmt: skip
    with pytest.raises(ModelError, match="it goes backwards to 9223372036854775807"):
        lowered(one_node("Slice", inputs, constants))


def test_slice_to_the_largest_number_is_to_the_end() -> None:
    inputs = {"x": numbers((5,))}
    constants = {"starts": _i64(1), "ends": _i64(2**63 - 1)}
    assert_as_runtime(one_node("Slice", inputs, constants), inputs)


def test_slice_had_attributes_before_opset_10() -> None:
    inputs = {"x": numbers((5, 4, 3))}
    assert_as_runtime(one_node("Slice", inputs, opset=9, starts=[1, 0], ends=[4, 2]), inputs)


@pytest.mark.parametrize(
    ("opset", "sizes", "count", "attributes"),
    [
        (21, (2, 3, 2), 3, {}), (21, None, 3, {"num_outputs": 3}), (13, (3, 4), 2, {}),
        (11, None, 7, {}), (11, None, 2, {"split": [3, 4]}), (21, (0, 7), 2, {}),
    ],
)  # fmt: skip
def test_split_is_as_in_onnx_runtime(
    opset: int, sizes: Sequence[int], count: int, attributes: dict[str, Any]
) -> None:
    inputs = {"x": numbers((2, 7))}
    constants = {} if sizes is None else {"split": _i64(*sizes)}
    names = [f"out{i}" for i in range(count)]
    model = one_node("Split", inputs, constants, outputs=names, opset=opset, axis=1, **attributes)
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("wanted", [(2, 3, 4), (4,), (1,), (5, 1, 3, 1), (1, 1, 1)])
def test_expand_is_as_in_onnx_runtime(wanted: tuple[int, ...]) -> None:
    inputs = {"x": numbers((3, 1))}
    assert_as_runtime(one_node("Expand", inputs, {"shape": _i64(*wanted)}), inputs)


@pytest.mark.parametrize("repeats", [(1, 1), (2, 3), (3, 0)])
def test_tile_is_as_in_onnx_runtime(repeats: tuple[int, ...]) -> None:
    inputs = {"x": numbers((3, 2))}
    assert_as_runtime(one_node("Tile", inputs, {"repeats": _i64(*repeats)}), inputs)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(0, 3), min_size=1, max_size=4), axis=st.sampled_from([0, 1, -1]))
def test_concat_is_as_in_onnx_runtime(sizes: Sequence[int], axis: int) -> None:
    shapes = [[2, 3, 2] for _ in sizes]
    for shape, size in zip(shapes, sizes, strict=True):
        shape[axis] = size
    inputs = {f"x{i}": numbers(shape, seed=i) for i, shape in enumerate(shapes)}
    assert_as_runtime(one_node("Concat", inputs, axis=axis), inputs)


@settings(deadline=None)
@given(
    mode=st.sampled_from(["constant", "reflect", "edge", "wrap"]),
    pads=st.lists(st.integers(-1, 2), min_size=4, max_size=4),
)
def test_pad_is_as_in_onnx_runtime(mode: str, pads: list[int]) -> None:
    inputs = {"x": numbers((3, 4))}
    if mode != "constant":
        pads = [max(each, 0) for each in pads]
    constants = {"pads": _i64(*pads)}
    if mode == "constant":
        constants["value"] = np.asarray(2.5, np.float32)
    assert_as_runtime(one_node("Pad", inputs, constants, mode=mode), inputs)


def test_pad_takes_a_value_that_is_fed() -> None:
    inputs = {"x": numbers((3, 4)), "value": np.asarray(2.5, np.float32)}
    model = one_node("Pad", inputs, {"pads": _i64(1, 0, 0, 2)}, order=["x", "pads", "value"])
    assert_as_runtime(model, inputs)


def test_pad_takes_axes_and_was_an_attribute_before_opset_11() -> None:
    inputs = {"x": numbers((3, 4, 5))}
    constants = {
        "pads": _i64(1, 0, 0, 2), "value": np.asarray(1, np.float32), "axes": _i64(-1, 0),
    }  # fmt: skip
    assert_as_runtime(one_node("Pad", inputs, constants), inputs)
    model = one_node("Pad", inputs, opset=10, pads=[0, 1, 0, 0, 0, 2], value=3.0)
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space_is_as_in_onnx_runtime(mode: str) -> None:
    inputs = {"x": numbers((2, 12, 3, 2))}
    assert_as_runtime(one_node("DepthToSpace", inputs, blocksize=2, mode=mode), inputs)


def test_space_to_depth_is_as_in_onnx_runtime() -> None:
    inputs = {"x": numbers((2, 3, 4, 6))}
    assert_as_runtime(one_node("SpaceToDepth", inputs, blocksize=2), inputs)


def test_movements_have_the_element_itself_as_body() -> None:
    inputs = {"x": numbers((2, math.prod((3, 4))))}
    for model in (
        one_node("Transpose", inputs),
        one_node("Reshape", inputs, {"shape": _i64(4, 6)}),
        one_node("Slice", inputs, {"starts": _i64(1), "ends": _i64(5), "axes": _i64(1)}),
        one_node("Pad", inputs, {"pads": _i64(1, 1, 1, 1)}),
    ):
        (nest,) = lowered(model).ops
        assert nest.body.position == 0
