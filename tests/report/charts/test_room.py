from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from burnish.report.charts import bars, intervals, ranked, tornado
from burnish.report.charts.room import NARROW, PAGE, Room, grid_line

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(kind: str, room: Room) -> ET.Element:
    label = "a label that is longer than what is left of a bar"
    match kind:
        case "bars":
            text = bars.chart([bars.BarGroup(label, (1.0, 2.0))], ("one", "two"), room)
        case "intervals":
            text = intervals.chart([intervals.LatencyBar(label, "engine", "accent", 1.0)], room)
        case "ranked":
            text = ranked.chart([ranked.Ranked(label, 1.0, 0.5, 2.0)], room, title="t")
        case _:
            text = tornado.chart([tornado.Swing(label, (0.1,))], ("2×",), room)
    return ET.fromstring(text)


@pytest.mark.parametrize("kind", ["bars", "intervals", "ranked", "tornado"])
def test_labels_stand_beside_bars_or_above_them(kind: str) -> None:
    wide, narrow = drawn(kind, PAGE), drawn(kind, NARROW)
    assert (wide.get("width"), narrow.get("width")) == ("720", "360")
    assert float(narrow.get("height", 0)) > float(wide.get("height", 0))

    def first(svg: ET.Element) -> str | None:
        names = [t for t in svg.iter(f"{NAMESPACE}text") if "of a bar" in (t.text or "")]
        return names[0].get("text-anchor")

    assert (first(wide), first(narrow)) == ("end", "start")


def test_the_number_at_the_edge_stays_inside() -> None:
    assert 'text-anchor="start"' in grid_line("0", x=0, top=0, bottom=10)
    assert 'text-anchor="middle"' in grid_line("5", x=100, top=0, bottom=10)
