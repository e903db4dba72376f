from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.core.tensors import TensorSpec
from burnish.rewrite.extract import as_model, part
from burnish.rewrite.facts import Facts
from burnish.study.check_feeds import (
    CheckSample,
    _filled,
    bind,
    may_be_empty,
    samples,
    shape_of,
    whole_samples,
)
from rewriting import Graph


def specs(*shapes: tuple[str | int, ...]) -> list[TensorSpec]:
    return [TensorSpec(f"x{number}", "f32", shape) for number, shape in enumerate(shapes)]


def test_names_get_different_sizes_so_that_axes_cannot_be_mixed_up() -> None:
    assert bind(specs(("a", "b", 8), ("b", "c")), (2, 5, 3)) == {"a": 2, "b": 5, "c": 3}


def test_a_total_is_the_sum_of_past_and_sequence() -> None:
    shapes = (("batch", "past_sequence"), ("batch", "sequence"), ("batch", "total_sequence"))
    sizes = bind(specs(*shapes), (2, 5, 3, 7))
    assert sizes["total_sequence"] == sizes["past_sequence"] + sizes["sequence"]


def test_sizes_that_are_arithmetic_are_computed() -> None:
    spec = TensorSpec("x", "f32", ("2*a", "a + b", 4))
    assert shape_of(spec, {"a": 3, "b": 1}) == (6, 4, 4)


def made(dtype: ir.DataType, shape: list[str | int]) -> list[CheckSample]:
    graph = Graph()
    value = graph.input("mask", shape, dtype)
    model = graph.model(graph.op("Identity", value))
    cut = part(list(model.graph.outputs), ())
    return list(samples(cut, as_model(cut, model, "part")))


@pytest.mark.parametrize("dtype", [ir.DataType.BOOL, ir.DataType.INT64])
def test_masks_are_padded_on_either_side_and_have_holes_but_no_empty_row(
    dtype: ir.DataType,
) -> None:
    found = {one.kind: one.arrays["mask"].astype(bool) for one in made(dtype, ["b", "s"])[:4]}
    assert set(found) == {"plain", "right", "left", "holes"}
    assert (np.diff(found["right"].astype(int), axis=-1) <= 0).all()
    assert (np.diff(found["left"].astype(int), axis=-1) >= 0).all()
    for kind in ("right", "left", "holes"):
        assert found[kind].any(axis=-1).all()


def test_what_is_added_to_scores_is_as_low_as_exporters_write_it() -> None:
    added = made(ir.DataType.FLOAT, ["b", 1, "s", "t"])
    lowest = {float(one.arrays["mask"].min()) for one in added if one.kind != "plain"}
    assert float(np.finfo(np.float32).min) in lowest


def test_a_single_picture_is_no_mask() -> None:
    assert {one.kind for one in made(ir.DataType.FLOAT, [1, 3, 8, 9])} == {"plain"}


def test_equal_arguments_give_equal_inputs() -> None:
    first, second = made(ir.DataType.FLOAT, ["n", 8]), made(ir.DataType.FLOAT, ["n", 8])
    assert [one.kind for one in first] == ["plain"] * 3
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.arrays["mask"], other.arrays["mask"])


def test_whole_models_are_fed_by_the_names_of_their_inputs() -> None:
    graph = Graph()
    ids = graph.input("input_ids", ["batch", "sequence"], ir.DataType.INT64)
    table = graph.constant(np.ones((10, 4), np.float32))
    model = graph.model(graph.op("Gather", table, ids))
    cut = part(list(model.graph.outputs), ())
    found = list(whole_samples(cut, as_model(cut, model, "part")))
    assert [one.kind for one in found] == ["right", "left", "plain"]
    assert found[0].arrays["input_ids"].shape == (2, 7)
    assert found[0].arrays["input_ids"].max() < 10


@pytest.mark.parametrize("guarded", [False, True])
def test_whole_models_that_ask_what_is_no_number_have_a_row_that_is_masked(guarded: bool) -> None:
    graph = Graph()
    mask = graph.input("attention_mask", ["batch", "sequence"], ir.DataType.INT64)
    scores = graph.op("Log", graph.op("Cast", mask, to=ir.DataType.FLOAT))
    model = graph.model(graph.op("IsNaN" if guarded else "Neg", scores))
    cut = part(list(model.graph.outputs), ())
    found = {one.kind: one for one in whole_samples(cut, as_model(cut, model, "part"))}
    assert ("empty" in found) == guarded
    for kind, one in found.items():
        rows = one.arrays["attention_mask"].any(axis=-1)
        assert rows.tolist() == [True, kind != "empty"]


@pytest.mark.parametrize("dtype", [ir.DataType.BOOL, ir.DataType.FLOAT, ir.DataType.FLOAT16])
def test_masks_of_guarded_scores_leave_nothing_of_every_second_row(dtype: ir.DataType) -> None:
    graph = Graph(dtype=dtype)
    model = graph.model(graph.op("Identity", graph.input("mask", ["b", 1, "s", "t"], dtype)))
    cut = part(list(model.graph.outputs), ())
    small = as_model(cut, model, "part")
    *others, one = samples(cut, small, emptied=["mask"])
    assert "empty" not in {other.kind for other in others}
    mask = one.arrays["mask"]
    kept = mask if dtype == ir.DataType.BOOL else mask == 0
    assert dtype == ir.DataType.BOOL or (kept | np.isneginf(mask)).all()
    rows = kept.reshape(-1, mask.shape[-1]).any(axis=-1)
    assert not rows[::2].any()
    assert rows[1::2].all()


@pytest.mark.parametrize(("guarded", "low", "found"), [
    (True, -np.inf, (0,)), (True, -1e9, ()), (False, -np.inf, ()),
])  # fmt: skip
def test_only_what_is_asked_for_no_numbers_and_may_be_infinite_is_emptied(
    guarded: bool, low: float, found: tuple[int, ...]
) -> None:
    graph = Graph()
    kept = graph.input("kept", ["b", 1, "s", "t"], ir.DataType.BOOL)
    mask = graph.op("Where", kept, np.float32(0), np.float32(low))
    mask.dtype = ir.DataType.FLOAT
    model = graph.model(graph.op("IsNaN" if guarded else "Neg", mask))
    assert may_be_empty(part(list(model.graph.outputs), [mask]), Facts(model)) == found


def test_a_shape_without_room_is_not_filled() -> None:
    spec = TensorSpec("x", "f32", (2**40,))
    with pytest.raises(MissingCapabilityError, match=r"takes 8\.00 TiB to make"):
        _filled(spec, {}, "plain", np.random.default_rng(0))
