"""Which places a resized dimension is made of, and with which weights; plain arithmetic on arrays.

Coordinates are computed in f32, as ONNX Runtime does: where a place is a tie, it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = Any
"""An array of f32: NumPy's operators are not typed for one of a known element type."""


@dataclass(frozen=True, slots=True)
class AxisStretch:
    """One dimension that is resized."""

    size: int
    outputs: int
    scale: float
    region: tuple[float, float] = (0.0, 1.0)
    """The part of the data that is cropped, as fractions; only of `tf_crop_and_resize`."""


def coordinates(stretch: AxisStretch, mode: str) -> Floats | None:
    """Return where each output lies in the data, as f32; None for a mode that is not known."""
    if mode not in _COORDINATES:
        return None
    x = np.arange(stretch.outputs, dtype=np.float32)
    return np.asarray(_COORDINATES[mode](x, stretch), np.float32)


def nearest(where: Floats, stretch: AxisStretch, mode: str) -> Floats | None:
    """Return the place of the nearest element; None for a mode that is not known."""
    half = np.float32(0.5)
    rounded: dict[str, Floats] = {
        "round_prefer_floor": np.ceil(where - half),
        "round_prefer_ceil": np.floor(where + half),
        "floor": np.floor(where),
        "ceil": np.ceil(where),
        "simple": np.trunc(where) if stretch.scale >= 1 else np.ceil(where),
    }
    if mode not in rounded:
        return None
    return np.clip(rounded[mode], 0, stretch.size - 1).astype(np.int64)


def linear(where: Floats) -> tuple[Floats, Floats]:
    """Return the two places around each coordinate, and their weights."""
    low = np.floor(where)
    part = where - low
    return _stacked([low, low + 1]), _stacked([1 - part, part])


def cubic(where: Floats, sharpness: float) -> tuple[Floats, Floats]:
    """Return the four places around each coordinate, and their weights."""
    low = np.floor(where)
    part = (where - low).astype(np.float64)
    distances = [part + 1, part, 1 - part, 2 - part]
    weights = [_cubic_weight(each, sharpness) for each in distances]
    return _stacked([low - 1, low, low + 1, low + 2]), _stacked(weights)


def without_outside(places: Floats, weights: Floats, size: int) -> Floats:
    """Return the weights with nothing taken from outside the data, and a sum of one."""
    kept = np.where((places >= 0) & (places < size), weights, 0)
    return kept / kept.sum(axis=1, keepdims=True)


def _cubic_weight(distance: Floats, a: float) -> Floats:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, far)


def _stacked(columns: list[Floats]) -> Floats:
    return np.stack(columns, axis=1)


def _half_pixel(x: Floats, s: AxisStretch) -> Floats:
    return (x + np.float32(0.5)) / np.float32(s.scale) - np.float32(0.5)


def _half_pixel_symmetric(x: Floats, s: AxisStretch) -> Floats:
    # The output's size was rounded; this keeps the centre of the data where it was.
    adjustment = s.outputs / (s.scale * s.size)
    return s.size / 2 * (1 - adjustment) + _half_pixel(x, s)


def _align_corners(x: Floats, s: AxisStretch) -> Floats:
    return x * np.float32(s.size - 1) / np.float32(s.outputs - 1) if s.outputs > 1 else x * 0


def _crop_and_resize(x: Floats, s: AxisStretch) -> Floats:
    start, end = s.region
    if s.outputs == 1:
        return x * 0 + 0.5 * (start + end) * (s.size - 1)
    return start * (s.size - 1) + x * (end - start) * (s.size - 1) / (s.outputs - 1)


_COORDINATES: Mapping[str, Callable[[Floats, AxisStretch], Floats]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda x, s: _half_pixel(x, s) if s.outputs > 1 else x * 0,
    "align_corners": _align_corners,
    "asymmetric": lambda x, s: x / np.float32(s.scale),
    "tf_half_pixel_for_nn": lambda x, s: (x + np.float32(0.5)) / np.float32(s.scale),
    "tf_crop_and_resize": _crop_and_resize,
}
