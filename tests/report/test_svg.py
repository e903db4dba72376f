from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.report import svg


@given(st.text())
def test_any_name_gives_a_drawing_that_can_be_parsed(name: str) -> None:
    label = svg.text(name, x=1, y=2, class_="name")
    drawing = svg.document(label, svg.title(name), width=10, height=10, label=name)
    assert len(ET.fromstring(drawing)) == 2


def test_markup_in_a_name_is_text() -> None:
    assert svg.text('<script>&"', x=1, y=2.25, class_="a") == (
        '<text x="1" y="2.2" class="a" text-anchor="start">&lt;script&gt;&amp;"</text>'
    )


def test_an_attribute_cannot_be_left_early() -> None:
    assert svg.element("rect", class_='"/><script>') == ("<rect class='\"/&gt;&lt;script&gt;'/>")


def test_a_long_name_keeps_both_ends() -> None:
    assert svg.shortened("/encoder/layer.11/attention/MatMul_3", 15) == "/encode…atMul_3"
    assert svg.shortened("short", 15) == "short"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1.0, 0.2), (0.0012, 0.0002), (59, 10), (7, 2)],
)
def test_ticks_are_round_numbers(limit: float, expected: float) -> None:
    marks = svg.ticks(limit)
    assert marks[1] == pytest.approx(expected)


@given(st.floats(1e-12, 1e12))
def test_ticks_start_at_zero_and_reach_the_limit(limit: float) -> None:
    marks = svg.ticks(limit)
    assert marks[0] == 0
    assert marks[-1] >= limit * (1 - 1e-6)
    assert 2 <= len(marks) <= 7


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_nothing_to_show_has_ticks_too(limit: float) -> None:
    assert svg.ticks(limit) == (0.0, 1.0)


def test_no_name_turns_writing_around() -> None:
    assert svg.clean("a\u202eb") == "a\ufffdb"
    assert "\u2067" not in svg.text("\u2067", x=0, y=0, class_="c")
