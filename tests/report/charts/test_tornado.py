from __future__ import annotations

from collections.abc import Callable

import pytest

from burnish.report.charts.tornado import Swing, chart

CHANGES = ("1.5×", "2×", "at its roofline", "free")
SWINGS = [
    Swing("MatMul", (0.1, 0.2, 0.35, 0.4), "op MatMul"),
    Swing("Softmax", (0.01, 0.02, None, 0.04)),
    Swing("<Add>", (None, None, None, None)),
]


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(chart(SWINGS, CHANGES), suffix="svg")


def test_more_changes_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="5 changes, and 4 can be told apart"):
        chart(SWINGS, (*CHANGES, "negative"))


def test_nothing_can_be_drawn() -> None:
    assert chart([], CHANGES).startswith("<svg")
