from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.meaning.evaluate import Evaluator
from burnish.meaning.numbers import Reals
from tile.one_node import assert_as_runtime, by_runtime, judged, lowered, numbers, one_node


def taken() -> dict[str, Array]:
    """Return an image, and boxes inside of it, across its border, beyond it and without area."""
    corners = [[1, 2, 9, 6], [-3, -2, 4, 20], [0, 0, 0, 0], [15, 12, 30, 30], [5, 5, 3, 2]]
    return {
        "x": numbers((2, 3, 7, 10)),
        "boxes": np.array(corners, np.float32),
        "which": np.array([0, 1, 1, 0, 0]),
    }


@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_align_is_as_in_onnx_runtime(how: str, samples: int, scale: float) -> None:
    inputs = taken()
    model = one_node(
        "RoiAlign", inputs, sampling_ratio=samples, spatial_scale=scale, output_height=2,
        output_width=3, coordinate_transformation_mode=how,
    )  # fmt: skip
    assert_as_runtime(model, inputs, atol=1e-5)


def test_before_opset_16_pixels_have_no_halves() -> None:
    inputs = taken()
    model = one_node("RoiAlign", inputs, opset=11, sampling_ratio=2, output_height=2)
    assert_as_runtime(model, inputs, atol=1e-5)


def test_what_boxes_have_no_loops_says_why() -> None:
    with pytest.raises(ModelError, match="a box has as many samples as it is large"):
        lowered(one_node("RoiAlign", taken()))
    with pytest.raises(ModelError, match="of the largest sample"):
        lowered(one_node("RoiAlign", taken(), sampling_ratio=2, mode="max"))
    half = {**taken(), "x": taken()["x"].astype(np.float16)}
    with pytest.raises(ModelError, match="its image is f16, and its boxes are not"):
        lowered(one_node("RoiAlign", half, sampling_ratio=2))


def test_images_of_16_bits_are_averaged_in_f32() -> None:
    inputs = {n: a.astype(np.float16) if a.dtype.kind == "f" else a for n, a in taken().items()}
    model = one_node("RoiAlign", inputs, sampling_ratio=2, output_height=2)
    exact = one_node("RoiAlign", taken(), sampling_ratio=2, output_height=2)
    wanted = {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in inputs.items()}
    (right,), (found,) = by_runtime(exact, wanted).values(), judged(model, inputs).values()
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, right, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("input_name", "place", "value"),
    [("which", 1, -1), ("boxes", (1, 0), np.nan), ("boxes", (1, 3), np.inf),
     ("boxes", (1, 2), -np.inf)],
)  # fmt: skip
def test_of_what_runtimes_refuse_no_number_comes(
    input_name: str, place: int | tuple[int, int], value: float
) -> None:
    inputs = taken()
    model = one_node("RoiAlign", inputs, sampling_ratio=2, output_height=2, output_width=3)
    right, wrong = (
        Evaluator(ir.from_proto(model)).outputs(given, Reals())["out"].value
        for given in (inputs, {**inputs, input_name: changed(inputs[input_name], place, value)})
    )
    assert np.isnan(wrong[1]).all()
    np.testing.assert_array_equal(np.delete(wrong, 1, 0), np.delete(right, 1, 0))


def changed(array: Array, place: int | tuple[int, int], value: float) -> Array:
    """Return a copy with one other element."""
    copy = array.copy()
    copy[place] = value
    return copy
