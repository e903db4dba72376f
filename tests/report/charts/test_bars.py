from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from burnish.report.charts.bars import BarGroup, chart

GROUPS = (
    BarGroup("MatMul", (5.2e-4, 5.1e-4)),
    BarGroup("Erf", (9e-5, 0.0)),
    BarGroup("A<very>LongOperatorNameFromSomeDomain", (0.0, 3e-5)),
    BarGroup("between nodes", (1.7e-4, 9e-5), quiet=True),
)


def test_the_drawing_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    drawing = chart(GROUPS, ("original", "optimised"))
    assert ET.fromstring(drawing).tag.endswith("svg")
    golden(drawing.replace("><", ">\n<") + "\n", suffix="svg")


def test_one_model_alone_is_drawn_too() -> None:
    drawing = chart([BarGroup("MatMul", (1e-3,))], ("original",))
    assert "optimised" not in drawing
    ET.fromstring(drawing)


def test_more_models_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="3 models, and 2 can be told apart"):
        chart([BarGroup("MatMul", (1.0, 1.0, 1.0))], ("a", "b", "c"))
