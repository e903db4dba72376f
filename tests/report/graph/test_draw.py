from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from burnish.report.exports.by_suffix import Look, svg
from burnish.report.graph.draw import path
from burnish.report.graph.picture import Picture
from burnish.store.graph import GraphNode
from sample_picture import changed_picture, diamond, sample_picture

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = '"><script>alert(1)</script>&\x00'


@pytest.mark.parametrize("left_to_right", [False, True], ids=["down", "right"])
def test_the_drawing_is_as_it_was_accepted(
    golden: Callable[..., None], left_to_right: bool
) -> None:
    golden(svg(sample_picture(), Look("simple", left_to_right)), suffix="svg")


def test_before_and_after_a_change_are_in_one_drawing(golden: Callable[..., None]) -> None:
    golden(svg(changed_picture(), Look("kernels")), suffix="svg")


@pytest.mark.parametrize("view", ["auto", "full", "simple", "modules", "kernels"])
@pytest.mark.parametrize("timed", [True, False])
def test_every_view_is_xml_with_a_box_for_each_of_its_boxes(view: str, timed: bool) -> None:
    picture = sample_picture() if timed else Picture("sample", diamond())
    drawn = ET.fromstring(svg(picture, Look(view)))
    boxes = [g for g in drawn.iter(f"{NAMESPACE}g") if "box" in g.get("class", "")]
    assert len(boxes) >= 3
    assert all(box.find(f"{NAMESPACE}title") is not None for box in boxes)


def test_names_cannot_break_out_of_the_drawing() -> None:
    record = diamond()
    hostile = tuple(
        GraphNode(f"{HOSTILE}{n.name}", HOSTILE, "", n.inputs, n.outputs, {}, (HOSTILE,))
        for n in record.nodes
    )
    picture = Picture(HOSTILE, replace(record, nodes=hostile))
    for view in ("full", "modules"):
        drawn = ET.fromstring(svg(picture, Look(view)))
        assert not list(drawn.iter(f"{NAMESPACE}script"))


def test_routes_are_curves_between_layers_and_straight_within() -> None:
    points = [(0.0, 0.0), (10.0, 30.0), (10.0, 50.0), (0.0, 80.0)]
    assert path(points, left_to_right=False) == (
        "M0.0 0.0C0.0 15.0 10.0 15.0 10.0 30.0L10.0 50.0C10.0 65.0 0.0 65.0 0.0 80.0"
    )
    assert path([(0.0, 0.0), (9.0, 0.0)], left_to_right=True) == "M0.0 0.0L9.0 0.0"
