from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from burnish.meaning.numbers import UNIT_ROUNDOFF, Noisy, Reals

VALUES = arrays.arrays(np.float64, st.integers(1, 50), elements=st.floats(-1e3, 1e3))
THIRDS = np.arange(1, 3000, 3) / 3


@given(VALUES, st.sampled_from(list(UNIT_ROUNDOFF)), st.integers(0, 5))
def test_noise_is_at_most_one_rounding(value: np.ndarray, dtype: str, seed: int) -> None:
    moved = Noisy(seed).rounded(value, dtype)
    allowed = 2 * UNIT_ROUNDOFF["f64"] + UNIT_ROUNDOFF[dtype]
    least = 2.0**-25 if dtype == "f16" else 0.0  # half a step of what is below all its bits
    assert (np.abs(moved - value) <= np.maximum(allowed * np.abs(value), least)).all()


def test_what_a_type_holds_exactly_is_not_disturbed() -> None:
    whole = np.array([0.0, -0.0, 1.0, 0.5, 1024.0, np.inf, -np.inf])
    np.testing.assert_array_equal(Noisy(0).rounded(whole, "f16"), whole)
    assert (Noisy(0).rounded(THIRDS, "f32") != THIRDS).mean() > 0.9


def test_loose_constants_are_disturbed_although_their_type_holds_them() -> None:
    weights = THIRDS.astype(np.float32)
    assert (Noisy(0, constants_only=True).loose(weights, "f32") != weights).mean() > 0.9


def test_round_numbers_are_no_accidents_of_rounding() -> None:
    written = np.float32([0, 1, -2, 0.5, 0.125, 100, -np.inf])
    np.testing.assert_array_equal(Noisy(0, constants_only=True).loose(written, "f32"), written)


def test_with_constants_only_results_are_off_by_what_f64_rounds() -> None:
    moved = Noisy(0, constants_only=True).rounded(THIRDS, "f32")
    assert 0 < np.abs(moved / THIRDS - 1).max() < 1e-14


def test_two_runs_of_noise_differ_and_equal_seeds_agree() -> None:
    first, again, other = (Noisy(seed).rounded(THIRDS, "f32") for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.9


def test_two_tensors_of_one_run_get_noise_of_their_own() -> None:
    noisy = Noisy(1)
    assert (noisy.rounded(THIRDS, "f32") != noisy.rounded(THIRDS, "f32")).mean() > 0.9


def test_equal_numbers_are_disturbed_equally_where_that_is_asked() -> None:
    twice = np.repeat(THIRDS, 2)
    moved = Noisy(1, alike=True).rounded(twice, "f32").reshape(-1, 2)
    np.testing.assert_array_equal(moved[:, 0], moved[:, 1])
    assert np.ptp(moved[:, 0] / THIRDS) > UNIT_ROUNDOFF["f32"]


def test_the_least_rounding_holds_for_every_type() -> None:
    moved = Noisy(1, least=2.0**-8).rounded(THIRDS, "f32")
    assert np.abs(moved / THIRDS - 1).max() > 2.0**-9


def test_near_a_step_noise_shows_both_sides() -> None:
    near = np.full(1000, 0.5 - 1e-9)
    rounded = Noisy(0).call("round", (near,), "f32")
    assert set(np.unique(rounded)) == {0.0, 1.0}


def test_two_seeds_that_follow_each_other_show_both_sides_of_every_border() -> None:
    border = np.full(1000, 0.5) * (1 + 1e-12)
    both = [Noisy(seed).call("round", (border,), "f32") for seed in (1, 2)]
    np.testing.assert_array_equal(both[0] + both[1], np.ones(1000))


def test_steps_that_are_found_from_the_data_are_not_blurred() -> None:
    near = np.full(1000, 0.5 - 1e-9)
    rounded = Noisy(0).with_steps_of_the_data().call("round", (near,), "f32")
    np.testing.assert_array_equal(rounded, np.zeros(1000))


def test_reals_keep_what_narrow_types_would_lose() -> None:
    third = np.array([1 / 3])
    for dtype in ("f16", "bf16", "f32"):
        np.testing.assert_array_equal(Reals().cast(third, "f64", dtype), third)


@pytest.mark.parametrize("dtype", ["f8e4m3fn", "f8e5m2"])
def test_types_that_only_store_weights_are_rounded(dtype: str) -> None:
    found = Reals().cast(np.array([1 / 3]), "f32", dtype)
    assert 0 < abs(found[0] - 1 / 3) < 0.1


def test_reals_become_integers_by_cutting() -> None:
    found = Reals().cast(np.array([1.9, -1.9]), "f32", "i32")
    assert found.dtype == np.int32
    assert found.tolist() == [1, -1]
