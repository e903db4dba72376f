"""The attack in short: a sample of each part, as `make torture` runs all of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from torture import scoreboard
from torture.__main__ import ATTACKS, BAR, QUICK, Attacks
from torture.hands import Hands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SEED = 0


@pytest.fixture
def attacks() -> Iterator[Attacks]:
    with Hands(2) as hands:
        yield Attacks(QUICK, SEED, hands)


def test_verify_finds_what_is_planted_and_lets_right_rewrites_pass(attacks: Attacks) -> None:
    assert attacks.verify() == (QUICK.cases, [])
    wrong = [scoreboard.row(answer) for answer in attacks.score.answers if not answer.right]
    assert attacks.score.found >= BAR, wrong
    assert attacks.score.wrongly_called == 0, wrong


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in ("verify", "proofs")])
def test_nothing_gets_through(attacks: Attacks, attack: str) -> None:
    _, found = ATTACKS[attack](attacks)
    assert found == []
