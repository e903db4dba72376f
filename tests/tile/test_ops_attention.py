"""ONNX's Attention has 200 node tests (test_node_tests.py); here is what they do not reach."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import Attribute, assert_as_runtime, judged, lowered, numbers, one_node

BATCH, HEADS, ROWS, KEYS, SIZE = 2, 4, 3, 5, 8
WIDTH = HEADS * SIZE
CONTRIB = "com.microsoft."


def operands(keys: int = KEYS, *, split: bool = False, size: int = SIZE) -> dict[str, Array]:
    """Return a query with joined heads, and keys and values with joined or split ones."""
    shape = (BATCH, HEADS, keys, size) if split else (BATCH, keys, HEADS * size)
    return {
        "query": numbers((BATCH, ROWS, HEADS * size)),
        "key": numbers(shape, seed=1),
        "value": numbers(shape, seed=2),
    }


def multi_head(inputs: dict[str, Array], order: list[str], **more: Attribute) -> None:
    model = one_node(
        CONTRIB + "MultiHeadAttention", inputs, order=["query", "key", "value", *order],
        num_heads=HEADS, **more,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("split", [False, True])
def test_heads_are_joined_or_split(split: bool) -> None:
    multi_head(operands(split=split), [])


def test_a_scale_is_given() -> None:
    multi_head(operands(), [], scale=0.3)


def test_values_may_have_another_width() -> None:
    inputs = {
        **operands(),
        "value": numbers((BATCH, KEYS, HEADS * 4)),
        "bias": numbers((2 * WIDTH + HEADS * 4,)),
    }
    multi_head(inputs, ["bias"])


def test_a_bias_is_added_to_all_three() -> None:
    multi_head({**operands(), "bias": numbers((3 * WIDTH,), seed=3)}, ["bias"])


@pytest.mark.parametrize("rows", [[[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], [[0] * 5, [0, 1, 0, 1, 1]]])
def test_keys_are_masked_by_numbers(rows: list[list[int]]) -> None:
    multi_head({**operands(), "mask": np.array(rows, np.int32)}, ["", "mask"])


@pytest.mark.parametrize("shape", [(1, 1), (BATCH, 1), (1, HEADS), (BATCH, HEADS)])
def test_what_is_added_broadcasts(shape: tuple[int, int]) -> None:
    inputs = {**operands(), "added": numbers((*shape, ROWS, KEYS), seed=3)}
    multi_head(inputs, ["", "", "added"])


def test_keys_that_are_masked_and_what_is_added_come_together() -> None:
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
    inputs = {**operands(), "mask": mask, "added": numbers((1, 1, ROWS, KEYS), seed=3)}
    multi_head(inputs, ["", "mask", "added"])


def test_later_keys_are_not_seen() -> None:
    multi_head(operands(ROWS), [], unidirectional=1)


def test_a_past_comes_before_the_keys() -> None:
    past = {name: numbers((BATCH, HEADS, 2, SIZE), seed=seed) for seed, name in enumerate("kv")}
    order = ["", "", "", "k", "v"]
    inputs = {**operands(ROWS), **past}
    outputs = ("out", "present_key", "present_value")
    multi_head(inputs, order, outputs=outputs)
    multi_head(inputs, order, outputs=outputs, unidirectional=1)


@pytest.mark.parametrize(
    ("extra", "order", "reason"),
    [
        ({"mask": np.array([2, 3], np.int32)}, ["", "mask"], r"a mask of the shape \(2,\)"),
        ({"long": np.array(2, np.int32)}, [""] * 5 + ["long"], "a past that is longer than"),
    ],
)
def test_other_forms_are_left(extra: dict[str, Array], order: list[str], reason: str) -> None:
    inputs = {**operands(), **extra}
    model = one_node(
        CONTRIB + "MultiHeadAttention", inputs, order=["query", "key", "value", *order],
        num_heads=HEADS,
    )  # fmt: skip
    with pytest.raises(ModelError, match=reason):
        lowered(model)


def test_packed_operands_are_left() -> None:
    inputs = {"query": numbers((BATCH, ROWS, HEADS, 3, SIZE))}
    model = one_node(
        CONTRIB + "MultiHeadAttention", inputs, order=["query", "", ""], num_heads=HEADS
    )
    with pytest.raises(ModelError, match=r"query, key and value of \[5, 0, 0\] dimensions"):
        lowered(model)


@pytest.mark.parametrize("attributes", [{}, {"unidirectional": 1}, {"scale": 0.2}])
def test_a_projection_comes_first(attributes: dict[str, Attribute]) -> None:
    inputs = {"x": numbers((BATCH, ROWS, 16)), "weights": numbers((16, 3 * WIDTH), seed=1)}
    inputs["bias"] = numbers((3 * WIDTH,), seed=2)
    model = one_node(CONTRIB + "Attention", inputs, num_heads=HEADS, **attributes)
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


def test_a_projection_to_several_widths_with_masks() -> None:
    inputs = {
        "x": numbers((BATCH, ROWS, 16)), "weights": numbers((16, 56), seed=1),
        "bias": numbers((56,), seed=2), "mask": np.array([[1, 1, 0], [1, 0, 0]], np.int32),
        "added": numbers((1, 1, ROWS, ROWS), seed=3),
    }  # fmt: skip
    order = ["x", "weights", "bias", "mask", "", "added"]
    model = one_node(
        CONTRIB + "Attention", inputs, order=order, num_heads=HEADS, qkv_hidden_sizes=[16, 16, 24]
    )
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


def test_a_projection_with_a_past_is_left() -> None:
    inputs = {
        "x": numbers((BATCH, ROWS, 16)), "weights": numbers((16, 3 * WIDTH), seed=1),
        "bias": numbers((3 * WIDTH,)), "past": numbers((2, BATCH, HEADS, 2, SIZE)),
    }  # fmt: skip
    model = one_node(
        CONTRIB + "Attention", inputs, order=["x", "weights", "bias", "", "past"], num_heads=HEADS
    )
    with pytest.raises(ModelError, match="cannot be lowered: a past"):
        lowered(model)


def test_scores_are_a_product_without_guards_in_f32() -> None:
    inputs = {
        name: numbers((1, 2, 3, 4), seed=seed).astype(np.float16)
        for seed, name in enumerate(("q", "k", "v"))
    }
    graph = lowered(one_node("Attention", inputs, opset=23, is_causal=1))
    products = [op for op in graph.ops if op.combine == "sum" and len(op.reads) == 2]
    assert [op.body.dtype for op in products] == ["f32", "f32"]
    assert all(not read.guards for op in products for read in op.reads)
    assert graph.tensors["out"].dtype == "f16"


def test_a_row_without_any_key_becomes_zero() -> None:
    inputs = {name: numbers((1, 1, 2, 4), seed=seed) for seed, name in enumerate(("q", "k", "v"))}
    inputs["mask"] = np.array([[True, True], [False, False]])
    found = judged(one_node("Attention", inputs, opset=23), inputs)["out"]
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[0, 0, 1], 0)


def test_heads_that_do_not_fit_are_left() -> None:
    shapes = {"q": (1, 3, 2, 4), "k": (1, 2, 2, 4), "v": (1, 2, 2, 4)}
    inputs = {name: numbers(shape) for name, shape in shapes.items()}
    with pytest.raises(ModelError, match="3 heads of the query for 2 of the key"):
        lowered(one_node("Attention", inputs, opset=23))


def test_a_mask_of_one_column_is_left() -> None:
    inputs = {name: numbers((1, 2, 3, 4)) for name in ("q", "k", "v")}
    inputs["mask"] = numbers((3, 1))
    with pytest.raises(ModelError, match="a mask of one column"):
        lowered(one_node("Attention", inputs, opset=23))


def test_joined_heads_need_their_number() -> None:
    inputs = {name: numbers((1, 3, 8)) for name in ("q", "k", "v")}
    model = one_node("Attention", inputs, opset=23, q_num_heads=3, kv_num_heads=3)
    with pytest.raises(ModelError, match=r"3 heads of a tensor of the shape \(1, 3, 8\)"):
        lowered(model)
