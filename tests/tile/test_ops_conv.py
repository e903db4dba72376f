from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.index import Div, Mod
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[dict[str, Array], dict[str, Any]]:
    rank = draw(st.integers(1, 3))
    groups = draw(st.sampled_from([1, 1, 2, 4]))
    in_group, maps_each = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    kernel = [draw(st.integers(1, 3)) for _ in range(rank)]
    attributes = {
        "group": groups,
        "strides": [draw(st.integers(1, 3)) for _ in range(rank)],
        "dilations": [draw(st.integers(1, 2)) for _ in range(rank)],
    }
    how = draw(st.sampled_from(["pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if how == "pads":
        attributes["pads"] = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    else:
        attributes["auto_pad"] = how
    sizes = [draw(st.integers(5, 8)) for _ in range(rank)]
    inputs = {
        "x": numbers((2, groups * in_group, *sizes)),
        "w": numbers((groups * maps_each, in_group, *kernel), seed=1),
    }
    if draw(st.booleans()):
        inputs["b"] = numbers((groups * maps_each,), seed=2)
    return inputs, attributes


@settings(deadline=None)
@given(convolutions())
def test_conv_is_as_in_onnx_runtime(case: tuple[dict[str, Array], dict[str, Any]]) -> None:
    inputs, attributes = case
    dilated_same = "auto_pad" in attributes and max(attributes["dilations"]) > 1
    if dilated_same and attributes["auto_pad"] != "VALID":
        attributes = {**attributes, "dilations": [1] * len(attributes["dilations"])}
    assert_as_runtime(one_node("Conv", inputs, **attributes), inputs, atol=1e-5)


@st.composite
def far_taps(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Draw sizes, a kernel, and taps of which some may see nothing but padding."""
    sizes, kernel = (tuple(draw(st.integers(1, n)) for _ in "hw") for n in (7, 4))
    dilations = [draw(st.integers(1, 9)) for _ in "hw"]
    before = [draw(st.integers(0, (k - 1) * d)) for k, d in zip(kernel, dilations, strict=True)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    short = [max(r - b - n, 0) for r, b, n in zip(reach, before, sizes, strict=True)]
    after = [least + draw(st.integers(0, 4)) for least in short]
    strides = [draw(st.integers(1, 3)) for _ in "hw"]
    return sizes, kernel, {"dilations": dilations, "pads": before + after, "strides": strides}


@settings(deadline=None, max_examples=200)
@given(far_taps())
def test_taps_that_see_nothing_but_padding_change_nothing(
    case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]],
) -> None:
    sizes, kernel, attributes = case
    inputs = {"x": numbers((1, 2, *sizes)), "w": numbers((3, 2, *kernel), seed=1)}
    assert_as_runtime(one_node("Conv", inputs, **attributes), inputs, atol=1e-5)


def test_of_taps_as_far_apart_as_the_image_is_wide_one_is_left() -> None:
    inputs = {"x": numbers((1, 3, 8, 8)), "w": numbers((4, 3, 3, 3))}
    model = one_node("Conv", inputs, pads=[9] * 4, dilations=[9, 9])
    weight, nest = lowered(model).ops
    assert weight.shape == (4, 3, 1, 1)
    assert [axis.extent for axis in nest.reduced] == [3]


def test_padding_is_a_nest_of_its_own_and_the_contraction_has_no_guards() -> None:
    inputs = {"x": numbers((1, 3, 8, 8)), "w": numbers((4, 3, 3, 3))}
    pad, contraction = lowered(one_node("Conv", inputs, pads=[1, 1, 1, 1])).ops
    assert pad.reads[0].guards
    assert pad.shape == (1, 3, 10, 10)
    assert not any(read.guards for read in contraction.reads)
    assert [read.tensor for read in contraction.reads] == [pad.output, "w"]
    assert [axis.extent for axis in contraction.reduced] == [3, 3, 3]


def test_a_pointwise_convolution_reduces_its_channels_only() -> None:
    inputs = {"x": numbers((1, 3, 8, 8)), "w": numbers((4, 3, 1, 1))}
    (nest,) = lowered(one_node("Conv", inputs)).ops
    assert [axis.extent for axis in nest.reduced] == [3]


def test_a_depthwise_convolution_reads_its_channel_directly() -> None:
    inputs = {"x": numbers((1, 4, 8, 8)), "w": numbers((4, 1, 3, 3))}
    (nest,) = lowered(one_node("Conv", inputs, group=4)).ops
    assert [axis.extent for axis in nest.reduced] == [3, 3]
    atoms = [atom for index in nest.reads[0].index for atom, _ in index.terms]
    assert not any(isinstance(atom, Div | Mod) for atom in atoms)


@pytest.mark.parametrize("fourth", [False, True])
@pytest.mark.parametrize(
    ("activation", "parameters"),
    [
        ("Relu", ()), ("Sigmoid", ()), ("Tanh", ()), ("LeakyRelu", (0.2,)), ("Clip", (-0.5, 0.5)),
        ("HardSigmoid", (0.3, 0.4)), ("", ()),
    ],
)  # fmt: skip
def test_a_fused_convolution_adds_then_activates(
    activation: str, parameters: tuple[float, ...], fourth: bool
) -> None:
    inputs = {"x": numbers((1, 3, 6, 6)), "w": numbers((4, 3, 3, 3), seed=1)}
    inputs["b"] = numbers((4,), seed=2)
    if fourth:
        inputs["z"] = numbers((1, 4, 6, 6), seed=3)
    attributes: dict[str, Any] = {"pads": [1, 1, 1, 1]}
    if activation:
        attributes["activation"] = activation
    if parameters:
        attributes["activation_params"] = list(parameters)
    model = one_node("com.microsoft.FusedConv", inputs, **attributes)
    assert_as_runtime(model, inputs, rtol=1e-4)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"pads": [-1, 0, 0, 0]}, "its pads are negative"),
        ({"group": 2}, "3 channels and 4 maps are not cut into 2"),
    ],
)
def test_what_is_not_covered_says_why(attributes: dict[str, Any], reason: str) -> None:
    inputs = {"x": numbers((1, 3, 6, 6)), "w": numbers((4, 3, 3, 3))}
    with pytest.raises(ModelError, match=reason):
        lowered(one_node("Conv", inputs, **attributes))


def test_an_unknown_activation_is_refused() -> None:
    inputs = {"x": numbers((1, 3, 6, 6)), "w": numbers((4, 3, 3, 3))}
    with pytest.raises(ModelError, match="its activation is 'Swish'"):
        lowered(one_node("com.microsoft.FusedConv", inputs, activation="Swish"))


def test_a_kernel_of_another_rank_is_refused() -> None:
    inputs = {"x": numbers((1, 3, 6, 6)), "w": numbers((4, 3, 3))}
    with pytest.raises(ModelError, match="its kernel has 1 dimensions for data with 2"):
        lowered(one_node("Conv", inputs))
