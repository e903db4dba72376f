from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.core.arrays import Arrays
from burnish.feeds.feed import Feeds
from burnish.meaning.evaluate import Evaluator
from burnish.parity.examine import ROUNDED_AS_FAR, UNTOLD
from burnish.parity.reference import UNJUDGED, run_reference
from burnish.store.stored import StoredModel

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[N] x) => (float[N] OUTPUT) { OUTPUT = Neg(x) }
"""
FEEDS = Feeds({"x": np.array([1.0, 2.0, 4.0], np.float32)}, {"N": 3})
RIGHT = np.array([-1.0, -2.0, -4.0], np.float32)


def stored(folder: Path, output: str = "y", text: str = MODEL) -> StoredModel:
    path = folder / f"{output}.onnx"
    onnx.save(onnx.parser.parse_model(text.replace("OUTPUT", output)), path)
    return StoredModel(path, output)


def test_outputs_from_elsewhere_that_are_the_same_pass(tmp_path: Path) -> None:
    model = stored(tmp_path)
    near = {"y": RIGHT * np.float32(1 + 1e-6)}
    sample = run_reference(model, FEEDS).judged(model, "f32", near).sample
    assert sample.passed
    assert sample.bindings == {"N": 3}


def test_a_planted_error_fails_and_is_found_at_its_index(tmp_path: Path) -> None:
    model = stored(tmp_path)
    wrong = RIGHT.copy()
    wrong[1] = -2.5
    sample = run_reference(model, FEEDS).judged(model, "f32", {"y": wrong}).sample
    assert not sample.passed
    assert sample.diffs[0].worst_index == (1,)


def test_roundings_have_one_budget_for_all_engines_and_its_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {"y": RIGHT + np.float32(0.5)}
    model = stored(tmp_path)
    enough = run_reference(model, FEEDS).judged(model, "f32", wrong)
    assert not any(UNTOLD in doubt for doubt in enough.doubts)
    monkeypatch.setattr("burnish.parity.reference.PATIENT", 0.0)
    short = run_reference(model, FEEDS)
    for _ in range(2):
        found = short.judged(model, "f32", wrong)
        assert not found.sample.passed
        assert any(UNTOLD in doubt for doubt in found.doubts)
    assert len(short.patient) == 1


@pytest.mark.parametrize(("precision", "passed"), [("f32", False), ("bf16", True)])
def test_what_passes_only_by_the_tolerance_of_a_weaker_type_says_so(
    tmp_path: Path, precision: str, passed: bool
) -> None:
    model = stored(tmp_path)
    rounded = {"y": RIGHT * np.float32(1.003)}
    found = run_reference(model, FEEDS).judged(model, precision, rounded)
    assert found.sample.passed == passed
    assert found.allowed == ("bf16" if passed else "")


def test_outputs_of_another_name_are_compared_by_position(tmp_path: Path) -> None:
    reference = run_reference(stored(tmp_path), FEEDS)
    assert reference.judged(stored(tmp_path, "renamed"), "f32", {"renamed": RIGHT}).sample.passed


def test_a_missing_output_fails(tmp_path: Path) -> None:
    model = stored(tmp_path)
    assert not run_reference(model, FEEDS).judged(model, "f32", {}).sample.passed


def test_models_that_cannot_be_fed_the_same_fail_with_the_reason(tmp_path: Path) -> None:
    other = stored(
        tmp_path, "z", MODEL.replace("(float[N] x)", "(float[N] w)").replace("Neg(x)", "Neg(w)")
    )
    sample = run_reference(stored(tmp_path), FEEDS).judged(other, "f32", {"z": RIGHT}).sample
    assert not sample.passed
    assert "lacks the input x" in sample.problem


@pytest.mark.parametrize(("times", "passed"), [(1.0, True), (40.0, False)])
def test_where_meaning_takes_too_long_outputs_may_be_as_far_as_roundings_take_the_model(
    tmp_path: Path, times: float, passed: bool
) -> None:
    model = stored(tmp_path)
    drift = np.array([1e-3, -2e-3, 1e-3], np.float32)
    reference = run_reference(model, FEEDS, alike=lambda _: {"y": RIGHT + drift}, longest_s=0.0)
    found = reference.judged(model, "f32", {"y": RIGHT - times * drift})
    assert found.sample.passed == passed
    assert (
        not run_reference(model, FEEDS, longest_s=0.0)
        .judged(model, "f32", {"y": RIGHT - drift})
        .sample.passed
    )


@pytest.mark.parametrize(("factor", "longest_s", "said"), [
    (1.0, 0.0, []),
    (1 + 5e-5, 1e6, []),
    (1 + 5e-5, 0.0, [f"{UNJUDGED}: the time ran out"]),
    (1 + 1e-3, 0.0, [f"{UNJUDGED}: the time ran out", f"y: {ROUNDED_AS_FAR}"]),
])  # fmt: skip
def test_what_was_judged_without_truth_or_forgiven_says_so(
    tmp_path: Path, factor: float, longest_s: float, said: list[str]
) -> None:
    model = stored(tmp_path)
    reference = run_reference(
        model, FEEDS, alike=lambda _: {"y": RIGHT * np.float32(1.001)}, longest_s=longest_s
    )
    found = reference.judged(model, "f32", {"y": RIGHT * np.float32(factor)})
    assert found.sample.passed
    assert list(found.doubts) == said


def test_how_far_roundings_take_a_model_is_found_out_once_for_all_engines(tmp_path: Path) -> None:
    model, asked = stored(tmp_path), []
    drift = np.array([1e-3, -2e-3, 1e-3], np.float32)

    def alike(inputs: Arrays) -> Arrays:
        asked.append(inputs)
        return {"y": RIGHT + drift}

    reference = run_reference(model, FEEDS, alike=alike, longest_s=0.0)
    for _ in range(3):
        assert reference.judged(model, "f32", {"y": RIGHT - drift}).sample.passed
    assert len(asked) == 1
    reference.alike({"x": np.zeros(3, np.float32)})
    assert len(asked) == 2


def test_a_reference_that_waited_long_for_what_it_judges_has_as_much_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = stored(tmp_path)
    x = np.linspace(1.0, 4.0, 200, dtype=np.float32)
    reference = run_reference(model, Feeds({"x": x}, {"N": 200}))
    later = time.monotonic() + 1e6
    monkeypatch.setattr("burnish.core.budget.time.monotonic", lambda: later)
    # within the tolerance of every element, and beyond what roundings do to all
    found = reference.judged(model, "f32", {"y": -x * np.float32(1 + 5e-5)})
    assert not found.sample.passed


@pytest.mark.parametrize("longest_s", [30.0, 0.0])
def test_what_a_model_means_is_found_out_once_for_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest_s: float
) -> None:
    model, evaluated = stored(tmp_path), []
    outputs: Callable[..., object] = Evaluator.outputs

    def counted(*given: object, **named: object) -> object:
        evaluated.append(given)
        return outputs(*given, **named)

    monkeypatch.setattr(Evaluator, "outputs", counted)
    x = np.linspace(1.0, 4.0, 200, dtype=np.float32)
    feeds = Feeds({"x": x}, {"N": 200})
    results = [{"y": -x * np.float32(1 + off)} for off in (0.1, 3e-3, -3e-3, 2e-3)]
    reference = run_reference(model, feeds, longest_s=longest_s)
    first = reference.judged(model, "bf16", results[0])
    asked = len(evaluated)
    assert asked > 0
    others = [reference.judged(model, "bf16", result) for result in results[1:]]
    assert len(evaluated) == asked
    alone = [
        run_reference(model, feeds, longest_s=longest_s).judged(model, "bf16", result)
        for result in results
    ]
    assert [first, *others] == alone
    assert [one.sample.passed for one in alone] == [False, True, True, True]
