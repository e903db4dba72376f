from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

from burnish.report.charts.changes import DrawnChange, chart
from burnish.report.charts.room import NARROW

CHANGES = [
    DrawnChange("<gemm>", -30e-6, -34e-6, -26e-6, told=True),
    DrawnChange("attention", 12e-6, 12e-6, 12e-6, told=True, fate="appears"),
    DrawnChange("copy", 4e-6, -2e-6, 9e-6, told=False, detail="1.00 µs → 5.00 µs"),
]


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(chart(CHANGES, title="By kernel"), suffix="svg")


def test_what_is_not_told_apart_is_drawn_so_and_says_so() -> None:
    drawn = chart(CHANGES, title="By kernel")
    assert drawn.count('class="bar worse alike"') == 1
    assert "copy +4.00 µs (not told apart)\n1.00 µs → 5.00 µs" in drawn
    assert ">~ +4.00 µs<" in drawn


def test_faster_goes_to_the_left_and_slower_to_the_right() -> None:
    drawn = ET.fromstring(chart(CHANGES, NARROW, title="t"))
    bars = list(drawn.iter("{http://www.w3.org/2000/svg}rect"))
    ends = [float(r.get("x", 0)) + float(r.get("width", 0)) for r in bars]
    (zero,) = (
        float(line.get("x1", 0))
        for line in drawn.iter("{http://www.w3.org/2000/svg}line")
        if line.get("class") == "zero"
    )
    assert ends[0] == zero
    assert float(bars[1].get("x", 0)) == zero


def test_nothing_can_be_drawn() -> None:
    assert chart([], title="t").startswith("<svg")
