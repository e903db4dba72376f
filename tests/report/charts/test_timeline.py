from __future__ import annotations

from collections.abc import Callable

from burnish.report.charts.timeline import Stretch, chart

STRETCHES = [
    Stretch("load", "host", 0.001, 0.002, "h1"),
    Stretch("<product>", "stream 7", 0.003, 0.006, "h5", "node product"),
    Stretch("sum", "stream 7", 0.0095, 0.001, "h2"),
]


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(chart(STRETCHES), suffix="svg")


def test_stretches_too_short_to_be_seen_become_one_that_counts_them() -> None:
    tiny = [Stretch(f"t{n}", "host", 1.0 + n * 1e-6, 1e-6) for n in range(5000)]
    drawn = chart([Stretch("whole", "stream", 0.0, 10.0), *tiny])
    assert drawn.count("<rect") <= 3
    assert "t0 and 4999 more" in drawn


def test_nothing_can_be_drawn() -> None:
    assert chart([]).startswith("<svg")
