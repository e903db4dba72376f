from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import pytest

from burnish.analyze import whatif as analysis
from burnish.analyze.amdahl import Denominators
from burnish.analyze.scenario import Scenario, option
from burnish.core.errors import CheckFailedError, MissingCapabilityError
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel
from burnish.study.requests.looking import WhatIfCommand
from burnish.study.timeline import Recorded, TimelineRequest, recorded
from burnish.study.type_factors import with_type_factors
from burnish.study.whatif import require
from burnish.study.whatif_check import CheckOptions, Checks, fusion_scenario, remember

REPORT = analysis.WhatIfReport(
    "m", "by hand", 10e-3, Denominators(None, 10e-3, 9e-3, 9e-3, 0.0, 0.0, 0.0, 1e-3), None,
    analysis.Paths(10e-3, None), 1.0, None, (), (),
)  # fmt: skip
MEASURED = WhatIfCommand("m", measure=True)
QUICK = CheckOptions(alternating_s=0.0)


def write(path: Path) -> StoredModel:
    """Write a product, and after it GELU spelled out."""
    make = onnx.helper.make_node
    constants = {
        "w": np.full((64, 64), 0.01, np.float32), "root": np.array(2**0.5, np.float32),
        "one": np.array(1, np.float32), "half": np.array(0.5, np.float32),
    }  # fmt: skip
    nodes = [
        make("MatMul", ["x", "w"], ["h"], name="mm"),
        make("Div", ["h", "root"], ["a"], name="div"),
        make("Erf", ["a"], ["b"], name="erf"),
        make("Add", ["b", "one"], ["c"], name="add"),
        make("Mul", ["h", "c"], ["d"], name="mul"),
        make("Mul", ["d", "half"], ["y"], name="halve"),
    ]
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [32, 64]) for n in "xy"]
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", 20)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    return StoredModel(path, "gelu")


@pytest.fixture
def request_(tmp_path: Path) -> TimelineRequest:
    options = EngineOptions(threads=1, graph_level="off")
    model = write(tmp_path / "gelu.onnx")
    return TimelineRequest(model=model, options=options, hw="x86-avx2", runs=3, plain_s=0.0)


@pytest.fixture
def found(request_: TimelineRequest) -> Recorded:
    return recorded(request_)


def checked(request_: TimelineRequest, found: Recorded, scenario: Scenario) -> analysis.Outcome:
    with Checks(request_, found, QUICK) as checks:
        return checks.check(scenario, analysis.outcome(scenario, found.setting))


def asked(do: str, text: str) -> Scenario:
    return Scenario("s", (option(do, text),))


def test_a_node_is_removed_and_the_rest_measured(
    request_: TimelineRequest, found: Recorded
) -> None:
    outcome = checked(request_, found, asked("remove", "Erf"))
    assert outcome.notes == ()
    assert outcome.checked is not None
    assert outcome.checked.measured_s > 0
    assert outcome.checked.between is not None
    low, high = outcome.checked.between
    assert low <= outcome.checked.ratio * (1 + 1e-9)
    assert outcome.checked.ratio <= high * (1 + 1e-9)
    assert outcome.error is not None


def test_a_product_is_computed_in_eight_bits(request_: TimelineRequest, found: Recorded) -> None:
    scenario = asked("precision", "mm=i8")
    measured = with_type_factors(found, [scenario], threads=1)
    assert set(measured.setting.type_factors) == {("mm", "i8")}
    assert checked(request_, measured, scenario).checked is not None


def test_a_rule_is_applied_where_it_fires(request_: TimelineRequest, found: Recorded) -> None:
    assert request_.model is not None
    scenario = fusion_scenario(request_.model, "gelu", request_.options, found)
    (action,) = scenario.actions
    assert [one.text for one in action.select] == ["div", "erf", "add", "mul", "halve"]
    outcome = checked(request_, found, scenario)
    assert outcome.checked is not None, outcome.notes


@pytest.mark.parametrize(
    ("do", "text", "why"),
    [
        ("scale", "Erf=2", "scale cannot be made in a model, only predicted"),
        ("precision", "erf=i8", "Erf 'erf' has no 8-bit form"),
        ("precision", "mm=f64", "only i8 can be made of single nodes"),
        ("fuse", "mm,div", "no rule fuses exactly the selected nodes"),
    ],
)
def test_what_cannot_be_made_is_said(
    request_: TimelineRequest, found: Recorded, do: str, text: str, why: str
) -> None:
    outcome = checked(request_, found, asked(do, text))
    assert outcome.checked is None
    assert f"not checked: {why}" in outcome.notes


def test_only_the_engine_whose_graph_can_be_changed_is_checked(
    request_: TimelineRequest, found: Recorded
) -> None:
    with pytest.raises(MissingCapabilityError, match="on onnxruntime-cpu only, not on openvino"):
        Checks(dataclasses.replace(request_, engine="openvino"), found, QUICK)


def test_predicted_and_measured_are_remembered_a_line_each(tmp_path: Path) -> None:
    outcome = analysis.Outcome(
        "s", ("remove Erf",), 1, 1e-3, 8e-3, 10e-3, 7e-3, 9e-3, None,
        checked=analysis.Checked("remove Erf", 10e-3, 8e-3, "faster"),
    )  # fmt: skip
    history = tmp_path / "history.jsonl"
    remember(history, "m", outcome)
    remember(history, "m", outcome)
    lines = [json.loads(line) for line in history.read_text().splitlines()]
    assert [line["predicted"] for line in lines] == [1.25, 1.25]
    assert lines[0]["error"] == pytest.approx(0.0)


def test_a_check_that_tells_nothing_has_no_error_and_is_no_success() -> None:
    unsure = analysis.Outcome(
        "s", ("remove Erf",), 1, 1e-3, 8e-3, 10e-3, 7e-3, 9e-3, None,
        checked=analysis.Checked("remove Erf", 10e-3, 8e-3, "not enough data", "noise"),
    )  # fmt: skip
    assert unsure.error is None
    open_ = dataclasses.replace(unsure, checked=None, notes=("not checked: no rule",))
    for outcome, why in ((unsure, "s: not enough data (noise)"), (open_, "not checked: no rule")):
        report = dataclasses.replace(REPORT, outcomes=(outcome,))
        with pytest.raises(CheckFailedError) as caught:
            require(MEASURED, report)
        assert caught.value.problem.startswith("1 of 1 scenario could not be measured: ")
        assert why in caught.value.problem
        assert caught.value.hint.endswith("burnish whatif MODEL --measure")
    decided = dataclasses.replace(unsure, checked=analysis.Checked("r", 10e-3, 8e-3, "faster"))
    require(MEASURED, dataclasses.replace(REPORT, outcomes=(decided,)))
    require(WhatIfCommand("m"), dataclasses.replace(REPORT, outcomes=(open_,)))
