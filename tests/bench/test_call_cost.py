from __future__ import annotations

import pytest

from burnish.bench import call_cost as module
from burnish.bench.call_cost import call_cost
from burnish.core.errors import MissingCapabilityError


def test_a_call_that_computes_nothing_takes_some_microseconds() -> None:
    assert 0 < call_cost("onnxruntime-cpu", 1) < 0.1


def test_an_engine_whose_timeline_holds_the_whole_call_has_none() -> None:
    assert call_cost("torch-eager", 1) == 0.0


def test_an_engine_that_cannot_be_asked_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise MissingCapabilityError("it does not start", hint="look at burnish doctor")

    monkeypatch.setattr(module.isolated, "open_session", broken)
    assert call_cost.__wrapped__("onnxruntime-cpu", 1) == 0.0
