"""What is gathered by a constant in equal steps is a slice, and reads as one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.tile.expr import Argument
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, at, fetched
from burnish.tile.recurrence import TURN
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from tile.one_node import lowered, numbers, one_node


def gathered(places: Array) -> TileGraph:
    """Return the nests of a Gather from twelve elements."""
    model = one_node("Gather", {"x": numbers((12,))}, {"places": places}, axis=0)
    return lowered(model)


@pytest.mark.parametrize(
    "places",
    [[3, 4, 5], [11, 8, 5], [[0, 1, 2], [6, 7, 8]], [-1, -2, -3], [4, 4], [7]],
    ids=str,
)
def test_equal_steps_are_not_fetched(places: list[int]) -> None:
    graph = gathered(np.array(places))
    found = simplify(graph)
    assert not any(op.fetches for op in found.ops)
    assert not found.constants
    x = numbers((12,))
    np.testing.assert_array_equal(evaluate(found, {"x": x})["out"], x[np.array(places)])


@pytest.mark.parametrize("places", [[0, 1, 3], [[0, 1], [2, 4]], [0, -1, -2]], ids=str)
def test_other_places_are_fetched_as_before(places: list[int]) -> None:
    found = simplify(gathered(np.array(places)))
    assert any(op.fetches for op in found.ops)


@pytest.mark.parametrize(("name", "stays"), [(f"{TURN}5", True), ("places", False)])
def test_where_a_step_of_a_sequence_reads_stays_a_place(name: str, stays: bool) -> None:
    axis = Axis("i", 2)
    read = Read("x", (fetched(name, (at(axis),), 12),))
    known = {"x": TensorType("f32", (12,)), "out": TensorType("f32", (2,))}
    graph = TileGraph(
        {**known, name: TensorType("i32", (2,))}, ("x",), ("out",),
        (TileOp("out", (axis,), (read,), Argument(0, "f32")),), {name: np.array([5, 6], np.int32)},
    )  # fmt: skip
    assert any(op.fetches for op in simplify(graph).ops) == stays


@given(st.lists(st.integers(-12, 11), min_size=1, max_size=5))
def test_what_is_gathered_stays_the_same(places: list[int]) -> None:
    x = numbers((12,))
    found = evaluate(simplify(gathered(np.array(places))), {"x": x})["out"]
    np.testing.assert_array_equal(found, x[np.array(places)])


def test_of_a_table_only_the_looked_at_part_must_lie_in_equal_steps() -> None:
    places = np.array([[[2, 0], [2, 2], [2, 4]], [[5, 0], [5, 2], [5, 4]]])
    x = numbers((6, 7))
    graph = lowered(one_node("GatherND", {"x": x}, {"places": places}))
    found = simplify(graph)
    assert not any(op.fetches for op in found.ops)
    np.testing.assert_array_equal(evaluate(found, {"x": x})["out"], x[[2, 5], 0:5:2])
