from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.core.tensors import TensorSpec
from burnish.rewrite.extract import as_model, part
from burnish.study.check_feeds import (
    CheckSample,
    _filled,
    bind,
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


def test_a_shape_without_room_is_not_filled() -> None:
    spec = TensorSpec("x", "f32", (2**40,))
    with pytest.raises(MissingCapabilityError, match=r"takes 8\.00 TiB to make"):
        _filled(spec, {}, "plain", np.random.default_rng(0))
