"""What a benchmark's judge says of models that compute something else at every call."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench.measure import Placed
from burnish.bench.subject import BenchSubject
from burnish.feeds.choose import choose
from burnish.parity.reference import UNJUDGED, run_reference
from burnish.store import layout
from burnish.study import judge as judging
from burnish.study.judge import DRAWN, judge_of

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { BODY }
"""
PLACED = Placed(device="cpu", precision="f32", nodes_by_provider={}, threads=1, notes=())


@pytest.mark.parametrize(
    ("body", "note"), [("r = RandomNormalLike(x) y = Add(x, r)", DRAWN), ("y = Neg(x)", "")]
)
def test_numbers_drawn_at_random_are_judged_once_and_said_to_prove_little(
    body: str, note: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(MODEL.replace("BODY", body)), path)
    model = layout.stored(path)
    feeds = choose(model, bindings={"batch": 2})[0]
    judge = judge_of([BenchSubject("m", model, "onnxruntime-cpu")], model, feeds)
    right = {"y": -feeds.arrays["x"]}
    first = judge("m", PLACED, right)
    assert first.passed or note
    assert first.note.endswith(note)
    second = judge("m", PLACED, {"y": np.full_like(right["y"], 1e6)})
    assert (second == first) is bool(note)
    assert second.passed is (first.passed and bool(note))


@pytest.mark.parametrize("longest_s", [0.0, 1e6])
def test_a_row_that_was_judged_without_truth_says_so(
    longest_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(MODEL.replace("BODY", "y = Neg(x)")), path)
    model = layout.stored(path)
    feeds = choose(model, bindings={"batch": 2})[0]
    short = partial(run_reference, longest_s=longest_s)
    monkeypatch.setattr(judging, "run_reference", short)
    monkeypatch.setattr(judging, "_KEPT", {})
    judge = judge_of([BenchSubject("m", model, "onnxruntime-cpu")], model, feeds)
    found = judge("m", PLACED, {"y": -feeds.arrays["x"] * np.float32(1 + 5e-5)})
    assert found.passed is not bool(longest_s)
    assert (found.note == f"{UNJUDGED}: the time ran out") is not bool(longest_s)
