from __future__ import annotations

from typing import Any, Self

import pytest

from burnish.bench import call_cost as module
from burnish.bench.call_cost import call_cost, call_cost_beside
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


def test_beside_a_model_it_is_at_the_speed_that_the_machine_had_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Session:
        engine, threads = "onnxruntime-cpu", 1

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(module.isolated, "open_session", lambda *_: Session())
    # while both took turns, the machine was twice as slow as when the model was recorded
    monkeypatch.setattr(module.isolated, "take_turns", lambda *_: ((60e-6,) * 9, (4e-3,) * 9))
    model: Any = Session()
    assert call_cost_beside(model, {}, 2e-3) == pytest.approx(30e-6)
