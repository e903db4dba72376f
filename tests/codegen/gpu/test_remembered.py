"""What a search found out spares another one the search."""

from __future__ import annotations

import json

import pytest

from burnish.codegen.gpu import choose
from burnish.codegen.gpu.choose import GpuPredicted
from burnish.codegen.gpu.remembered import recalled, remembered
from burnish.hw.spec import load
from burnish.tile.connect import NoGroupError
from burnish.tile.group import Group
from codegen.gpu.models import graph_of

H200 = load("nvidia-h200")


def test_a_second_search_finds_the_same_without_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of("inverted_residual")
    first = GpuPredicted(H200)
    choices = first(graph)
    told = json.loads(json.dumps(remembered(first.known)))
    monkeypatch.setattr(choose, "priced", None)
    again = GpuPredicted(H200, known=recalled(told))
    assert again(graph) == choices


def test_a_time_that_a_card_told_decides() -> None:
    graph = graph_of("product")
    group = Group(graph.ops, graph.outputs)
    first = GpuPredicted(H200)
    first.best(group, graph)
    ((name, (tile, settings, _, moved)),) = remembered(first.known).items()
    told = {name: [tile, {**settings, "m": 16}, 1e-3, moved]}
    found = GpuPredicted(H200, known=recalled(told)).best(group, graph)
    assert (found.schedule.settings["m"], found.seconds) == (16, 1e-3)


def test_a_reason_is_kept() -> None:
    graph = graph_of("product")
    group = Group(graph.ops, graph.outputs)
    first = GpuPredicted(H200)
    first.best(group, graph)
    told = dict.fromkeys(first.known, "it is too wide")
    with pytest.raises(NoGroupError, match="it is too wide"):
        GpuPredicted(H200, known=recalled(told)).best(group, graph)
