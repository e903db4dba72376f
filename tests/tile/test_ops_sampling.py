from __future__ import annotations

import numpy as np
import pytest

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, by_runtime, judged, lowered, numbers, one_node


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("corners", [0, 1])
def test_grid_sample_is_as_in_onnx_runtime(padding: str, mode: str, corners: int) -> None:
    # beyond the image on all sides, but no further than one reflection
    grid = np.random.default_rng(1).uniform(-1.6, 1.6, (2, 6, 5, 2)).astype(np.float32)
    inputs = {"x": numbers((2, 3, 7, 4)), "grid": grid}
    model = one_node(
        "GridSample", inputs, opset=20, mode=mode, padding_mode=padding, align_corners=corners
    )
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_volumes_are_sampled_as_in_onnx_runtime(mode: str) -> None:
    grid = np.random.default_rng(1).uniform(-1.3, 1.3, (1, 3, 4, 2, 3)).astype(np.float32)
    inputs = {"x": numbers((1, 2, 4, 3, 5)), "grid": grid}
    assert_as_runtime(one_node("GridSample", inputs, opset=20, mode=mode), inputs)


def test_a_grid_of_another_number_of_dimensions_is_refused() -> None:
    inputs = {"x": numbers((1, 2, 4, 4)), "grid": numbers((1, 3, 3, 3))}
    with pytest.raises(ModelError, match="its grid does not fit its image"):
        lowered(one_node("GridSample", inputs, opset=20))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("places", ["float16", "float32"])
def test_images_of_16_bits_are_sampled_in_f32(mode: str, places: str) -> None:
    # places that both types have, off the middle between two elements
    grid = np.random.default_rng(1).integers(-7, 8, (1, 5, 6, 2)) / 8 + 1 / 32
    inputs = {"x": numbers((1, 2, 4, 5)).astype(np.float16), "grid": grid.astype(places)}
    model = one_node("GridSample", inputs, opset=20, mode=mode)
    wanted = {name: array.astype(np.float32) for name, array in inputs.items()}
    (exact,) = by_runtime(one_node("GridSample", wanted, opset=20, mode=mode), wanted).values()
    (found,) = judged(model, inputs).values()
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, exact.astype(np.float16))
