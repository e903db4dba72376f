from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.simplify import simplify
from burnish.tile.steps.divisions import divisions
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


@st.composite
def transposed(draw: st.DrawFn) -> tuple[dict[str, Array], dict[str, Any]]:
    rank = draw(st.integers(1, 2))
    groups, each, maps = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    sizes = [draw(st.sampled_from([1, 4, 5, 6])) for _ in range(rank)]
    before = [draw(st.integers(0, taps - 1)) for taps in kernel]
    # of a single element something is left
    left = [
        taps - 1 - (cut if size == 1 else 0)
        for taps, cut, size in zip(kernel, before, sizes, strict=True)
    ]
    attributes: dict[str, Any] = {
        "group": groups,
        "strides": strides,
        "dilations": [draw(st.integers(1, 2)) for _ in range(rank)],
        "pads": [*before, *(draw(st.integers(0, most)) for most in left)],
        "output_padding": [draw(st.integers(0, max(stride - 1, 0))) for stride in strides],
    }
    inputs = {
        "x": numbers((2, groups * each, *sizes)),
        "w": numbers((groups * each, maps, *kernel), seed=1),
    }
    if draw(st.booleans()):
        inputs["b"] = numbers((groups * maps,), seed=2)
    return inputs, attributes


@settings(deadline=None)
@given(transposed())
def test_it_is_as_in_onnx_runtime(case: tuple[dict[str, Array], dict[str, Any]]) -> None:
    inputs, attributes = case
    assert_as_runtime(one_node("ConvTranspose", inputs, **attributes), inputs, atol=1e-5)


@pytest.mark.parametrize("how", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("taps", [4, 1])
def test_padding_may_be_chosen_by_itself(how: str, stride: int, taps: int) -> None:
    inputs = {"x": numbers((1, 2, 4, 5)), "w": numbers((2, 3, 3, taps), seed=1)}
    model = one_node("ConvTranspose", inputs, auto_pad=how, strides=[stride, stride])
    assert_as_runtime(model, inputs, atol=1e-5)


@pytest.mark.parametrize("shape", [[10, 8], [9, 9]])
def test_the_output_shape_may_be_given(shape: list[int]) -> None:
    inputs = {"x": numbers((1, 2, 4, 4)), "w": numbers((2, 3, 3, 3), seed=1)}
    model = one_node("ConvTranspose", inputs, strides=[2, 2], output_shape=shape)
    assert_as_runtime(model, inputs, atol=1e-5)


def test_no_zeros_are_multiplied_without_dilation() -> None:
    inputs = {"x": numbers((1, 2, 8, 8)), "w": numbers((2, 3, 4, 4))}
    graph = lowered(one_node("ConvTranspose", inputs, strides=[2, 2], pads=[1, 1, 1, 1]))
    contraction = next(op for op in graph.ops if op.combine)
    assert [axis.extent for axis in contraction.reduced] == [2, 2, 2]
    assert not any(read.guards for read in contraction.reads)


@pytest.mark.parametrize(("size", "taps"), [((1, 1), [8]), ((1, 5), [8, 2]), ((5, 5), [8, 2, 2])])
def test_a_single_element_is_multiplied_with_each_tap_once(
    size: tuple[int, int], taps: list[int]
) -> None:
    inputs = {"x": numbers((1, 8, *size)), "w": numbers((8, 3, 4, 4), seed=1)}
    model = one_node("ConvTranspose", inputs, strides=[2, 2], pads=[1, 1, 1, 1])
    assert_as_runtime(model, inputs, atol=1e-5)
    contraction = next(op for op in lowered(model).ops if op.combine)
    assert [axis.extent for axis in contraction.reduced if axis.extent > 1] == taps


def test_its_loops_split_so_that_no_division_is_left_in_the_contraction() -> None:
    inputs = {"x": numbers((1, 2, 8, 8)), "w": numbers((2, 3, 4, 4))}
    graph = lowered(one_node("ConvTranspose", inputs, strides=[2, 2], pads=[1, 1, 1, 1]))
    simple = simplify(graph)
    contraction = next(op for op in simple.ops if op.combine)
    assert divisions(contraction, simple.tensors).weight == (0, 0)


def test_a_weight_for_other_channels_is_refused() -> None:
    inputs = {"x": numbers((1, 2, 4, 4)), "w": numbers((3, 3, 3, 3))}
    with pytest.raises(ModelError, match="its weight is for 3 channels, its data has 2"):
        lowered(one_node("ConvTranspose", inputs))
