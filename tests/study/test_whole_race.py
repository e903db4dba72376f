"""A plan is kept only where it is faster than ONNX Runtime with the whole model."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from burnish.bench.measure import Comparison, Verdict
from burnish.bench.subject import BenchOptions
from burnish.codegen.pipeline import PlanOptions, plan, prepare, whole
from burnish.codegen.place import BuiltPlan, PreparedModel
from burnish.codegen.schedule import Predicted
from burnish.core.errors import ModelError, UsageError
from burnish.core.progress import Progress
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study import whole_race
from burnish.study.whole_race import RIVALS, Field, raced
from codegen.hand_written import ABOUT
from codegen.models import PORTABLE, mlp, save

TOLD = dataclasses.replace(
    ABOUT,
    inputs=(TensorSpec("x", "f32", ("n", 8)),),
    outputs=(TensorSpec("y", "f32", ("n", 4)),),
)
FEEDS = Feeds({"x": np.ones((3, 8), np.float32)}, {})


class Collected:
    """Progress that is kept."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        self.stages.append(stage)


@pytest.fixture
def prepared() -> PreparedModel:
    return prepare(mlp(), {"batch": 3})


@pytest.fixture
def field(prepared: PreparedModel, tmp_path: Path) -> Field:
    stored = StoredModel(save(mlp(), tmp_path / "mlp.onnx"), "mlp")
    return Field(stored, prepared, TOLD, FEEDS, PORTABLE)


def built(prepared: PreparedModel) -> BuiltPlan:
    return plan(prepared, PlanOptions(PORTABLE, Predicted(PORTABLE)))


def rivals(monkeypatch: pytest.MonkeyPatch, **times: float | None) -> None:
    """Let engines take so many times as long as the plan, give or take a tenth."""

    def measured(subjects: list[whole_race.BenchSubject], *_: object, progress: Progress) -> object:
        progress.step("bench", 1, 1, "measured")
        assert [one.engine for one in subjects] == ["burnish", *RIVALS]
        assert subjects[0].model.compiled is not None
        rows = [_compared(name.replace("_", "-"), ratio) for name, ratio in times.items()]
        return SimpleNamespace(comparisons=rows, machine=SimpleNamespace(warnings=("busy",)))

    monkeypatch.setattr(whole_race, "bench", measured)


def _compared(engine: str, ratio: float | None) -> Comparison:
    if ratio is None:
        why = f"{engine} failed: it fell"
        return Comparison(
            "burnish", engine, Verdict.NOT_ENOUGH, why, (), None, None, None, 0.98, None
        )
    low, high = 1 / ratio / 1.1, 1 / ratio * 1.1
    verdict = Verdict.SLOWER if high < 1 else Verdict.FASTER if low > 1 else Verdict.NO_DIFFERENCE
    return Comparison("burnish", engine, verdict, "", (), 1 / ratio, low, high, 0.98, 0.1)


@pytest.mark.parametrize(
    ("ratio", "is_kept", "said"),
    [
        (1.5, True, "1.50 times as fast as onnxruntime-cpu (1.36 to 1.65)"),
        (1.05, True, "1.05 times as fast as onnxruntime-cpu (0.95 to 1.16), no difference shown"),
        (1.01, False, "ONNX Runtime runs the whole model as fast"),
        (0.5, False, "0.50 times as fast as onnxruntime-cpu (0.45 to 0.55), slower"),
    ],
)
def test_the_plan_must_be_faster_in_fresh_processes(
    monkeypatch: pytest.MonkeyPatch, field: Field, ratio: float, is_kept: bool, said: str
) -> None:
    rivals(monkeypatch, onnxruntime_cpu=ratio)
    own = built(field.prepared)
    outcome = raced({"it": own}, field)
    assert (outcome.built is own) == is_kept
    assert said in outcome.note
    assert bool(outcome.built.plan.ort_steps) != is_kept
    reasons = {r for step in outcome.built.plan.ort_steps for r in step.reasons.values()}
    assert reasons == (set() if is_kept else {outcome.note})


def test_every_engine_is_met_and_the_interval_is_kept(
    monkeypatch: pytest.MonkeyPatch, field: Field
) -> None:
    rivals(monkeypatch, onnxruntime_cpu=1.5, openvino=0.8)
    outcome = raced({"it": built(field.prepared)}, field)
    assert not outcome.built.plan.ort_steps, "a folder cannot run OpenVINO: the plan is the better"
    assert [(row.engine, row.verdict) for row in outcome.rows] == [
        ("onnxruntime-cpu", "faster"), ("openvino", "slower")
    ]  # fmt: skip
    assert outcome.rows[1].low == pytest.approx(0.8 / 1.1)
    assert outcome.rows[1].high == pytest.approx(0.8 * 1.1)
    assert "0.80 times as fast as openvino (0.73 to 0.88), slower" in outcome.note
    assert outcome.warnings == ("busy",)


def test_the_rounds_of_a_race_are_told_while_they_run(
    monkeypatch: pytest.MonkeyPatch, field: Field
) -> None:
    rivals(monkeypatch, onnxruntime_cpu=1.5)
    told = Collected()
    raced({"it": built(field.prepared)}, dataclasses.replace(field, progress=told))
    assert told.stages == ["bench"]


def test_an_engine_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, field: Field) -> None:
    rivals(monkeypatch, onnxruntime_cpu=2.0, openvino=None)
    note = raced({"it": built(field.prepared)}, field).note
    assert "not compared with openvino: openvino failed: it fell" in note


def test_of_two_plans_the_faster_one_is_kept(monkeypatch: pytest.MonkeyPatch, field: Field) -> None:
    monkeypatch.setattr(whole_race, "take_turns", lambda *_: [[[2.0]] * 3, [[1.0]] * 3])
    rivals(monkeypatch, onnxruntime_cpu=3.0)
    slow, fast = built(field.prepared), built(field.prepared)
    outcome = raced({"the tuned plan": slow, "the predicted one": fast}, field)
    assert outcome.built is fast
    assert outcome.note == (
        "the predicted one takes 1.00 s, the tuned plan 2.00 s: "
        "3.00 times as fast as onnxruntime-cpu (2.73 to 3.30)"
    )


def test_where_all_is_with_the_library_nothing_is_raced(field: Field) -> None:
    left = whole(field.prepared, PORTABLE, "as a test")
    outcome = raced({"it": left}, field)
    assert outcome.built is left
    assert outcome.note == "ONNX Runtime runs the whole model: as a test"


@pytest.mark.slow
def test_a_real_race_has_an_interval(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_race, "TERMS", BenchOptions(rounds=3, blocks=2, budget_s=1.0))
    outcome = raced({"it": built(field.prepared)}, field)
    assert {row.engine for row in outcome.rows} <= set(RIVALS)
    assert all(row.low is not None and row.low > 0 for row in outcome.rows)


def test_a_model_that_does_not_run_itself_is_blamed_in_place_of_a_part(
    monkeypatch: pytest.MonkeyPatch, field: Field
) -> None:
    def fallen(*_: object, **__: object) -> None:
        raise ModelError("/tmp/burnish-race-0/part_0.onnx: it fell", hint="copy the folder again")

    monkeypatch.setattr(whole_race, "bench", fallen)
    with pytest.raises(ModelError, match="it fell"):
        raced({"it": built(field.prepared)}, field)
    narrow = Feeds({"x": np.ones((3, 7), np.float32)}, {})
    with pytest.raises(UsageError, match="input 'x' has the wrong shape"):
        raced({"it": built(field.prepared)}, dataclasses.replace(field, feeds=narrow))
