"""A plan is kept only where it is faster than ONNX Runtime with the whole model."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from burnish.codegen.pipeline import PlanOptions, plan, prepare, whole
from burnish.codegen.schedule import Predicted
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.study import whole_race
from burnish.study.whole_race import ROUNDS, raced, rounds
from codegen.hand_written import ABOUT
from codegen.models import PORTABLE, mlp

TOLD = dataclasses.replace(
    ABOUT,
    inputs=(TensorSpec("x", "f32", ("n", 8)),),
    outputs=(TensorSpec("y", "f32", ("n", 4)),),
)
FEEDS = Feeds({"x": np.ones((3, 8), np.float32)}, {})


class Clock:
    """A clock that calls move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def call(self, seconds: float) -> None:
        self.now += seconds


def test_all_are_timed_in_every_round() -> None:
    clock = Clock()
    own, ort = rounds([lambda: clock.call(0.05), lambda: clock.call(0.2)], clock)
    assert own == pytest.approx([0.05] * ROUNDS)
    assert ort == pytest.approx([0.2] * ROUNDS)


@pytest.mark.parametrize(
    ("own_s", "library_s", "is_kept", "said"),
    [
        (1.0, 1.5, True, "it takes 1.00 s, ONNX Runtime 1.50 s: 1.50 times as fast"),
        (1.0, 1.01, False, "ONNX Runtime runs the whole model as fast"),
        (2.0, 1.0, False, "(it takes 2.00 s, ONNX Runtime 1.00 s)"),
    ],
)
def test_the_plan_must_be_faster(
    monkeypatch: pytest.MonkeyPatch, own_s: float, library_s: float, is_kept: bool, said: str
) -> None:
    monkeypatch.setattr(whole_race, "rounds", lambda *_: [[own_s] * 3, [library_s] * 3])
    prepared = prepare(mlp(), {"batch": 3})
    built = plan(prepared, PlanOptions(PORTABLE, Predicted(PORTABLE)))
    winner, note = raced({"it": built}, prepared, TOLD, FEEDS, PORTABLE)
    assert (winner is built) == is_kept
    assert said in note
    assert bool(winner.plan.ort_steps) != is_kept
    reasons = {r for step in winner.plan.ort_steps for r in step.reasons.values()}
    assert reasons == (set() if is_kept else {note})


def test_of_two_plans_the_faster_one_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_race, "rounds", lambda *_: [[2.0] * 3, [1.0] * 3, [3.0] * 3])
    prepared = prepare(mlp(), {"batch": 3})
    options = PlanOptions(PORTABLE, Predicted(PORTABLE))
    slow, fast = (plan(prepared, options) for _ in range(2))
    plans = {"the tuned plan": slow, "the predicted one": fast}
    winner, note = raced(plans, prepared, TOLD, FEEDS, PORTABLE)
    assert winner is fast
    assert note == (
        "the predicted one takes 1.00 s, the tuned plan 2.00 s, ONNX Runtime 3.00 s: "
        "3.00 times as fast as ONNX Runtime"
    )


def test_where_all_is_with_the_library_nothing_is_raced() -> None:
    prepared = prepare(mlp(), {"batch": 3})
    built = whole(prepared, PORTABLE, "as a test")
    winner, note = raced({"it": built}, prepared, TOLD, FEEDS, PORTABLE)
    assert winner is built
    assert note == "ONNX Runtime runs the whole model: as a test"
