"""What is predicted is predicted once: equal graphs and equal groups are not looked at again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.schedule import Predicted
from burnish.tile.graph import TileGraph
from burnish.tile.partition import Fusion, Partition
from burnish.tile.simplify import simplify
from codegen.tune.measurer import BACKEND
from tile_samples import feed_forward


@pytest.fixture
def partitioned(monkeypatch: pytest.MonkeyPatch) -> list[TileGraph]:
    """Return the graphs that are taken apart, as they come."""
    seen: list[TileGraph] = []
    usual = CpuBackend.partition

    def partition(self: CpuBackend, graph: TileGraph, fusion: Fusion) -> Partition:
        seen.append(graph)
        return usual(self, graph, fusion)

    monkeypatch.setattr(CpuBackend, "partition", partition)
    return seen


def sample(columns: int = 48) -> TileGraph:
    return simplify(feed_forward(16, 32, columns))


def test_equal_graphs_are_taken_apart_once(partitioned: list[TileGraph]) -> None:
    predicted = Predicted(BACKEND)
    first, again = predicted.partition(sample()), predicted.partition(sample())
    assert len(partitioned) == 1
    assert again == first == BACKEND.partition(sample(), "full").groups


def test_other_graphs_are_taken_apart_anew(partitioned: list[TileGraph]) -> None:
    graph = sample()
    renamed = tuple(replace(op, nodes=("another",)) for op in graph.ops)
    others = (sample(64), replace(graph, ops=renamed), replace(graph, constants={}, inputs=(
        *graph.inputs, *graph.constants,
    )))  # fmt: skip
    predicted = Predicted(BACKEND)
    predicted.partition(graph)
    for other in others:
        groups = predicted.partition(other)
        assert [op for group in groups for op in group.ops if op.nodes == ("another",)] or (
            other.ops is not renamed
        )
    assert len(partitioned) == 1 + len(others)
