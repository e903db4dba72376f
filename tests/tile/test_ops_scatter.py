"""Scattering to known and to computed places is as in ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.errors import ModelError
from burnish.rewrite.static import static
from burnish.tile.lower import cover
from tile.one_node import assert_as_runtime, lowered, numbers, one_node

WAYS = ["none", "add", "mul", "max", "min"]


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize(
    "places",
    [[[2], [0]], [[-1]], [[[1], [3]], [[0], [2]]], [[1, 2], [0, -1]], [[3, 4, 5], [0, 0, 0]]],
    ids=str,
)
def test_slices_are_written_to_their_places(places: list[object], reduction: str) -> None:
    held = np.array(places, np.int64)
    shape = (4, 5, 6)
    update = numbers((*held.shape[:-1], *shape[held.shape[-1] :]), seed=1)
    model = one_node(
        "ScatterND", {"x": numbers(shape), "update": update}, {"places": held},
        order=["x", "places", "update"], reduction=reduction,
    )  # fmt: skip
    assert_as_runtime(model, {"x": numbers(shape), "update": update})


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_whole_rows_may_be_of_any_type(dtype: str, reduction: str) -> None:
    inputs = {"x": numbers((4, 3), dtype), "update": numbers((2, 3), dtype, 1)}
    model = one_node(
        "ScatterND", inputs, {"places": np.array([[1], [3]])},
        order=["x", "places", "update"], reduction=reduction,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reduction", WAYS)
def test_elements_are_written_to_their_places(axis: int, reduction: str) -> None:
    places = np.stack([np.random.default_rng(k).permutation(4)[:3] for k in range(2)])
    places = places if axis else places.T - 4
    inputs = {"x": numbers((4, 4)), "update": numbers(places.shape, seed=1)}
    model = one_node(
        "ScatterElements", inputs, {"places": places.astype(np.int64)},
        order=["x", "places", "update"], axis=axis, reduction=reduction,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


def test_a_place_that_does_not_exist_is_left_to_the_runtime() -> None:
    inputs = {"x": numbers((4, 3)), "update": numbers((2, 3))}
    order, places = ["x", "places", "update"], np.array([[1], [7]])
    with pytest.raises(ModelError, match="it writes to a place that does not exist"):
        lowered(one_node("ScatterND", inputs, {"places": places}, order=order))


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("depth", [1, 2])
def test_slices_go_to_places_that_are_computed(depth: int, dtype: str, reduction: str) -> None:
    draw = np.random.default_rng(depth)
    places = np.stack([draw.integers(-n, n, (3, 5)) for n in (4, 6)[:depth]], axis=-1)
    update = numbers((3, 5, *(4, 6, 2)[depth:]), dtype, 1)
    inputs = {"x": numbers((4, 6, 2), dtype), "places": places, "update": update}
    assert_as_runtime(one_node("ScatterND", inputs, reduction=reduction), inputs, rtol=1e-4)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("shape", [(9, 3), (9, 5), (1, 2)], ids=str)
@pytest.mark.parametrize("axis", [0, -1])
def test_elements_go_to_places_that_are_computed(
    axis: int, shape: tuple[int, int], reduction: str
) -> None:
    into, given = ((4, 5), shape) if axis == 0 else ((9, 4), shape)
    places = np.random.default_rng(0).integers(-4, 4, given)
    inputs = {"x": numbers(into), "places": places, "update": numbers(given, seed=1)}
    model = one_node("ScatterElements", inputs, axis=axis, reduction=reduction)
    assert_as_runtime(model, inputs, rtol=1e-4)


def test_known_places_may_get_several_updates_or_be_many() -> None:
    inputs = {"x": numbers((4, 3)), "update": numbers((3, 3), seed=1)}
    places = {"places": np.array([[1], [1], [-3]])}
    order = ["x", "places", "update"]
    assert_as_runtime(one_node("ScatterND", inputs, places, order=order), inputs)
    inputs = {"x": numbers((1025, 1024)), "update": numbers((1,))}
    model = one_node("ScatterND", inputs, {"places": np.array([[1, 1]])}, order=order)
    assert_as_runtime(model, inputs)


def test_the_first_scatter_is_as_that_of_elements() -> None:
    inputs = {"x": numbers((4, 3)), "places": np.array([[1, 0, 2]]), "update": numbers((1, 3))}
    assert_as_runtime(one_node("Scatter", inputs, opset=10), inputs)


def test_what_nests_do_not_say_is_named() -> None:
    truth = {"x": np.ones((4, 3), bool), "places": np.array([[1]]), "update": np.ones((1, 3), bool)}
    with pytest.raises(ModelError, match="it combines truth values"):
        lowered(one_node("ScatterND", truth, reduction="add"))
    none = {"x": numbers((4, 3)), "places": np.zeros((0, 1), np.int64), "update": numbers((0, 3))}
    with pytest.raises(ModelError, match="it writes nothing"):
        lowered(one_node("ScatterND", none))


def test_who_asks_all_places_is_told_apart() -> None:
    inputs = {"x": numbers((4, 3)), "places": np.array([[1], [1]]), "update": numbers((2, 3))}
    graph = static(ir.serde.deserialize_model(one_node("ScatterND", inputs)), {}).graph
    assert list(cover(graph).left.values()) == ["it writes to places that are computed"]
    assert not cover(graph, sends=True).left
