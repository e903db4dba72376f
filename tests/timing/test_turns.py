from __future__ import annotations

import itertools

import pytest

from burnish.timing.turns import Turns, flat, ratio, take_turns


def test_several_take_turns_and_who_goes_first_alternates() -> None:
    said: list[str] = []
    ticks = itertools.count(0, 1_000_000_000)
    calls = [lambda: said.append("a"), lambda: said.append("b")]
    first, second = take_turns(calls, Turns(rounds=3), lambda: next(ticks))
    assert first == second == ((1.0,), (1.0,), (1.0,))
    assert "".join(said) == "abbaabbaab"


def test_the_first_calls_of_a_turn_are_dropped_and_turns_go_on_for_a_while() -> None:
    said: list[str] = []
    ticks = itertools.count(0, 1_000_000_000)
    turns = Turns(rounds=1, warmup=0, calls=2, settling=1, for_s=25.0)
    (own,) = take_turns([lambda: said.append("a")], turns, lambda: next(ticks))
    assert {len(one) for one in own} == {2}
    assert len(said) == 3 * len(own)
    assert len(own) > 1


def test_short_calls_are_repeated_until_a_block_is_full() -> None:
    ticks = itertools.count(0, 1_000_000)
    turns = Turns(rounds=1, warmup=0, block_s=0.05)
    (own,) = take_turns([lambda: None], turns, lambda: next(ticks))
    assert len(flat(own)) > 10


def test_a_ratio_is_the_median_over_what_ran_side_by_side() -> None:
    assert ratio((1.0, 2.0, 4.0), (3.0, 2.0, 2.0)) == 1.0
    with pytest.raises(ValueError, match="shorter"):
        ratio((1.0, 2.0), (1.0,))
