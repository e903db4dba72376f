from __future__ import annotations

from unittest.mock import patch

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from burnish.operators.loops import ordering
from burnish.rewrite.static import static
from burnish.tile.lower import cover, lower
from burnish.tile.reference import evaluate
from tile.one_node import assert_as_runtime, lowered, numbers, one_node
from tile_strategies import UNHURRIED


@settings(deadline=None, max_examples=30)
@given(
    st.integers(-1, 2), st.integers(1, 4), st.integers(0, 1), st.sampled_from(["f4", "i8", "i4"])
)
def test_top_k_is_as_in_onnx_runtime(axis: int, count: int, largest: int, dtype: str) -> None:
    # few different numbers, so that many are equal
    x = np.random.default_rng(count).integers(-3, 3, (4, 5, 6)).astype(dtype)
    model = one_node(
        "TopK", {"x": x}, {"k": np.array([count])}, outputs=("values", "places"),
        results=(dtype, "i8"), axis=axis, largest=largest,
    )  # fmt: skip
    assert_as_runtime(model, {"x": x})


@pytest.mark.parametrize(
    ("length", "count"), [(65, 3), (256, 1), (256, 256), (300, 75), (1024, 1024)]
)
@pytest.mark.parametrize("largest", [0, 1])
def test_longer_rows_are_sorted_as_in_onnx_runtime(length: int, count: int, largest: int) -> None:
    # few different numbers, so that many are equal
    x = np.random.default_rng(length).integers(-9, 9, (2, length)).astype("f4")
    model = one_node(
        "TopK", {"x": x}, {"k": np.array([count])}, outputs=("values", "places"),
        results=("f4", "i8"), largest=largest,
    )  # fmt: skip
    assert_as_runtime(model, {"x": x})
    graph = static(ir.serde.deserialize_model(model), {}).graph
    assert list(cover(graph).left.values()) == ["it writes to places that are computed"]


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("largest", [0, 1])
def test_no_place_of_a_longer_row_is_lost_to_what_is_no_number(largest: int, counts: bool) -> None:
    row = np.random.default_rng(7).integers(-9, 9, (1, 100)).astype("f4")
    row[0, ::7] = np.nan
    model = one_node(
        "TopK", {"x": row}, {"k": np.array([100])}, outputs=("values", "places"),
        results=("f4", "i8"), largest=largest,
    )  # fmt: skip
    graph = lower(list(static(ir.serde.deserialize_model(model), {}).graph), counts=counts).graph
    places = evaluate(graph, {"x": row})["places"][0].tolist()
    order = [*np.argsort(row[0] if not largest else -row[0], kind="stable")]
    none = [*range(0, 100, 7)]
    rest = [place for place in order if place not in none]
    assert places == (none + rest if largest else rest + none)


@UNHURRIED
@given(
    length=st.integers(2, 700),
    share=st.floats(0, 1),
    largest=st.sampled_from([0, 1]),
    axis=st.sampled_from([0, 1]),
    seed=st.integers(0, 99),
)
def test_long_rows_are_ordered_in_parts_as_they_are_whole(
    length: int, share: float, largest: int, axis: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    # few different numbers, so that many are equal, some infinite, some none
    x = random.integers(-9, 9, (2, length)).astype("f4")
    x[random.random(x.shape) < 0.02] = np.inf
    x[random.random(x.shape) < 0.02] = np.nan
    x = x if axis else x.T
    count = 1 + int(share * (length - 1))
    model = one_node(
        "TopK", {"x": x}, {"k": np.array([count])}, outputs=("values", "places"),
        results=("f4", "i8"), largest=largest, axis=axis,
    )  # fmt: skip
    nodes = list(static(ir.serde.deserialize_model(model), {}).graph)
    whole = evaluate(lower(nodes, counts=True).graph, {"x": x})
    with patch.multiple(ordering, PARTS=(4, 16, 64), WORTH_PAIRS=-(2**40)):
        graph = lower(nodes, counts=True).graph
        assert len(graph.ops) == (3 if length < 8 else 6)
        found = evaluate(graph, {"x": x})
    for name, array in whole.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize(("length", "count", "rows"), [(19_200, 64, 1), (8400, 300, 32)])
def test_a_cut_compares_fewer_pairs(length: int, count: int, rows: int) -> None:
    found = ordering.cut(length, count, rows)
    assert found is not None
    assert 3 * found.pairs < length**2
    assert found.candidates >= count


@pytest.mark.parametrize(("length", "count", "rows"), [(1000, 5, 1), (2000, 1990, 1), (200, 1, 1)])
def test_where_little_is_saved_rows_are_left_whole(length: int, count: int, rows: int) -> None:
    assert ordering.cut(length, count, rows) is None


@pytest.mark.parametrize("read", [0, 1])
def test_what_nobody_reads_need_not_be_there(read: int) -> None:
    inputs = {"x": numbers((3, 9))}
    model = one_node("TopK", inputs, {"k": np.array([3])}, outputs=("v", "p"), results=("f4", "i8"))
    del model.graph.output[1 - read]
    assert_as_runtime(model, inputs)


def test_long_rows_and_open_orders_are_left_to_the_runtime() -> None:
    inputs = {"x": numbers((2, 300))}
    with pytest.raises(ModelError, match="it orders the first 3 of 300 elements"):
        lowered(one_node("TopK", inputs, {"k": np.array([3])}, outputs=("v", "p")))
    longer = {"x": numbers((1, 1025))}
    with pytest.raises(ModelError, match="it orders the first 1025 of 1025 elements"):
        lowered(one_node("TopK", longer, {"k": np.array([1025])}, outputs=("v", "p")))
    few = {"x": numbers((2, 30))}
    with pytest.raises(ModelError, match="the order in which it gives them is open"):
        lowered(one_node("TopK", few, {"k": np.array([3])}, outputs=("v", "p"), sorted=0))


@pytest.mark.parametrize("lengths", [[4, 4, 4], [4, 1, 0]])
@pytest.mark.parametrize("time", [0, 1])
def test_reverse_sequence_is_as_in_onnx_runtime(lengths: list[int], time: int) -> None:
    inputs = {"x": numbers((4, 3, 2) if time == 0 else (3, 4, 2))}
    held = {"lengths": np.array(lengths, np.int64)}
    model = one_node("ReverseSequence", inputs, held, time_axis=time, batch_axis=1 - time)
    assert_as_runtime(model, inputs)


def test_lengths_of_other_samples_are_left_to_the_runtime() -> None:
    held = {"lengths": np.array([1, 1, 2], np.int64)}
    with pytest.raises(ModelError, match="it has 2 samples, and the lengths of 3"):
        lowered(one_node("ReverseSequence", {"x": numbers((4, 2))}, held))


def test_more_steps_than_there_are_are_left_to_the_runtime() -> None:
    held = {"lengths": np.array([5, 1], np.int64)}
    with pytest.raises(ModelError, match="it turns 5 of 4 steps"):
        lowered(one_node("ReverseSequence", {"x": numbers((4, 2))}, held))
