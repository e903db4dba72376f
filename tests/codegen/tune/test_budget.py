"""Time runs out when it does."""

from __future__ import annotations

from burnish.codegen.tune.budget import TuningTime


def test_a_budget_ends() -> None:
    now = [100.0]
    budget = TuningTime(10.0, clock=lambda: now[0])
    assert budget.allows()
    now[0] = 108.5
    assert budget.allows()
    assert not budget.allows(0.8)
    now[0] = 110.0
    assert not budget.allows()


def test_without_seconds_there_is_no_end() -> None:
    now = [0.0]
    budget = TuningTime(None, clock=lambda: now[0])
    now[0] = 1e9
    assert budget.allows(0.1)
