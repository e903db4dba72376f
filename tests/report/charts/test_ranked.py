from __future__ import annotations

from collections.abc import Callable

from burnish.report.charts.ranked import Ranked, chart

ROWS = [
    Ranked("MatMul", 8e-3, 0.8, 5.0, "op MatMul", "a kernel"),
    Ranked("/encoder/layer.11/attention/self/query/<MatMul>", 1e-3, 0.1, 1.11, "node q"),
    Ranked("unattributed", 0.0, 0.0, 1.0, quiet=True),
    Ranked("everything", 1e-2, 1.0, float("inf")),
]


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(chart(ROWS, title="Time by operator"), suffix="svg")


def test_nothing_can_be_drawn() -> None:
    assert chart([], title="Time").startswith("<svg")
