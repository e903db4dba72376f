"""The attack in short: a sample of each part, as `make torture` runs all of it."""

from __future__ import annotations

from types import ModuleType

import pytest

from torture import folders, kills, mutants, random_models, same, scoreboard
from torture.__main__ import BAR, QUICK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SEED = 0


def test_verify_finds_what_is_planted_and_lets_right_rewrites_pass() -> None:
    names = scoreboard.chosen(sample=QUICK.cases, seed=SEED)
    score = scoreboard.asked_about(names, budget_s=QUICK.budget_s, jobs=2)
    wrong = [scoreboard.row(answer) for answer in score.answers if not answer.right]
    assert score.found >= BAR, wrong
    assert score.wrongly_called == 0, wrong
    assert score.broken == 0, wrong


def test_a_model_is_never_called_different_from_itself() -> None:
    assert same.run(QUICK.same, SEED, zoo=False) == []


def test_random_models_come_out_right_of_optimize_and_compile() -> None:
    assert random_models.run(QUICK.random, SEED) == []


def test_killed_and_starved_commands_lose_and_leave_nothing() -> None:
    assert kills.run(QUICK.kills, SEED, only=QUICK.commands) == []


@pytest.mark.parametrize(
    ("attack", "count"), [(mutants, QUICK.mutants), (folders, QUICK.folders)],
    ids=["mutants", "folders"],
)  # fmt: skip
def test_nothing_malformed_gets_through(attack: ModuleType, count: int) -> None:
    assert attack.main(count, SEED) == 0
