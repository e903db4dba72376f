"""Places that are computed are asked by every update, and long rows are ordered, where told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import cover, lower
from burnish.tile.reference import evaluate
from tile.one_node import by_runtime, numbers, one_node

WAYS = ["none", "add", "mul", "max", "min"]
ORDER = ["x", "places", "update"]


def counted(model: onnx.ModelProto) -> TileGraph:
    return lower(list(static(ir.serde.deserialize_model(model), {}).graph), counts=True).graph


def assert_counted(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> None:
    graph = counted(model)
    found = evaluate(graph, {name: inputs[name] for name in graph.inputs})
    for name, array in by_runtime(model, inputs).items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_are_written_to_computed_places(axis: int, dtype: str, reduction: str) -> None:
    shape = (4, 5)
    sizes = (7, 5) if axis == 0 else (4, 7)
    places = np.random.default_rng(1).integers(-shape[axis], shape[axis], sizes)
    inputs = {"x": numbers(shape, dtype), "places": places, "update": numbers(sizes, dtype, 1)}
    model = one_node("ScatterElements", inputs, order=ORDER, axis=axis, reduction=reduction)
    assert_counted(model, inputs)


@pytest.mark.parametrize("reduction", WAYS)
@pytest.mark.parametrize(
    "places",
    [[[2], [0], [2]], [[-1]], [2], [[[1], [3]], [[0], [1]]], [[1, 2], [0, -1]], [[3, 4, 5]]],
    ids=str,
)
def test_slices_are_written_to_computed_places(places: Sequence[object], reduction: str) -> None:
    held = np.array(places, np.int64)
    shape = (4, 5, 6)
    update = numbers((*held.shape[:-1], *shape[held.shape[-1] :]), seed=1)
    inputs = {"x": numbers(shape), "places": held, "update": update}
    model = one_node("ScatterND", inputs, order=ORDER, reduction=reduction)
    assert_counted(model, inputs)


@pytest.mark.parametrize("largest", [0, 1])
def test_long_rows_are_ordered_by_counting(largest: int) -> None:
    inputs = {"x": np.round(numbers((3, 300)))}
    count = {"k": np.array([9])}
    model = one_node(
        "TopK", inputs, count, outputs=("out", "places"), results=("float32", "int64"),
        largest=largest,
    )  # fmt: skip
    assert_counted(model, inputs)
    assert "orders the first 9 of 300" in reason_of(model, counts=False)


def reason_of(model: onnx.ModelProto, *, counts: bool) -> str:
    graph = static(ir.serde.deserialize_model(model), {}).graph
    (reason,) = cover(graph, counts=counts).left.values()
    return reason


def scattered(shape: Sequence[int], sizes: Sequence[int], kind: str) -> onnx.ModelProto:
    places = np.zeros(sizes, np.int64)
    whole = sizes if kind == "ScatterElements" else (*sizes[:-1], *shape[sizes[-1] :])
    inputs = {"x": numbers(shape), "places": places, "update": numbers(whole)}
    return one_node(kind, inputs, order=ORDER)


def test_what_would_be_compared_too_often_is_left_to_a_library() -> None:
    many = scattered((1 << 17,), (1 << 17, 1), "ScatterND")
    assert reason_of(many, counts=True) == ("131,072 updates could be for each of 131,072 places")
    part = scattered((4, 5), (4, 3), "ScatterElements")
    assert reason_of(part, counts=True) == (
        "it writes to a part of its rows, to places that are not constants"
    )
    plain = scattered((4, 5), (4, 5), "ScatterElements")
    assert reason_of(plain, counts=False) == "it writes to places that are computed"


def test_truth_values_are_written_and_not_combined() -> None:
    inputs = {
        "x": np.zeros((4, 3), bool), "places": np.array([[1], [-1]]),
        "update": np.ones((2, 3), bool),
    }  # fmt: skip
    assert_counted(one_node("ScatterND", inputs, order=ORDER), inputs)
    combined = one_node("ScatterND", inputs, order=ORDER, reduction="add")
    assert reason_of(combined, counts=True) == "it combines truth values"


@pytest.mark.parametrize("reduction", WAYS)
def test_several_updates_for_one_constant_place_are_asked_for(reduction: str) -> None:
    inputs = {"x": numbers((4, 3)), "update": numbers((3, 3), seed=1)}
    places = {"places": np.array([[1], [3], [1]])}
    model = one_node("ScatterND", inputs, places, order=ORDER, reduction=reduction)
    assert_counted(model, inputs)
    assert reason_of(model, counts=False) == "it writes to places that are computed"
    every = {"places": np.array([[1, 3, 1], [0, 0, 0], [2, 2, 2]])}
    model = one_node("ScatterElements", inputs, every, order=ORDER, reduction=reduction)
    assert_counted(model, inputs)


def test_places_that_are_fed_are_known_to_be_indices() -> None:
    graph = counted(scattered((4, 5), (3, 5), "ScatterElements"))
    fetched = {name for op in graph.ops for name in op.inputs}
    assert "places" in fetched


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("largest", [0, 1])
def test_what_is_no_number_is_the_largest_and_no_place_is_lost(largest: int, dtype: str) -> None:
    row = np.array([[1, np.nan, -2, np.inf, 1, np.nan, -np.inf]], dtype)
    outputs, kinds = ("out", "places"), (dtype, "int64")
    model = one_node(
        "TopK", {"x": row}, {"k": np.array([7])}, outputs=outputs, results=kinds, largest=largest
    )
    graph = counted(model)
    places = evaluate(graph, dict.fromkeys(graph.inputs, row))["places"]
    assert places.tolist() == [[1, 5, 3, 0, 4, 2, 6] if largest else [6, 2, 0, 4, 3, 1, 5]]
