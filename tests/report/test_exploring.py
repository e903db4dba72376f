from __future__ import annotations

import json

import pytest

from burnish.analyze.simulate import simulate
from burnish.report import exploring
from burnish.report.graph.picture import Picture
from sample_picture import diamond, sample_picture


def test_everything_refers_to_nodes_and_events_by_number() -> None:
    found = exploring.data(sample_picture())
    names = found["names"]
    edges = list(zip(found["edges"][::2], found["edges"][1::2], strict=True))
    assert ("x", "query") in [(names[a], names[b]) for a, b in edges]
    assert ("soft", "soft_out") in [(names[a], names[b]) for a, b in edges]
    fused = next(event for event in found["events"] if event["n"] == "value_fused")
    assert [names[index] for index in fused["m"]] == ["value", "bias"]
    assert {len(found[key]) for key in ("names", "ops", "kinds", "hidden", "scope", "details")} == {
        9
    }


def test_sizes_are_marked_as_hidden() -> None:
    found = exploring.data(sample_picture())
    hidden = zip(found["names"], found["hidden"], strict=True)
    assert [name for name, mark in hidden if mark] == ["size"]


def test_a_graph_without_times_has_no_events() -> None:
    found = exploring.data(Picture("sample", diamond()))
    assert found["events"] == found["sliders"] == []


def test_json_cannot_end_its_element() -> None:
    text = exploring.script_json({"a": "</script><!--\u2028"})
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == {"a": "</script><!--\u2028"}


def test_ranked_rows_add_up_to_the_wall_time() -> None:
    timing = sample_picture().timing
    assert timing is not None
    charts = exploring.charts(timing, diamond())
    assert set(charts) == {"operators", "nodes", "roofline", "timeline", "tornado"}
    assert "unattributed" in charts["operators"]
    assert "between events" in charts["operators"]
    rows = exploring._operator_rows(timing)
    assert sum(row.seconds_s for row in rows) == pytest.approx(simulate(timing.events).wall_s)
