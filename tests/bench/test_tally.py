"""What several processes of one subject gave comes to one mark: that of the worst."""

from __future__ import annotations

import itertools

import pytest

from burnish.bench.measure import ParityMark
from burnish.bench.tally import SubjectTally

NEAR = ParityMark(passed=True, max_rel=1e-7)
DOUBTED = ParityMark(passed=True, max_rel=1e-6, note="not judged in real numbers")
FAR = ParityMark(passed=True, max_rel=1e-5)
WRONG = ParityMark(passed=False, max_rel=None, note="y is missing")


def told(*marks: ParityMark) -> ParityMark | None:
    tally = SubjectTally()
    for mark in marks:
        tally.keep(mark)
    return tally.parity


@pytest.mark.parametrize("marks", itertools.permutations((NEAR, DOUBTED, FAR)))
def test_the_farthest_is_told_with_what_is_in_doubt_of_any(marks: tuple[ParityMark, ...]) -> None:
    assert told(*marks) == ParityMark(passed=True, max_rel=1e-5, note=DOUBTED.note)


@pytest.mark.parametrize("marks", itertools.permutations((NEAR, FAR, WRONG)))
def test_what_is_wrong_once_stays_so(marks: tuple[ParityMark, ...]) -> None:
    found = told(*marks)
    assert found is not None
    assert not found.passed
    assert WRONG.note in found.note
