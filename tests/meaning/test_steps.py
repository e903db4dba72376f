from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.meaning.numbers import Noisy, Reals
from burnish.meaning.steps import NEAR, Led, Way

DICE = np.random.default_rng(0)


def steps(*shape: int) -> Array:
    return DICE.normal(0, 20, shape)


def test_a_way_remembers_what_is_cut_to_steps_and_changes_nothing() -> None:
    numbers, way, value = Reals(), Way(), steps(3, 4)
    numbers.steps = way
    assert (numbers.call("round", [value], "f32") == np.rint(value)).all()
    numbers.call("exp", [value], "f32")
    assert way.is_known
    assert len(way.values) == 1
    assert not Way().is_known


@pytest.mark.parametrize("turn", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
def test_what_is_nearly_as_far_falls_to_the_same_side_in_any_layout(turn: tuple[int, ...]) -> None:
    known = np.floor(steps(2, 5, 6, 7)) + 0.5 - 1e-9
    other = (known + 2e-9).transpose(turn)
    led = Led([known])
    assert (np.rint(other) != np.rint(known.transpose(turn))).all()
    assert (led.taken(other) == known.transpose(turn)).all()
    assert led.went_along


def test_axes_may_have_been_taken_together() -> None:
    known = steps(2, 4, 6, 6)
    rows = known.transpose(0, 2, 3, 1).reshape(72, 4) + NEAR / 2
    led = Led([known])
    assert (led.taken(rows) == known.transpose(0, 2, 3, 1).reshape(72, 4)).all()
    assert led.went_along


@given(st.floats(1.03, 1.5))
def test_a_channel_that_is_off_stays_off(factor: float) -> None:
    known = np.random.default_rng(1).normal(30, 5, (4, 16, 9))
    other = known.copy()
    other[:, 3] *= factor
    other[:, 5] += NEAR / 3
    led = Led([known])
    found = led.taken(other)
    assert (found[:, 3] == other[:, 3]).mean() > 0.9
    assert (np.delete(found, 3, axis=1) == np.delete(known, 3, axis=1)).all()
    assert led.went_along


def test_a_clip_that_one_of_them_left_to_the_byte_is_no_other_way() -> None:
    known = steps(4, 50)
    for first, second in ((np.maximum(known, 0), known), (known, np.clip(known, -9, 9))):
        led = Led([first])
        inside = first == second
        assert (led.taken(second + NEAR / 4)[inside] == first[inside]).all()
        assert led.went_along


def test_another_scale_is_no_other_way() -> None:
    first, second = steps(4, 8), steps(4, 8)
    led = Led([first, second])
    assert (led.taken(first) == first).all()
    assert (led.taken(second * 1.05) == second * 1.05).all()
    assert led.went_along


def test_what_is_cut_twice_may_be_cut_once_and_once_twice() -> None:
    first, second = steps(4, 8), steps(4, 8)
    led = Led([first, second, first])
    assert not led.went_along
    for each in (second, first, second):
        assert (led.taken(each) == each).all()
    assert led.went_along


def test_where_it_is_not_known_what_stands_for_what_nothing_is_led() -> None:
    value = steps(4, 8)
    for calls in (
        [value, value * 1.05],  # once more than there is
        [],  # an engine cuts within an operator
        [DICE.permutation(value.reshape(-1)).reshape(4, 8)],  # its numbers, in no known order
        [steps(3, 3)],  # of no such size
    ):
        led = Led([value])
        for each in calls:
            led.taken(each)
        assert not led.went_along


def test_noise_does_not_blur_what_is_led() -> None:
    value = np.floor(steps(1000)) + 0.499
    noisy = Noisy(1, constants_only=True)
    assert (noisy.call("round", [value], "f32") != np.rint(value)).any()
    noisy.steps = Led([value])
    assert (noisy.call("round", [value], "f32") == np.rint(value)).all()
