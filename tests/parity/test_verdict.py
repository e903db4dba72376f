from __future__ import annotations

import dataclasses

import numpy as np

from burnish.parity.compare import compare
from burnish.parity.report import JudgedSample, VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.parity.verdict import verdict

ONE = np.ones((2, 2), np.float32)
EQUAL = JudgedSample("1", {"batch": 2}, compare({"y": ONE}, {"y": ONE}, Tolerances()))
DIFFERENT = JudgedSample("2", {"batch": 2}, compare({"y": ONE}, {"y": 2 * ONE}, Tolerances()))
REPORT = VerifyReport("a", "b", "onnxruntime-cpu", "openvino", (EQUAL,))


def test_equal_runs_are_counted() -> None:
    assert verdict(REPORT) == (
        "b on openvino equals a on onnxruntime-cpu: 1 tensor in 1 sample within tolerance"
    )


def test_what_else_was_done_is_told() -> None:
    meant = dataclasses.replace(EQUAL, meant=EQUAL.diffs)
    report = dataclasses.replace(REPORT, samples=(meant,), searched=1234)
    assert verdict(report).endswith(
        "1 tensor in 1 sample within tolerance, and 1,234 inputs that might have shown a "
        "difference; equal in real numbers, too"
    )
    proven = dataclasses.replace(REPORT, proven=("y",))
    assert verdict(proven).endswith("within tolerance; computed in the very same way")
    unjudged = dataclasses.replace(REPORT, unjudged="no time")
    assert verdict(unjudged).endswith("meaning was not judged apart from rounding: no time")


def test_another_meaning_is_told_apart_from_rounding() -> None:
    sample = dataclasses.replace(EQUAL, meant=DIFFERENT.diffs)
    assert verdict(dataclasses.replace(REPORT, samples=(sample,))).startswith(
        "b on openvino means something else than a on onnxruntime-cpu: y in sample 1 (batch=2): 4"
    )


def test_nothing_shown_is_told_with_its_reason() -> None:
    report = dataclasses.replace(REPORT, unshown={"y": "it is NaN or infinite in every sample"})
    assert verdict(report) == (
        "nothing was shown of y of b on openvino: it is NaN or infinite in every sample"
    )


def test_a_difference_names_tensor_sample_and_element() -> None:
    assert verdict(dataclasses.replace(REPORT, samples=(EQUAL, DIFFERENT))) == (
        "b on openvino differs from a on onnxruntime-cpu: y in sample 2 (batch=2): 4 of 4 elements "
        "out of tolerance, the worst at [0, 0]: 2, the reference has 1 (off by 1 at most)"
    )


def test_a_problem_with_the_inputs_is_told() -> None:
    report = dataclasses.replace(REPORT, problems=("the candidate lacks the input x: f32[1]",))
    assert verdict(report) == (
        "b on openvino cannot stand for a on onnxruntime-cpu: "
        "the candidate lacks the input x: f32[1]"
    )


def test_a_sample_that_the_candidate_refuses_is_told() -> None:
    refused = JudgedSample("3", {}, (), problem="b.onnx: Reshape failed")
    assert verdict(dataclasses.replace(REPORT, samples=(EQUAL, refused))) == (
        "b on openvino cannot run sample 3, a on onnxruntime-cpu can: b.onnx: Reshape failed"
    )


def test_nothing_compared_is_no_success() -> None:
    assert verdict(dataclasses.replace(REPORT, samples=())) == (
        "nothing was compared between b on openvino and a on onnxruntime-cpu"
    )


def test_recorded_outputs_are_called_so() -> None:
    recorded = dataclasses.replace(REPORT, reference="recorded", reference_engine="recorded")
    assert verdict(recorded).startswith("b on openvino equals what was recorded: ")


def test_a_model_is_compared_with_itself_as_it_is_written() -> None:
    same = dataclasses.replace(REPORT, candidate="a", candidate_engine="onnxruntime-cpu")
    assert verdict(same).startswith("a on onnxruntime-cpu equals a as it is written: ")
