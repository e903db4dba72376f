from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from burnish.report.exports import model_explorer
from burnish.report.graph.picture import Picture
from sample_picture import diamond, sample_picture


def test_the_graph_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(model_explorer.graph(sample_picture()), suffix="json")


def test_the_node_data_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(model_explorer.node_data(sample_picture()), suffix="json")


def test_values_are_written_once_so_that_their_sum_is_the_time() -> None:
    data = json.loads(model_explorer.node_data(sample_picture()))["main"]
    assert sum(result["value"] for result in data["results"].values()) == pytest.approx(65.0)
    assert "bias" not in data["results"]


def test_every_edge_and_overlay_names_nodes_that_are_there() -> None:
    (graph,) = json.loads(model_explorer.graph(sample_picture()))["graphs"]
    ids = {node["id"] for node in graph["nodes"]}
    assert len(ids) == len(graph["nodes"])
    assert all(e["sourceNodeId"] in ids for node in graph["nodes"] for e in node["incomingEdges"])
    (overlay,) = graph["tasksData"]["edgeOverlaysDataListLeftPane"][0]["overlays"]
    assert [(e["sourceNodeId"], e["targetNodeId"]) for e in overlay["edges"]] == [
        ("value", "bias"), ("bias", "score"), ("score", "flat"), ("flat", "soft"),
    ]  # fmt: skip


def test_a_graph_without_times_has_neither_overlay_nor_values() -> None:
    picture = Picture("sample", diamond())
    assert "tasksData" not in model_explorer.graph(picture)
    assert json.loads(model_explorer.node_data(picture))["main"]["results"] == {}
