from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.parity.spread import Spread, spread_of

RANDOM = np.random.default_rng(7)
TRUTH = RANDOM.standard_normal((12, 6, 5))
NOISE = 1e-3 * RANDOM.standard_normal(TRUTH.shape)


def spread(errors: np.ndarray, truth: np.ndarray = TRUTH, scale: float = 1.0) -> Spread:
    return spread_of(errors, truth, scale)


def beyond(errors: np.ndarray) -> tuple[float, int, int]:
    found = spread(errors).beyond(spread(NOISE), spread(TRUTH), 1.75)
    return found.ratio, found.axis, found.place


def test_errors_like_the_noise_are_explained_by_it() -> None:
    assert beyond(1e-3 * RANDOM.standard_normal(TRUTH.shape))[0] <= 1
    assert beyond(np.zeros_like(TRUTH))[0] == 0


def test_what_is_off_everywhere_a_little_is_found_as_a_whole() -> None:
    ratio, axis, _ = beyond(NOISE + 3e-3 * TRUTH)
    assert ratio > 1
    assert axis == -1 or ratio > 1.2


@pytest.mark.parametrize(("axis", "place"), [(0, 7), (1, 2), (2, 4)])
def test_one_wrong_slice_is_found_and_named(axis: int, place: int) -> None:
    errors = NOISE.copy()
    np.moveaxis(errors, axis, 0)[place] += 4e-3
    ratio, found, at = beyond(errors)
    assert ratio > 1
    assert (found, at) == (axis, place)


def test_a_single_large_number_hides_nothing() -> None:
    truth, noise, errors = TRUTH.copy(), NOISE.copy(), NOISE + 4e-3
    truth[3, 3, 3], noise[3, 3, 3], errors[3, 3, 3] = -3.4e38, 1e31, 1e31
    found = spread(errors, truth).beyond(spread(noise, truth), spread(truth, truth), 1.75)
    assert found.ratio > 1


def test_what_is_not_finite_counts_as_nothing() -> None:
    errors = NOISE.copy()
    errors[0, 0, :3] = np.nan, np.inf, -np.inf
    assert beyond(errors)[0] <= 1


def test_where_noise_does_nothing_no_error_is_explained() -> None:
    found = spread(np.full_like(TRUTH, 1e-9)).beyond(spread(0 * NOISE), spread(TRUTH), 1.75)
    assert found.ratio == np.inf
    assert found.said().endswith(" (root mean square), roundings by nothing")


@given(st.floats(1e-6, 1e6), st.integers(0, 2**16))
def test_what_counts_is_how_far_errors_are_beyond_the_noise_not_their_size(
    factor: float, seed: int
) -> None:
    errors = np.random.default_rng(seed).standard_normal(TRUTH.shape)
    pairs = [(errors, NOISE), (errors * factor, NOISE * factor)]
    ratios = [spread(e).beyond(spread(n), spread(TRUTH), 2.0).ratio for e, n in pairs]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-9)


@given(st.integers(0, 2**16))
def test_the_wider_of_two_explains_what_either_does(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, two, errors = (spread(random.standard_normal((4, 3)), np.ones((4, 3))) for _ in range(3))
    sizes = spread(np.ones((4, 3)), np.ones((4, 3)))
    ratios = [errors.beyond(each, sizes, 1.0).ratio for each in (one, two, one.wider(two))]
    assert ratios[2] <= min(ratios[:2]) + 1e-12


def test_the_farthest_of_many_slices_may_be_farther_than_a_single_one() -> None:
    """Elements of a slice go together, as those of a feature do: 128 say as much as 30."""
    truth = RANDOM.standard_normal((128, 768))
    together = np.repeat(RANDOM.standard_normal((32, 768)), 4, axis=0)
    noise = 1e-3 * np.ones_like(truth)
    found = spread(1.4e-3 * together, truth).beyond(
        spread(noise, truth), spread(truth, truth), 1.75
    )
    assert found.off > 1.0e-3 * 1.75 * math.sqrt(1 + 8 / 128)  # more than one slice alone may be
    assert found.ratio <= 1
    wrong = noise.copy()
    wrong[:, 753] = 2.5e-3
    assert spread(wrong, truth).beyond(spread(noise, truth), spread(truth, truth), 1.75).ratio > 1


def test_errors_whose_squares_no_type_holds_are_large_and_no_warning() -> None:
    found = spread_of(np.array([1e260, 0.0]), np.array([1e260, 1.0]), 1e260)
    assert 1e149 < found.whole < np.inf


def in_steps(moved: float, steps: float = 1.0) -> np.ndarray:
    """Return errors of 1,000 elements in steps of 1/64, of which this share moved by so many."""
    return np.where(RANDOM.random((1, 1000)) < moved, steps / 64, 0.0)


def test_what_noise_moves_now_and_then_by_a_whole_step_may_move_elsewhere() -> None:
    truth = np.round(64 * RANDOM.standard_normal((1, 1000))) / 64
    sizes = spread(truth, truth)
    noise = spread(in_steps(0.15), truth).wider(spread(in_steps(0.15), truth))
    assert np.median(noise.along[1]) == 0
    assert spread(in_steps(0.14), truth).beyond(noise, sizes, 1.75).ratio <= 1
    one_wrong = np.zeros((1, 1000))
    one_wrong[0, 557] = 16 / 64
    found = spread(one_wrong, truth).beyond(noise, sizes, 1.75)
    assert found.ratio > 1
    assert (found.axis, found.place) == (1, 557)


def test_of_a_few_slices_that_noise_moves_far_the_others_are_not_allowed_as_much() -> None:
    truth = RANDOM.standard_normal((1, 1000))
    sizes = spread(truth, truth)
    errors = 1e-6 * RANDOM.standard_normal((1, 1000))
    errors[0, :10] = 0.1
    noise = spread(errors, truth)
    one_wrong = np.zeros((1, 1000))
    one_wrong[0, 557] = 1e-3
    found = spread(one_wrong, truth).beyond(noise, sizes, 1.75)
    assert (found.axis, found.place) == (1, 557)
    assert found.ratio > 1
