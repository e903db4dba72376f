from __future__ import annotations

import dataclasses
import math

import jsonschema

from burnish.closeness.tolerance import Tolerance
from burnish.core import records
from burnish.parity.report import (
    SCHEMA,
    Agreement,
    Bisection,
    Change,
    Culprit,
    JudgedSample,
    TensorDiff,
    VerifyReport,
)


def diff(name: str, *, severity: float) -> TensorDiff:
    return TensorDiff(
        name=name, dtype="f32", elements=4, max_abs=severity, max_rel=severity, cosine=math.nan,
        top1_agreement=None, worst_index=(1, 2), worst_reference=0.0, worst_candidate=severity,
        non_finite_mismatches=0, passed=severity <= 1, reason="" if severity <= 1 else "off",
        severity=severity, tolerance=Tolerance(1.0, 0.0, "for the test"),
    )  # fmt: skip


def report(*samples: JudgedSample) -> VerifyReport:
    return VerifyReport("a", "b", "onnxruntime-cpu", "openvino", samples)


def test_the_worst_tensor_is_the_one_furthest_out_of_tolerance() -> None:
    first = JudgedSample("1", {}, (diff("p", severity=0.2), diff("q", severity=3.0)))
    second = JudgedSample("2", {}, (diff("p", severity=7.0), diff("q", severity=0.0)))
    found = report(first, second)
    assert not found.passed
    assert found.worst_sample == second
    assert found.worst is not None
    assert found.worst.name == "p"


def test_a_sample_that_could_not_be_run_does_not_pass() -> None:
    good = JudgedSample("1", {}, (diff("p", severity=0.0),))
    assert report(good).passed
    assert not report(good, JudgedSample("2", {}, (), problem="refused")).passed


def test_what_means_something_else_does_not_pass() -> None:
    same, other = diff("p", severity=0.0), diff("p", severity=2.0)
    found = report(JudgedSample("1", {}, (same,), meant=(other,)))
    assert found.outcome == "differs"
    assert found.worst is other


def test_a_difference_that_was_searched_for_counts() -> None:
    good, bad = (
        JudgedSample(label, {}, (diff("p", severity=s),)) for label, s in (("1", 0.0), ("s", 2))
    )
    found = dataclasses.replace(report(good), telling=(bad,))
    assert (found.passed, found.outcome) == (False, "differs")
    assert found.worst_sample is bad


def test_what_shows_nothing_is_neither_equal_nor_different() -> None:
    good = JudgedSample("1", {}, (diff("p", severity=0.0),))
    found = dataclasses.replace(report(good), unshown={"p": "it is NaN"})
    assert (found.passed, found.outcome) == (False, "not shown")


def test_the_title_of_a_sample_says_its_shape() -> None:
    assert JudgedSample("2", {"batch": 3, "sequence": 7}, ()).title == "2 (batch=3, sequence=7)"
    assert JudgedSample("test_data_set_0", {}, ()).title == "test_data_set_0"
    special = JudgedSample("search 3", {"batch": 2}, (), kind="mask left")
    assert special.title == "search 3 (batch=2; mask left)"


def test_a_report_survives_json_and_fits_its_schema() -> None:
    culprit = Culprit(
        "n", "MatMul", "t", diff("t", severity=math.inf), (Agreement("a", 0.0),), ("n",), ("m",),
        (Change("initializer", "w", "at [0]: 1, the reference has 2"),), rule="erf-gelu",
    )  # fmt: skip
    sample = JudgedSample("1", {"batch": 2}, (diff("p", severity=math.inf),))
    found = VerifyReport(
        "a", "b", "onnxruntime-cpu", "openvino", (sample,),
        Bisection("1", culprit, 12, 3, ("note",)), "f16", 3, (sample,), ("q",), {"p": "NaN"}, "no",
        ("problem",), ("note",),
    )  # fmt: skip
    document = records.document(found, schema=SCHEMA)
    jsonschema.validate(document, records.json_schema(VerifyReport, schema=SCHEMA))
    again = records.decode(VerifyReport, document)
    assert records.document(again, schema=SCHEMA) == document
