"""Who is far behind drops out, who fails is gone, and who was never timed may still win."""

from __future__ import annotations

from collections import Counter

from burnish.timing.race import RaceRules, race

RULES = RaceRules(rounds=3, behind=1.25, behind_at_first=2.0)


def test_without_a_first_look_everybody_runs_the_first_round() -> None:
    seconds = {1: 1.0, 2: 1.2, 3: 9.0}
    found = race(seconds, seconds.__getitem__, RULES)
    assert found == {1: [1.0] * 3, 2: [1.2] * 3, 3: [9.0]}


def test_a_first_look_keeps_the_hopeless_from_running_at_all() -> None:
    looks = {"a": 1.0, "b": 1.9, "c": 2.1}
    found = race(looks, looks.__getitem__, RULES, looks=looks)
    assert found == {"a": [1.0] * 3, "b": [1.9], "c": []}
    assert race(looks, looks.__getitem__, RULES, looks=looks, always=("c",))["c"] == [2.1] * 3


def test_who_fails_is_no_longer_what_others_are_measured_by() -> None:
    asked: Counter[str] = Counter()

    def timed(one: str) -> float | None:
        asked[one] += 1
        return None if one == "fast" else 5.0

    assert race(["fast", "slow"], timed, RULES, looks={"fast": 1.0, "slow": 1.9}) == {
        "slow": [5.0] * 3
    }
    assert asked == {"fast": 1, "slow": 3}
