from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node
from tile.operands import UNTIMED, tensor

CONTRIB = "com.microsoft."


@UNTIMED
@given(
    x=tensor(("float32", "float64"), least_dims=1, least_size=1),
    data=st.data(),
    biased=st.booleans(),
)
def test_layer_normalization_from_any_axis(x: Array, data: st.DataObject, biased: bool) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = x.shape[axis:]
    inputs = {"x": x, "scale": numbers(shape, x.dtype.name, 1)}
    if biased:
        inputs["bias"] = numbers(shape, x.dtype.name, 2)
    kinds = [x.dtype.name, "float32", "float32"]
    model = one_node(
        "LayerNormalization", inputs, outputs=("out", "mean", "inverse"), results=kinds,
        opset=17, axis=axis, epsilon=1e-3,
    )  # fmt: skip
    assert_as_runtime(model, inputs, rtol=2e-4, atol=2e-4)


def test_layer_normalization_is_three_nests() -> None:
    inputs = {"x": numbers((2, 5, 8)), "scale": numbers((8,), seed=1)}
    graph = lowered(one_node("LayerNormalization", inputs, opset=17))
    assert [op.combine for op in graph.ops] == ["sum", "sum", None]


def test_layer_normalization_of_half_precision_is_computed_in_f32() -> None:
    x = (numbers((2, 64)) * 0.1 + 500).astype(np.float16)
    inputs = {"x": x, "scale": np.ones(64, np.float16)}
    found = judged(one_node("LayerNormalization", inputs, opset=17), inputs)["out"]
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("axis", [-1, 1, -2])
def test_rms_normalization(axis: int) -> None:
    inputs = {"x": numbers((2, 3, 8)), "scale": numbers((3, 8) if axis != -1 else (8,), seed=1)}
    model = one_node("RMSNormalization", inputs, opset=23, axis=axis, epsilon=1e-3)
    x = inputs["x"].astype(np.float64)
    over = tuple(range(axis % 3, 3))
    expected = x / np.sqrt((x**2).mean(over, keepdims=True) + 1e-3) * inputs["scale"]
    np.testing.assert_allclose(judged(model, inputs)["out"], expected, rtol=1e-5)


def test_simplified_layer_normalization() -> None:
    inputs = {"x": numbers((2, 3, 8)), "scale": numbers((8,), seed=1)}
    assert_as_runtime(one_node("SimplifiedLayerNormalization", inputs, opset=17), inputs)


@pytest.mark.parametrize("skip", [(2, 3, 8), (1, 3, 8), (3, 8)])
@pytest.mark.parametrize("parameters", [1, 2, 3])
def test_a_sum_is_normalized(skip: tuple[int, ...], parameters: int) -> None:
    names = ("gamma", "beta", "bias")[:parameters]
    inputs = {"x": numbers((2, 3, 8)), "skip": numbers(skip, seed=1)}
    inputs |= {name: numbers((8,), seed=seed) for seed, name in enumerate(names, start=2)}
    model = one_node(
        CONTRIB + "SkipLayerNormalization", inputs, outputs=("out", "", "", "sum"),
        epsilon=1e-5,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("biased", [False, True])
def test_a_sum_is_normalized_by_its_mean_square(biased: bool) -> None:
    inputs = {"x": numbers((2, 3, 8)), "skip": numbers((2, 3, 8), seed=1), "gamma": numbers((8,))}
    if biased:
        inputs["bias"] = numbers((8,), seed=3)
    model = one_node(
        CONTRIB + "SkipSimplifiedLayerNormalization", inputs, outputs=("out", "", "", "sum")
    )
    assert_as_runtime(model, inputs)


def test_a_mean_that_is_not_computed_is_left() -> None:
    inputs = {"x": numbers((2, 3, 8)), "skip": numbers((2, 3, 8), seed=1), "gamma": numbers((8,))}
    model = one_node(CONTRIB + "SkipSimplifiedLayerNormalization", inputs, outputs=("out", "mean"))
    with pytest.raises(ModelError, match="its mean, which it does not compute"):
        lowered(model)


def test_embeddings_are_summed_and_normalized() -> None:
    ids = np.array([[0, 3, 5], [8, 1, 2]], np.int32)
    tables = {"words": numbers((9, 8)), "positions": numbers((7, 8), seed=1)}
    more = {"segments": numbers((2, 8), seed=2), "gamma": numbers((8,), seed=3)}
    inputs = {"ids": ids, "kinds": ids % 2, **tables, **more, "beta": numbers((8,), seed=4)}
    kinds = ["float32", "int32", "float32"]
    model = one_node(
        CONTRIB + "EmbedLayerNormalization", inputs, outputs=("out", "count", "sum"), results=kinds
    )
    with pytest.raises(ModelError, match="the number of valid tokens, which it gives out"):
        lowered(model)
    del model.graph.output[1]
    assert_as_runtime(model, inputs)


def test_embeddings_at_given_positions() -> None:
    ids = np.array([[0, 3, 5], [8, 1, 2]], np.int32)
    inputs = {"ids": ids, "words": numbers((9, 8)), "positions": numbers((7, 8), seed=1),
              "gamma": numbers((8,), seed=3), "beta": numbers((8,), seed=4),
              "places": np.array([[6, 5, 4]], np.int32)}  # fmt: skip
    order = ["ids", "", "words", "positions", "", "gamma", "beta", "", "places"]
    model = one_node(
        CONTRIB + "EmbedLayerNormalization", inputs, outputs=("out", "count"), order=order,
        results=["float32", "int32"],
    )  # fmt: skip
    del model.graph.output[1]
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("shape", [(2, 6, 4), (2, 6, 3, 5), (1, 6), (3, 6, 1)])
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_groups_of_channels(shape: tuple[int, ...], groups: int) -> None:
    inputs = {"x": numbers(shape), "scale": numbers((6,), seed=1), "bias": numbers((6,), seed=2)}
    model = one_node("GroupNormalization", inputs, num_groups=groups, epsilon=1e-2)
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


def test_before_opset_21_groups_have_one_scale_each() -> None:
    inputs = {
        "x": numbers((2, 6, 4)),
        "scale": numbers((3,), seed=1),
        "bias": numbers((3,), seed=2),
    }
    model = one_node("GroupNormalization", inputs, opset=18, num_groups=3)
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


def test_groups_that_do_not_divide_the_channels_are_left() -> None:
    inputs = {"x": numbers((2, 6, 4)), "scale": numbers((6,)), "bias": numbers((6,))}
    with pytest.raises(ModelError, match=r"4 groups of the channels of \(2, 6, 4\)"):
        lowered(one_node("GroupNormalization", inputs, num_groups=4))


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5), (1, 3, 2, 3, 4)])
def test_instances(shape: tuple[int, ...]) -> None:
    inputs = {"x": numbers(shape), "scale": numbers((3,), seed=1), "bias": numbers((3,), seed=2)}
    assert_as_runtime(one_node("InstanceNormalization", inputs), inputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("opset", [9, 15])
def test_stored_statistics(shape: tuple[int, ...], opset: int) -> None:
    names = ("scale", "bias", "mean", "variance")
    held = {name: np.abs(numbers((3,), seed=seed)) for seed, name in enumerate(names)}
    inputs = {"x": numbers(shape), **held}
    assert_as_runtime(one_node("BatchNormalization", inputs, opset=opset), inputs)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (1, 3, 4, 2)])
