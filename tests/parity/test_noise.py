from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burnish.meaning.node import TypedArray
from burnish.parity.noise import Noise


def _noise(values: NDArray[np.float64], moved: NDArray[np.float64]) -> Noise:
    noise = Noise()
    noise.add({"y": TypedArray(values, "f32")}, {"y": TypedArray(values + moved, "f32")})
    return noise


def test_what_is_left_of_large_numbers_may_move_as_these_do() -> None:
    values, moved = np.ones(1000), np.full(1000, 1e-8)
    values[7], moved[7] = 1e-5, 0.0
    allowed = _noise(values, moved).of("y", 5.0)
    assert allowed is not None
    np.testing.assert_allclose(allowed, 5e-8, rtol=1e-3)


def test_what_is_zero_and_never_moves_may_not_move() -> None:
    values, moved = np.ones(1000), np.full(1000, 1e-8)
    values[7] = moved[7] = 0.0
    allowed = _noise(values, moved).of("y", 5.0)
    assert allowed is not None
    assert allowed[7] == 0.0


def test_larger_elements_may_move_farther() -> None:
    values = np.r_[np.ones(1000), 100.0]
    allowed = _noise(values, values * np.r_[np.full(1000, 1e-8), 0.0]).of("y", 1.0)
    assert allowed is not None
    assert 9e-7 < allowed[-1] < 1.1e-6


def test_a_single_number_has_noise_too() -> None:
    allowed = _noise(np.asarray(2.0), np.asarray(1e-7)).of("y", 3.0)
    assert allowed is not None
    np.testing.assert_allclose(allowed, 3e-7, rtol=1e-6)


def test_what_is_nearly_zero_does_not_widen_what_others_may() -> None:
    values = np.random.default_rng(3).standard_normal(10_000)
    moved = np.full(values.size, 1e-3)
    allowed = _noise(values, moved).of("y", 1.0)
    assert allowed is not None
    usual = np.abs(values) < 2
    assert allowed[usual].max() < 4e-3
    assert allowed.min() > 0.999e-3


def test_how_far_elements_move_together_is_that_of_the_worst_run() -> None:
    values, noise = np.ones((4, 5)), Noise()
    for moved in (1e-3, 3e-3, 2e-3):
        noise.add({"y": TypedArray(values, "f32")}, {"y": TypedArray(values + moved, "f32")})
    np.testing.assert_allclose(noise.spreads["y"].whole, 3e-3, rtol=1e-9)
    np.testing.assert_allclose(noise.spreads["y"].along[1], np.full(5, 3e-3), rtol=1e-9)
