"""Few of many elements a little beyond a tolerance are let pass in 16 bits, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import burnish
from burnish.core.arrays import Array
from burnish.parity.compare import compare_tensor
from burnish.parity.report import JudgedSample, TensorDiff, VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.rewrite.precision import half
from burnish.study.optimize_report import RewriteRejectedError
from burnish.study.rounding_tail import doubled, is_tail, tail_of
from rewriting import Graph, samples

FP16 = Tolerances(arithmetic="f16")


def diff(reference: Array, *, off: float, at: int = 3) -> TensorDiff:
    given = reference.copy()
    given.reshape(-1)[at] += off
    return compare_tensor("logits", reference, given, FP16)


MANY = np.random.default_rng(0).standard_normal((4, 1000)).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (diff(MANY, off=0.012), True),
        (diff(MANY, off=0.1), False),
        (diff(MANY[:1, :10], off=0.012), False),
        (diff(MANY, off=np.nan), False),
    ],
    ids=["one a little off", "one far off", "few elements", "not a number"],
)
def test_a_tail_is_told_from_an_error(one: TensorDiff, expected: bool) -> None:
    assert not one.passed
    assert is_tail(one) is expected


def report(*diffs: TensorDiff, problem: str = "") -> VerifyReport:
    sample = JudgedSample("1", {}, diffs, problem)
    return VerifyReport("a", "b", "onnxruntime-cpu", "onnxruntime-cpu", (sample,))


def test_a_report_that_is_only_off_by_a_tail_says_by_how_much() -> None:
    off = diff(MANY, off=0.012)
    said = tail_of(report(off))
    assert said.startswith("allowed twice the usual: logits has 1 of 4,000 elements out of")
    assert said.endswith("the tail of many roundings")
    assert tail_of(report(off, diff(MANY, off=9.0))) == ""
    assert tail_of(report(off, problem="it does not run")) == ""
    assert tail_of(report(diff(MANY, off=0.0))) == ""


def test_what_the_user_asked_for_is_not_doubled() -> None:
    assert doubled(FP16).relative == pytest.approx(2e-2)
    asked = Tolerances(arithmetic="f16", absolute=1e-3)
    assert doubled(asked) is asked
    assert doubled(Tolerances()) == Tolerances()


def test_a_model_that_is_off_as_a_whole_is_rejected_though_no_element_is_far_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = Graph(opset=17)
    x = g.input("x", ["batch", 64])
    y = g.op("MatMul", x, samples(64, 64))
    y.shape = ir.Shape(["batch", 64])
    onnx.save(ir.serde.serialize_model(g.model(y)), tmp_path / "model.onnx")
    right = half._narrow
    monkeypatch.setattr(
        half, "_narrow", lambda array, kind: right(np.asarray(array) * np.float32(1.015), kind)
    )
    with pytest.raises(RewriteRejectedError, match="out of tolerance"):
        burnish.optimize(
            tmp_path / "model.onnx", output=tmp_path / "half.onnx", precision="fp16",
            keep_io=True, shape={"batch": 64}, budget=0.0,
        )  # fmt: skip
