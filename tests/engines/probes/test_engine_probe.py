"""An engine is tried for real, and a wrong result is a failure."""

from __future__ import annotations

import sys

import pytest

from burnish.core.errors import UsageError
from burnish.engines.probes import engine_probe, tiny
from burnish.process.program import run


def test_a_working_engine_tells_where_it_ran() -> None:
    assert engine_probe.probe("onnxruntime-cpu").startswith("cpu, f32, ")


def test_a_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny, "error_of", lambda _: float("nan"))
    with pytest.raises(ArithmeticError, match="wrong result: off by nan"):
        engine_probe.probe("onnxruntime-cpu")


def test_an_unknown_engine_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="unknown engine"):
        engine_probe.probe("abacus")


def test_as_a_program_it_prints_the_result_or_one_line() -> None:
    program = [sys.executable, "-m", "burnish.engines.probes.engine_probe"]
    assert run([*program, "onnxruntime-cpu"], time_limit_s=600).output.startswith("cpu, f32")
    failed = run([*program, "abacus"], time_limit_s=600)
    assert failed.reason.startswith("unknown engine 'abacus'; ")
