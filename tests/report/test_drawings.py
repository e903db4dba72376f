from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from burnish.report.drawings import drawings
from burnish.report.graph.draw import css
from burnish.report.graph.picture import Picture
from sample_picture import diamond, sample_picture


def test_every_drawing_is_svg_for_wide_and_for_narrow_pages() -> None:
    found = drawings(sample_picture())
    assert found is not None
    for text, width in (
        (found.roofline[0], "720"), (found.roofline[1], "360"),
        (found.timeline[0], "720"), (found.timeline[1], "360"),
    ):  # fmt: skip
        assert ET.fromstring(text).get("width") == width


def test_the_graph_brings_no_rules_that_others_on_the_page_would_follow() -> None:
    found = drawings(sample_picture())
    assert found is not None
    assert "<style" not in found.graph
    assert 'class="box node h5 critical"' in found.graph
    assert all(line.startswith(".drawn ") for line in css(".drawn ").splitlines())


def test_without_limits_of_the_device_there_is_no_roof() -> None:
    picture = sample_picture()
    assert picture.timing is not None
    blind = replace(picture.timing, setting=replace(picture.timing.setting, device=None))
    found = drawings(replace(picture, timing=blind))
    assert found is not None
    assert found.roofline == ("", "")


def test_nothing_is_drawn_of_what_was_not_timed() -> None:
    assert drawings(Picture("sample", diamond())) is None
