from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node

BATCH, HEADS, ROWS, SIZE = 2, 4, 3, 8
CONTRIB = "com.microsoft.RotaryEmbedding"
POSITIONS = np.array([[0, 1, 2], [4, 5, 6]], np.int64)


def tables(half: int = SIZE // 2) -> dict[str, Array]:
    return {"cos": numbers((10, half), seed=1), "sin": numbers((10, half), seed=2)}


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("shape", [(BATCH, ROWS, HEADS * SIZE), (BATCH, HEADS, ROWS, SIZE)])
@pytest.mark.parametrize("positions", [POSITIONS, np.array([3], np.int64)])
def test_pairs_are_turned(shape: tuple[int, ...], positions: Array, interleaved: int) -> None:
    inputs = {"x": numbers(shape), "positions": positions, **tables()}
    assert_as_runtime(one_node(CONTRIB, inputs, interleaved=interleaved), inputs)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_some_elements_are_not_turned(interleaved: int) -> None:
    inputs = {"x": numbers((BATCH, ROWS, HEADS * SIZE)), "positions": POSITIONS, **tables(2)}
    model = one_node(
        CONTRIB, inputs, interleaved=interleaved, num_heads=HEADS, rotary_embedding_dim=4
    )
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("attributes", [{}, {"rotary_embedding_dim": 4}])
def test_onnx_has_tables_or_angles_per_token(interleaved: int, attributes: dict[str, Any]) -> None:
    half = attributes.get("rotary_embedding_dim", SIZE) // 2
    x = numbers((BATCH, HEADS, ROWS, SIZE))
    inputs = {"x": x, **tables(half), "positions": POSITIONS}
    given = {"interleaved": interleaved, "opset": 23, **attributes}
    assert_as_runtime(one_node("RotaryEmbedding", inputs, **given), inputs)
    angles = {name: numbers((BATCH, ROWS, half), seed=seed) for seed, name in enumerate(("c", "s"))}
    inputs = {"x": x, **angles}
    assert_as_runtime(one_node("RotaryEmbedding", inputs, **given), inputs)


@pytest.mark.parametrize(
    ("changed", "attributes", "reason"),
    [
        ({}, {"is_packed_batching": 1}, "samples that are packed one after the other"),
        ({}, {"scale": 2.0}, "a scale of the result"),
        (tables(3), {}, "angles for 8 of 8 elements"),
        ({"positions": np.zeros((1, 1, 1), np.int64)}, {}, r"positions of the shape \(1, 1, 1\)"),
    ],
)
def test_other_forms_are_left(
    changed: dict[str, Array], attributes: dict[str, Any], reason: str
) -> None:
    inputs = {"x": numbers((BATCH, HEADS, ROWS, SIZE)), "positions": POSITIONS, **tables()}
    with pytest.raises(ModelError, match=reason):
        lowered(one_node(CONTRIB, {**inputs, **changed}, **attributes))


def test_angles_and_positions_must_fit() -> None:
    x = numbers((BATCH, HEADS, ROWS, SIZE))
    with pytest.raises(ModelError, match=r"angles of the shape \(10, 4\) without positions"):
        lowered(one_node("RotaryEmbedding", {"x": x, **tables()}, opset=23))
    angles = {"cos": numbers((BATCH, ROWS, 4)), "sin": numbers((BATCH, ROWS, 4))}
    inputs = {"x": x, **angles, "positions": POSITIONS}
    with pytest.raises(ModelError, match=r"angles of the shape \(2, 3, 4\) with positions"):
        lowered(one_node("RotaryEmbedding", inputs, opset=23))
