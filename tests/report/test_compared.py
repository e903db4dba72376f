from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from burnish.analyze.profile import ProfileReport, report
from burnish.core.errors import UsageError
from burnish.report import compared
from sample_run import AFTER, BEFORE, profile

HOSTILE = "<script>alert(1)</script>"


def two(*, name: str = "after") -> ProfileReport:
    return report((profile("before", BEFORE), profile(name, AFTER)))


def test_the_page_shows_every_way_to_match_and_what_came_and_went() -> None:
    text = compared.page(two())
    assert "<h2>By operator</h2>" in text
    assert "<h2>By module</h2>" in text
    assert "2 new" in text  # Gelu and LayerNormalization
    assert "<li><code>LayerNormalization (47.0 µs)</code></li>" in text


def test_the_largest_effect_comes_first() -> None:
    found = two().difference
    assert found is not None
    effects = [abs(one.change_s) for one in compared._changes(found, named=str)]
    assert effects == sorted(effects, reverse=True)


def test_names_cannot_break_out_of_the_page() -> None:
    text = compared.page(two(name=HOSTILE))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_drawing_stands_alone() -> None:
    drawn = ET.fromstring(compared.drawing(two()))
    style = drawn.find("{http://www.w3.org/2000/svg}style")
    assert style is not None
    assert "prefers-color-scheme:dark" in (style.text or "")


def test_the_headline_says_how_much_or_that_nothing_changed() -> None:
    found = two().difference
    assert found is not None
    assert compared.headline(found).endswith("faster")
    assert compared.headline(replace(found, baseline_wall_s=1.0, candidate_wall_s=2.0)) == (
        "1.00 s → 2.00 s a run: 2.00× slower"
    )
    same = replace(found, candidate_wall_s=found.baseline_wall_s * 1.0001)
    assert compared.headline(same).endswith("a run, before and after")


def test_one_alone_is_drawn_by_another_command() -> None:
    with pytest.raises(UsageError, match="-o draws what changed between two") as caught:
        compared.page(report((profile("before", BEFORE),)))
    assert caught.value.hint.endswith("burnish graph MODEL --engine onnxruntime-cpu -o graph.html")


def test_an_ending_that_says_no_format_is_refused() -> None:
    with pytest.raises(UsageError, match="ending says no format of a comparison") as caught:
        compared.writer_for(Path("x.png"))
    assert caught.value.hint == "end it in one of .svg, .html"
