from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given

from burnish.analyze.breakdown import Breakdown, by_operator
from burnish.analyze.difference import difference
from burnish.trace.events import Trace
from timelines import US, run, span, trace, traces

NAMES = ("before", "after")


def test_the_worst_regression_comes_first() -> None:
    before = by_operator(trace(run(0, 100), span("a", 0, 60, op="Erf"), span("b", 60, 20)))
    after = by_operator(trace(run(0, 70), span("g", 0, 15, op="Gelu"), span("b", 20, 25)))
    found = difference(before, after, names=NAMES)
    changes = [(row.label, round(row.change_s / US, 6)) for row in found.rows]
    assert changes == [
        ("Gelu", 15), ("between nodes", 10), ("Add", 5), ("unattributed", 0), ("Erf", -60),
    ]  # fmt: skip
    assert found.change_s == pytest.approx(-30 * US)
    assert found.share(found.rows[-1]) == pytest.approx(2.0)
    assert (found.rows[0].baseline_count, found.rows[0].candidate_count) == (0, 1)


def test_no_change_has_no_shares() -> None:
    same = by_operator(trace(run(0, 100), span("a", 0, 60)))
    found = difference(same, same, names=NAMES)
    assert math.isnan(found.share(found.rows[0]))


@given(traces(), traces())
def test_the_difference_mirrored_has_the_opposite_sign(first: Trace, second: Trace) -> None:
    one, other = by_operator(first), by_operator(second)
    there = {r.label: r.change_s for r in difference(one, other, names=NAMES).rows}
    back = {r.label: r.change_s for r in difference(other, one, names=NAMES).rows}
    assert there == {label: pytest.approx(-change) for label, change in back.items()}


def test_a_change_within_the_spread_of_the_inferences_is_not_clear() -> None:
    def recorded(*lengths: int) -> Breakdown:
        pairs = [(run(at * 100, 90), span("a", at * 100, n)) for at, n in enumerate(lengths)]
        return by_operator(trace(*(one for pair in pairs for one in pair)))

    def tells(before: Breakdown, after: Breakdown) -> bool:
        found = difference(before, after, names=("x", "y"))
        return found.tells(next(row for row in found.rows if row.label == "Add"))

    close = recorded(25, 45, 50)
    assert not tells(recorded(20, 60, 30), close)
    assert tells(recorded(20, 21, 22), close)
    assert not tells(recorded(20), recorded(50))


def test_what_is_in_one_only_appears_or_vanishes() -> None:
    before = by_operator(trace(run(0, 90), span("a", 0, 10, op="Erf")))
    after = by_operator(trace(run(0, 90), span("g", 0, 15, op="Gelu")))
    fates = {row.label: row.fate for row in difference(before, after, names=("x", "y")).rows}
    assert (fates["Erf"], fates["Gelu"], fates["between nodes"]) == ("vanishes", "appears", "")


def test_rounding_of_the_whole_is_no_change_to_take_parts_of() -> None:
    before = by_operator(trace(run(0, 30), span("a", 0, 10, op="A"), span("b", 10, 20, op="B")))
    after = by_operator(trace(run(0, 30), span("a", 0, 20, op="A"), span("b", 20, 10, op="B")))
    found = replace(
        difference(before, after, names=("one", "other")),
        candidate_wall_s=before.wall_s * (1 + 1e-15),
    )
    assert found.change_s == 0
    assert all(math.isnan(found.share(row)) for row in found.rows)
