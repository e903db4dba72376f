from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.index import Fetch
from burnish.tile.lower import cover
from tile.one_node import assert_as_runtime, lowered, numbers, one_node


def _places(shape: tuple[int, ...], extent: int, dtype: str = "int64") -> Array:
    return np.random.default_rng(0).integers(-extent, extent, shape).astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_gather_is_as_in_onnx_runtime(axis: int, shape: tuple[int, ...], dtype: str) -> None:
    inputs = {"x": numbers((4, 5, 6)), "places": _places(shape, 4, dtype)}
    assert_as_runtime(one_node("Gather", inputs, axis=axis), inputs)


@pytest.mark.parametrize(
    ("places", "fetches"), [(2, False), (-1, False), ([1, 2, 3], False), ([3, 1], False),
                            ([0, 0, 1, 1], False), ([0, 3, 1], True), ([-1, -2], False)],
)  # fmt: skip
def test_an_even_row_of_constants_is_an_index(places: int | list[int], fetches: bool) -> None:
    inputs = {"x": numbers((4, 5))}
    model = one_node("Gather", inputs, {"places": np.asarray(places, np.int64)})
    assert_as_runtime(model, inputs)
    (nest,) = lowered(model).ops
    atoms = [atom for index in nest.reads[0].index for atom, _ in index.terms]
    assert any(isinstance(atom, Fetch) for atom in atoms) == fetches


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements_is_as_in_onnx_runtime(axis: int) -> None:
    inputs = {"x": numbers((4, 5, 6)), "places": _places((3, 4, 5), 4)}
    assert_as_runtime(one_node("GatherElements", inputs, axis=axis), inputs)


@pytest.mark.parametrize(
    ("shape", "batch"), [((3, 1), 0), ((3, 2), 0), ((3, 3), 0), ((2, 3), 0), ((4, 2, 1), 1),
                         ((4, 5, 1), 2), ((4, 5, 2, 1), 2), ((4, 2, 2), 1)],
)  # fmt: skip
def test_gather_nd_is_as_in_onnx_runtime(shape: tuple[int, ...], batch: int) -> None:
    inputs = {"x": numbers((4, 5, 6)), "places": _places(shape, 4)}
    assert_as_runtime(one_node("GatherND", inputs, batch_dims=batch), inputs)


@pytest.mark.parametrize(
    ("operator", "places"),
    [("Gather", 4), ("Gather", [7, 9]), ("Gather", [-5]), ("Gather", [0, 3, 9, 1]),
     ("GatherElements", [[0, 4]]), ("GatherND", [[3, 5]]), ("GatherND", [[-5, 0]])],
)  # fmt: skip
def test_constant_places_that_do_not_exist_are_left_to_a_library(
    operator: str, places: int | list[int]
) -> None:
    known = {"places": np.asarray(places, np.int64)}
    model = one_node(operator, {"x": numbers((4, 5))}, known)
    (reason,) = cover(static(ir.serde.deserialize_model(model), {}).graph).left.values()
    assert reason.startswith("it reads a place that does not exist")
