from __future__ import annotations

from collections.abc import Callable

import pytest

from burnish.report.charts.roofline import DeviceRoof, Mark, chart

ROOF = DeviceRoof("a device, f32", 1e12, {"L2": 4e11, "DRAM": 2e10})
MARKS = [
    Mark("product", 2e9, 1e7, 5e-3, "node product"),
    Mark("sum <1>", 1e6, 1.2e7, 1e-3),
    Mark("reshape", 0.0, 1e6, 1e-4),
]


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(chart(MARKS, ROOF), suffix="svg")


def test_the_roof_is_memory_first_and_arithmetic_later() -> None:
    assert ROOF.limit(1.0) == 2e10
    assert ROOF.limit(1e6) == 1e12


def test_what_computes_nothing_has_no_place() -> None:
    assert chart(MARKS, ROOF).count("<circle") == 2


@pytest.mark.parametrize("marks", [[], MARKS[2:]])
def test_a_roof_alone_can_be_drawn(marks: list[Mark]) -> None:
    assert "a device, f32: 1 TFLOP/s" in chart(marks, ROOF)
