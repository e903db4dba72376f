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


CANCELLING = np.array([[1e8, 1.0, -1e8], [2e8, 3.0, -2e8]])


def test_sums_are_off_by_roundings_of_what_was_added_up() -> None:
    moved = [Noisy(seed).reduced("sum", CANCELLING + 0.3, (1,), "f32") for seed in range(6)]
    off = np.abs(np.array(moved) - (CANCELLING + 0.3).sum(axis=1)).max(axis=0)
    assert (off > 1).all()
    assert (off <= 6e8 * UNIT_ROUNDOFF["f32"]).all()


def test_products_are_off_by_roundings_of_what_was_added_up() -> None:
    ones = np.full((3, 1), 1.1)
    moved = [Noisy(seed).product(CANCELLING, ones, "f32") for seed in range(6)]
    assert (np.abs(np.array(moved) - CANCELLING @ ones).max(axis=0) > 1).all()


def test_nothing_is_lost_of_sums_of_few_whole_numbers() -> None:
    whole = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(Noisy(1).reduced("sum", whole, (0,), "f32"), whole.sum(axis=0))
    np.testing.assert_array_equal(Noisy(1).product(whole, whole.T, "f32"), whole @ whole.T)


def test_factors_are_rounded_but_for_those_of_few_bits() -> None:
    thirds, ones = THIRDS.reshape(-1, 1).repeat(2, axis=1), np.array([[1.0], [0.0]])
    moved = Noisy(1, factors=2.0**-11).product(thirds, ones, "f32") / thirds[:, :1] - 1
    assert 2.0**-13 < np.abs(moved).max() < 2.0**-10
    short = np.arange(64.0).reshape(32, 2)
    np.testing.assert_array_equal(Noisy(1, factors=2.0**-11).product(short, ones, "f32"),
                                  short @ ones)  # fmt: skip


def test_where_all_is_stored_in_fewer_bits_inputs_and_weights_are_off_once() -> None:
    noisy = Noisy(1, least=2.0**-8, factors=2.0**-8)
    held = noisy.held(THIRDS.astype(np.float32), "f32")
    assert 2.0**-10 < np.abs(held / THIRDS - 1).max() <= 2.0**-8 + 2.0**-20
    pair = held.reshape(-1, 1)
    product = noisy.product(np.hstack([pair, pair]), np.array([[1.0], [0.0]]), "f32")
    assert np.abs(product / pair - 1).max() < 1e-6  # what was stored is not rounded again


def test_small_numbers_of_f16_have_fewer_bits() -> None:
    moved = Noisy(1).rounded(np.full(1000, 1.3e-6), "f16")
    assert 1e-8 < np.abs(moved - 1.3e-6).max() <= 2.0**-25


def test_small_numbers_of_f32_have_fewer_bits_where_f16_is_asked_for() -> None:
    unit, step = UNIT_ROUNDOFF["f16"], 2.0**-25
    asked = Noisy(1, least=unit, factors=unit, least_step=step)
    small, short = np.full(1000, 1.3e-6), np.full(1000, 2.0**-27)  # f16 holds neither
    for moved, value in (
        (asked.rounded(small, "f32"), small),
        (asked.held(small.astype(np.float32), "f32"), small.astype(np.float32)),
        (asked.held(short.astype(np.float32), "f32"), short),
    ):
        assert 1e-8 < np.abs(moved - value).max() <= step
    kept = np.array([0.0, 2.0**-24, 3 * 2.0**-24, 1.0, np.inf], np.float32)
    np.testing.assert_array_equal(asked.held(kept, "f32"), kept)
