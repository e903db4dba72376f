"""Scattering to known places is as in ONNX Runtime; all else is left to it, with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.errors import ModelError
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


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ([[1], [1]], "it writes to a place twice"),
        ([[1], [-3]], "it writes to a place twice"),
        ([[1], [7]], "it writes to a place that does not exist"),
    ],
)
def test_what_no_order_decides_is_left_to_the_runtime(places: list[list[int]], why: str) -> None:
    inputs = {"x": numbers((4, 3)), "update": numbers((2, 3))}
    order = ["x", "places", "update"]
    with pytest.raises(ModelError, match=why):
        lowered(one_node("ScatterND", inputs, {"places": np.array(places)}, order=order))


def test_places_that_are_not_known_are_named() -> None:
    inputs = {"x": numbers((4, 3)), "places": np.array([[1]]), "update": numbers((1, 3))}
    with pytest.raises(ModelError, match="where it writes is not a constant"):
        lowered(one_node("ScatterND", inputs))


def test_a_table_of_all_places_must_be_small() -> None:
    inputs = {"x": numbers((1025, 1024)), "update": numbers((1,))}
    model = one_node("ScatterND", inputs, {"places": np.array([[1, 1]])},
                     order=["x", "places", "update"])  # fmt: skip
    with pytest.raises(ModelError, match="it chooses among 1,049,600 places"):
        lowered(model)
