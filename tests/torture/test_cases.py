"""The table itself: enough of every kind, each with a witness that really shows it."""

from __future__ import annotations

import pytest

from torture.judging import CASES
from torture.plants import BLANKS, PLANTS
from torture.proof import objection
from torture.running import installed
from torture.scoreboard import chosen
from torture.traps import TRAPS


def test_there_are_enough_of_every_kind() -> None:
    assert len(PLANTS) >= 110
    assert len(TRAPS) >= 25
    families = {case.family for case in PLANTS}
    assert {"judged", "sizes", "masks", "tokens", "attention", "values", "integers", "control",
            "weights", "quantised", "images", "detection", "recurrent", "outputs",
            "engine"} <= families  # fmt: skip


def test_names_are_unique_and_say_something() -> None:
    every = (*PLANTS, *BLANKS, *TRAPS)
    assert len(CASES) == len(every)
    for case in every:
        assert case.what.endswith("."), case.name


@pytest.mark.slow
@pytest.mark.parametrize("name", chosen(sample=80))
def test_a_case_proves_what_it_says(name: str) -> None:
    case = CASES[name]
    for package in case.needs:
        if not installed(package):
            pytest.skip(f"{package} is not installed")
    assert objection(case) == ""
