"""Rounds are fair, end early for the slow, and survive those that fail."""

from __future__ import annotations

from collections import Counter

from burnish.codegen.tune.measure import TrialRules, race


class Track:
    """Subjects with fixed speeds."""

    def __init__(self, **seconds: float) -> None:
        self.seconds = seconds
        self.asked: Counter[str] = Counter()
        self.calls: list[tuple[str, int, int]] = []
        self.fails_at: dict[str, int] = {}
        self.disturbed: dict[str, tuple[int, ...]] = {}

    def timed(self, subject: str, runs: int, settling: int) -> float | None:
        self.asked[subject] += 1
        self.calls.append((subject, runs, settling))
        if self.asked[subject] == self.fails_at.get(subject):
            return None
        if self.asked[subject] in self.disturbed.get(subject, ()):
            return 0.02
        return self.seconds[subject]


def test_close_subjects_are_timed_in_every_round() -> None:
    track = Track(a=1.0, b=1.1, c=1.2)
    found = race(["a", "b", "c"], track.timed, TrialRules(rounds=4))
    assert found == {"a": (1.0,) * 4, "b": (1.1,) * 4, "c": (1.2,) * 4}
    assert track.asked == {"a": 5, "b": 5, "c": 5}


def test_who_is_far_behind_is_timed_no_further() -> None:
    track = Track(a=1.0, b=1.5, c=5.0)
    found = race(["a", "b", "c"], track.timed, TrialRules(rounds=4))
    assert found == {"a": (1.0,) * 4, "b": (1.5,), "c": (5.0,)}
    assert track.asked == {"a": 5, "b": 2, "c": 1}


def test_some_are_timed_to_the_end() -> None:
    track = Track(a=1.0, ort=9.0)
    found = race(["a", "ort"], track.timed, TrialRules(rounds=3), always=("ort",))
    assert found["ort"] == (9.0,) * 3


def test_who_fails_is_out_and_the_others_go_on() -> None:
    track = Track(a=1.0, b=1.0, c=1.0)
    track.fails_at = {"a": 1, "b": 3}
    assert race(["a", "b", "c"], track.timed, TrialRules(rounds=3)) == {"c": (1.0,) * 3}
    assert track.asked == {"a": 1, "b": 3, "c": 4}


def test_short_runs_are_repeated_and_long_ones_need_no_settling() -> None:
    track = Track(short=0.003)
    race(["short"], track.timed, TrialRules(rounds=1, block_s=0.01, long_s=0.05))
    assert track.calls == [("short", 1, 1), ("short", 4, 1)]
    track = Track(long=0.06)
    race(["long"], track.timed, TrialRules(rounds=1, block_s=0.01, long_s=0.05))
    assert track.calls == [("long", 1, 1), ("long", 1, 0)]
    track = Track(nothing=0.0)
    race(["nothing"], track.timed, TrialRules(rounds=1, most_runs=7))
    assert track.calls[-1] == ("nothing", 7, 1)


def test_who_was_disturbed_at_the_first_look_is_looked_at_again() -> None:
    track = Track(a=1e-4, b=0.8e-4, c=3e-4)
    track.disturbed = {"b": (1, 2)}
    found = race(["a", "b", "c"], track.timed, TrialRules(rounds=3))
    assert found == {"a": (1e-4,) * 3, "b": (0.8e-4,) * 3, "c": (3e-4,)}
    assert [call for call in track.calls if call[0] == "c"] == [("c", 1, 1), *[("c", 1, 0)] * 2]


def test_who_fails_at_a_further_look_is_out() -> None:
    track = Track(a=1e-4, b=3e-4)
    track.fails_at = {"b": 2}
    assert race(["a", "b"], track.timed, TrialRules(rounds=3)) == {"a": (1e-4,) * 3}


def test_nobody_to_time_gives_nothing() -> None:
    assert race([], Track().timed, TrialRules()) == {}
