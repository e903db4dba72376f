from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.index import Fetch
from tile.one_node import assert_as_runtime, lowered, numbers, one_node

COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
EMPTY = np.zeros(0, np.float32)


def _f32(*values: float) -> Array:
    return np.asarray(values, np.float32)


@settings(deadline=None)
@given(
    sizes=st.tuples(st.integers(2, 9), st.integers(2, 9)),
    coordinates=st.sampled_from([*COORDINATES, "tf_half_pixel_for_nn"]),
    nearest=st.sampled_from(NEAREST),
)
def test_nearest_is_as_in_onnx_runtime(
    sizes: tuple[int, int], coordinates: str, nearest: str
) -> None:
    inputs = {"x": numbers((1, 2, 4, 5))}
    constants = {"roi": EMPTY, "scales": EMPTY, "sizes": np.asarray((1, 2, *sizes), np.int64)}
    model = one_node(
        "Resize", inputs, constants, opset=18, mode="nearest", nearest_mode=nearest,
        coordinate_transformation_mode=coordinates,
    )  # fmt: skip
    assert_as_runtime(model, inputs)


@settings(deadline=None)
@given(
    scales=st.tuples(*[st.sampled_from([0.5, 0.75, 1.0, 1.5, 2.0, 3.0])] * 2),
    mode=st.sampled_from(["linear", "cubic"]),
    coordinates=st.sampled_from(COORDINATES),
    exclude=st.booleans(),
)
def test_interpolation_is_as_in_onnx_runtime(
    scales: tuple[float, float], mode: str, coordinates: str, exclude: bool
) -> None:
    whole = all((scale * size).is_integer() for scale, size in zip(scales, (4, 8), strict=True))
    assume(whole or coordinates != "align_corners")
    inputs = {"x": numbers((1, 2, 4, 8))}
    constants = {"roi": EMPTY, "scales": _f32(1, 1, *scales)}
    model = one_node(
        "Resize", inputs, constants, opset=18, mode=mode,
        coordinate_transformation_mode=coordinates,
        exclude_outside=int(exclude and mode == "cubic"),
    )  # fmt: skip
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("scales", "shape"),
    [((4, 4), (1, 2, 4, 32)), ((0.5, 0.5), (1, 2, 2, 8)), ((2, 0.5), (1, 2, 4, 4))],
)
def test_the_dimension_is_resized_first_that_leaves_the_least_to_be_picked(
    scales: tuple[float, float], shape: tuple[int, ...]
) -> None:
    inputs = {"x": numbers((1, 2, 4, 8))}
    constants = {"roi": EMPTY, "scales": _f32(1, 1, *scales)}
    first, last = lowered(one_node("Resize", inputs, constants, opset=18, mode="linear")).ops
    assert first.shape == shape
    assert last.shape[2:] == (4 * scales[0], 8 * scales[1])


def test_older_forms_are_as_in_onnx_runtime() -> None:
    inputs = {"x": numbers((1, 2, 4, 5))}
    for mode in ("nearest", "linear"):
        scales = {"scales": _f32(1, 1, 2, 3)}
        assert_as_runtime(one_node("Resize", inputs, scales, opset=10, mode=mode), inputs)
        assert_as_runtime(one_node("Upsample", inputs, scales, opset=9, mode=mode), inputs)
        old = one_node("Upsample", inputs, opset=7, mode=mode, scales=[1.0, 1.0, 2.0, 2.0])
        assert_as_runtime(old, inputs)


def test_a_whole_factor_needs_no_table() -> None:
    inputs = {"x": numbers((1, 2, 4, 5))}
    scales = {"roi": EMPTY, "scales": _f32(1, 1, 2, 2)}
    model = one_node(
        "Resize", inputs, scales, opset=18, mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip
    (nest,) = lowered(model).ops
    atoms = [atom for index in nest.reads[0].index for atom, _ in index.terms]
    assert not any(isinstance(atom, Fetch) for atom in atoms)


def test_cropping_puts_a_value_outside() -> None:
    inputs = {"x": numbers((1, 1, 4, 5))}
    constants = {
        "roi": _f32(0, 0, -0.2, 0.1, 1, 1, 0.7, 1.3), "scales": EMPTY,
        "sizes": np.asarray((1, 1, 3, 6), np.int64),
    }  # fmt: skip
    model = one_node(
        "Resize", inputs, constants, opset=18, mode="linear", extrapolation_value=10.0,
        coordinate_transformation_mode="tf_crop_and_resize",
    )  # fmt: skip
    assert_as_runtime(model, inputs, rtol=1e-4, atol=1e-5)


def test_dimensions_that_stay_are_no_work() -> None:
    inputs = {"x": numbers((1, 2, 4, 5))}
    constants = {"roi": EMPTY, "scales": _f32(1, 1, 1, 1)}
    model = one_node("Resize", inputs, constants, opset=18, mode="linear")
    assert_as_runtime(model, inputs)
    (nest,) = lowered(model).ops
    assert len(nest.reads) == 1


@pytest.mark.parametrize(
    ("attributes", "dtype", "reason"),
    [
        ({"antialias": 1, "mode": "linear"}, "float32", "it is antialiased"),
        ({"mode": "linear"}, "uint8", "it interpolates u8"),
        ({"mode": "sharp"}, "float32", "its mode is 'sharp'"),
        ({"nearest_mode": "up"}, "float32", "its nearest_mode is 'up'"),
        (
            {"coordinate_transformation_mode": "odd"}, "float32",
            "its coordinate_transformation_mode is 'odd'",
        ),
        (
            {"coordinate_transformation_mode": "align_corners"}, "float32",
            "it aligns corners of a size that is no whole number",
        ),
    ],
)  # fmt: skip
def test_what_is_not_covered_says_why(
    attributes: dict[str, int | str], dtype: str, reason: str
) -> None:
    inputs = {"x": numbers((1, 2, 4, 5), dtype)}
    constants = {"roi": EMPTY, "scales": _f32(1, 1, 2, 1.5)}
    with pytest.raises(ModelError, match=reason):
        lowered(one_node("Resize", inputs, constants, opset=18, **attributes))


def test_scales_that_are_fed_are_refused() -> None:
    inputs = {"x": numbers((1, 2, 4, 5)), "scales": _f32(1, 1, 2, 2)}
    model = one_node("Resize", inputs, order=["x", "", "scales"], opset=18)
    with pytest.raises(ModelError, match="its input 'scales' is not a constant"):
        lowered(model)
