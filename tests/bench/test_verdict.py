from __future__ import annotations

from dataclasses import replace

import pytest

from bench.test_measure import report
from burnish.bench.measure import ParityMark
from burnish.bench.verdict import require_sound
from burnish.core.errors import CheckFailedError


def test_a_report_in_which_all_is_well_passes() -> None:
    require_sound(replace(report(), parity={"fast": ParityMark(True, 0.0)}))


def test_a_wrong_subject_fails_with_the_command_that_finds_the_node() -> None:
    wrong = replace(report(), parity={"fast": ParityMark(False, 0.5, "y is off")})
    with pytest.raises(CheckFailedError, match="fast is wrong: y is off") as error:
        require_sound(wrong)
    assert error.value.hint == (
        "find the node where it parts: "
        "burnish verify base.onnx fast.onnx --engine onnxruntime-cpu --bisect"
    )


def test_a_subject_without_measurement_fails_with_the_reason() -> None:
    first, second = report().measurements
    broken = replace(
        report(), measurements=(first, replace(second, failure="ended by SIGSEGV")), parity={}
    )
    with pytest.raises(
        CheckFailedError, match="fast could not be measured: ended by SIGSEGV"
    ) as error:
        require_sound(broken)
    assert error.value.hint == (
        "see whether the engine works: burnish doctor --engine onnxruntime-cpu"
    )


def test_what_the_budget_did_not_reach_is_not_blamed_on_its_engine() -> None:
    first, second = report().measurements
    late = replace(second, failure="0 s were left", status="no time")
    with pytest.raises(CheckFailedError) as error:
        require_sound(replace(report(), measurements=(first, late), parity={}))
    assert error.value.hint == "give it more time: --budget 5m"


def test_an_engine_that_nobody_asked_for_may_fail_and_the_baselines_may_not() -> None:
    first, second = report().measurements
    other = replace(second, engine="openvino", failure="no such operator")
    require_sound(replace(report(), measurements=(first, other), parity={}), chosen=False)
    with pytest.raises(CheckFailedError, match="could not be measured: no such operator"):
        require_sound(replace(report(), measurements=(first, other), parity={}))
    same = replace(second, failure="no such operator")
    with pytest.raises(CheckFailedError, match="could not be measured: no such operator"):
        require_sound(replace(report(), measurements=(first, same), parity={}), chosen=False)
