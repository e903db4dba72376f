from __future__ import annotations

import pytest

from burnish.core import budget
from burnish.core.budget import Budget


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Return the time of this process and on the wall, which stand still."""
    times = {"worked": 0.0, "passed": 0.0}
    monkeypatch.setattr(budget.time, "process_time", lambda: times["worked"])
    monkeypatch.setattr(budget.time, "monotonic", lambda: times["passed"])
    return times


def test_a_budget_is_spent_by_work(clock: dict[str, float]) -> None:
    left = Budget(10)
    assert not left.is_spent
    clock["worked"] = 10
    assert left.is_spent


def test_waiting_for_a_busy_machine_costs_nothing_until_it_has_lasted_too_long(
    clock: dict[str, float],
) -> None:
    left = Budget(10)
    clock["passed"] = 39
    assert not left.is_spent
    clock["passed"] = 40
    assert left.is_spent


def test_no_budget_is_spent_at_once() -> None:
    assert Budget(0).is_spent