def test_a_batch_is_normalised_by_itself_where_its_statistics_are_not_kept(
    shape: tuple[int, ...],
) -> None:
    names = ("scale", "bias", "mean", "variance")
    held = {name: np.abs(numbers((3,), seed=seed)) for seed, name in enumerate(names)}
    inputs = {"x": numbers(shape), **held}
    model = one_node(
        "BatchNormalization", inputs, outputs=("out", "a", "b"), opset=15, training_mode=1
    )
    del model.graph.output[1:]
    assert_as_runtime(model, inputs)


def test_statistics_of_the_batch_are_left() -> None:
    names = ("scale", "bias", "mean", "variance")
    held = {name: np.abs(numbers((3,), seed=seed)) for seed, name in enumerate(names)}
    inputs = {"x": numbers((2, 3, 4)), **held}
    for opset, outputs, attributes in (
        (15, ("out", "a", "b"), {"training_mode": 1}), (9, ("out", "a", "b"), {}),
        (6, ("out",), {"is_test": 0}),
    ):  # fmt: skip
        model = one_node("BatchNormalization", inputs, outputs=outputs, opset=opset, **attributes)
        with pytest.raises(ModelError, match="in training mode, with statistics of the batch"):
            lowered(model)


def test_statistics_per_position_are_left() -> None:
    names = ("scale", "bias", "mean", "variance")
    held = {name: np.abs(numbers((3, 4), seed=seed)) for seed, name in enumerate(names)}
    model = one_node("BatchNormalization", {"x": numbers((2, 3, 4)), **held}, opset=8, spatial=0)
    with pytest.raises(ModelError, match=r"statistics per position \(spatial = 0\)"):
        lowered(model)


def test_an_input_without_channels_is_left() -> None:
    names = ("scale", "bias", "mean", "variance")
    held = {name: np.ones((1,), np.float32) for name in names}
    with pytest.raises(ModelError, match="an input without channels"):
        lowered(one_node("BatchNormalization", {"x": numbers((4,)), **held}))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_a_norm_of_zero_gives_zero(order: int, axis: int) -> None:
    x = numbers((3, 4, 5))
    x[0] = 0
    x[:, 1] = 0
    x[:, :, 2] = 0
    model = one_node("LpNormalization", {"x": x}, p=order, axis=axis)
    assert_as_runtime(model, {"x": x})


def test_a_norm_of_another_order_is_left() -> None:
    model = one_node("LpNormalization", {"x": numbers((3, 4))}, p=3)
    with pytest.raises(ModelError, match="the norm of order 3"):
        lowered(model)


@pytest.mark.parametrize("axes", [[0, 2, 3], [2, 3], [1]])
def test_mean_and_variance_over_any_axes(axes: list[int]) -> None:
    inputs = {"x": numbers((2, 3, 4, 5))}
    assert_as_runtime(one_node("MeanVarianceNormalization", inputs, axes=axes), inputs, rtol=1e-4)
