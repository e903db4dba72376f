"""Which of several trials is the best, and whether it is better at all."""

from __future__ import annotations

from burnish.codegen.tune.trial import LEAST_SPREAD, Trial, Tuned, is_faster
from burnish.tile.schedule import Schedule


def trial(*samples_s: float, failure: str = "") -> Trial:
    return Trial(Schedule((len(samples_s),)), samples_s, failure)


def test_the_best_has_the_shortest_median() -> None:
    often = trial(1.0, 9.0, 9.0)
    steady = trial(2.0, 2.0, 2.0, 2.0)
    found = Tuned((often, trial(failure="crashed"), steady))
    assert found.best == steady
    assert found.schedule == steady.schedule
    assert found.seconds == 2.0


def test_without_a_time_there_is_no_best() -> None:
    assert Tuned((trial(failure="crashed"),)).best is None
    assert Tuned(()).schedule is None
    assert Tuned(()).seconds is None


def test_faster_means_by_more_than_the_spread() -> None:
    assert is_faster(trial(1.0, 1.0, 1.0), trial(1.1, 1.1, 1.1))
    assert not is_faster(trial(1.0, 1.0, 1.0), trial(1.05, 1.05, 1.05))
    assert not is_faster(trial(0.8, 1.0, 1.2), trial(1.1, 1.2, 1.3))


def test_what_has_no_time_is_never_faster() -> None:
    assert not is_faster(trial(failure="crashed"), trial(1.0))
    assert not is_faster(trial(failure="crashed"), trial(failure="crashed"))
    assert is_faster(trial(1.0), trial(failure="crashed"))


def test_rounds_that_agree_still_have_a_spread() -> None:
    assert trial(1.0, 1.0).spread == LEAST_SPREAD
    assert trial(failure="crashed").spread == LEAST_SPREAD
    assert trial(0.5, 1.0, 2.0).spread == 0.5
