"""What is refused says what was found, in which run, and what would be right."""

from __future__ import annotations

import pytest

from burnish.core.errors import UsageError
from burnish.core.existing import EarlierRunError, Held, Wanted

PLACES = "whole numbers from -5 to 4"
CASES = [
    (Wanted("i", "place", 5), (-6, 4), "input 'i' holds -6, and what it points into has 5 entries",
     f"feed {PLACES}"),
    (Wanted("i", "place", 5, is_computed=True), (0, 5),
     "computed 'i' holds 5, and what it points into has 5 entries",
     f"feed what makes {PLACES} of it"),
    (Wanted("i", "place", 12_000), (0, 12_000),
     "input 'i' holds 12000, and what it points into has 12,000 entries",
     "feed whole numbers from -12000 to 11999"),
    (Wanted("n", "length", 7), (-1, 8), "input 'n' holds -1, and the sequence has 7 steps",
     "feed whole numbers from 0 to 7"),
    (Wanted("n", "length", 7, is_computed=True), (0, 8),
     "computed 'n' holds 8, and the sequence has 7 steps",
     "feed what makes whole numbers from 0 to 7 of it"),
    (Wanted("d", "divisor"), (0, 1), "input 'd' holds 0, and divides whole numbers",
     "feed whole numbers other than 0"),
    (Wanted("d", "divisor", is_computed=True), (0, 0),
     "computed 'd' holds 0, and divides whole numbers",
     "feed what makes whole numbers other than 0 of it"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "held", "problem", "hint"), CASES)
def test_what_has_no_answer_is_refused(wanted: Wanted, held: Held, problem: str, hint: str) -> None:
    found = wanted.refusal(held)
    assert type(found) is UsageError
    assert (found.problem, found.hint) == (problem, hint)


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        (Wanted("i", "place", 5), (-5, 4)),
        (Wanted("n", "length", 7), (0, 7)),
        (Wanted("d", "divisor"), (1, 1)),
    ],
)
def test_what_has_an_answer_is_not(wanted: Wanted, held: Held) -> None:
    assert wanted.refusal(held) is None


def test_where_results_were_handed_out_it_is_another_error() -> None:
    found = Wanted("i", "place", 5, is_computed=True).refusal((0, 9), " in an earlier run")
    assert isinstance(found, EarlierRunError)
    assert found.problem == (
        "computed 'i' held 9 in an earlier run, and what it points into has 5 entries"
    )
