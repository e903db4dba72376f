from __future__ import annotations

import pytest
from hypothesis import given, settings

from burnish.hw.spec import for_cores, load
from burnish.tile.connect import singles
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.measures import compare, measure
from burnish.tile.predict import Predictions
from tile_samples import Sketch, chain_of_layers, feed_forward, scores, whole
from tile_strategies import UNHURRIED, chains

AVX512 = machine(for_cores(load("x86-avx512"), 2))
ONE_CORE = machine(load("x86-avx2"))


def test_each_degree_of_fusion_has_its_row() -> None:
    rows = compare([feed_forward(16, 32, 128)], AVX512)
    assert [row.fusion for row in rows] == ["none", "element-wise", "full"]
    assert [row.kernels for row in rows] == sorted((r.kernels for r in rows), reverse=True)
    none, base, full = rows
    assert none.kernels == 9
    assert base.kernels < none.kernels
    assert full.kernels < base.kernels
    assert full.intermediate_bytes < base.intermediate_bytes < none.intermediate_bytes
    assert full.traffic_bytes < base.traffic_bytes < none.traffic_bytes
    assert full.seconds < base.seconds < none.seconds


def test_intermediate_results_are_what_kernels_write() -> None:
    graph = scores(1024, 64, 128)
    predictions = Predictions(graph, ONE_CORE)
    apart = measure(singles(graph), predictions, "none")
    together = measure([whole(graph)], predictions)
    assert apart.intermediate_bytes == (3 * 1024 * 128 + 2 * 1024) * 4
    assert together.intermediate_bytes == 1024 * 128 * 4
    assert (apart.kernels, together.kernels) == (5, 1)


def test_a_tensor_that_is_needed_outside_counts_once() -> None:
    graph = chain_of_layers(64, 16, 1)
    both = Group(graph.ops, tuple(op.output for op in graph.ops))
    found = measure([both], Predictions(graph, ONE_CORE))
    assert found.intermediate_bytes == 2 * 64 * 16 * 4


def test_traffic_passes_between_a_units_memory_and_the_shared_one() -> None:
    graph = chain_of_layers(4096, 64, 2)
    found = measure([whole(graph)], Predictions(graph, ONE_CORE))
    tensors, weights = 2 * 4096 * 64 * 4, 2 * 64 * 64 * 4
    assert tensors + weights <= found.traffic_bytes < 1.1 * (tensors + weights)


def test_parts_of_a_model_add_up() -> None:
    part = chain_of_layers(64, 16, 1)
    for once, twice in zip(compare([part], AVX512), compare([part, part], AVX512), strict=True):
        assert twice.kernels == 2 * once.kernels
        assert twice.intermediate_bytes == 2 * once.intermediate_bytes
        assert twice.traffic_bytes == pytest.approx(2 * once.traffic_bytes)
        assert twice.seconds == pytest.approx(2 * once.seconds)


def test_an_output_without_elements_moves_nothing() -> None:
    sketch = Sketch(x=(0, 8))
    graph = sketch.graph(sketch.relu("x"))
    found = measure(singles(graph), Predictions(graph, AVX512))
    assert (found.kernels, found.intermediate_bytes, found.traffic_bytes) == (1, 0, 0)


@settings(UNHURRIED, max_examples=10)
@given(chains(steps=3))
def test_fusing_never_adds_kernels_or_predicted_time(graph: TileGraph) -> None:
    none, base, full = compare([graph], ONE_CORE)
    assert none.kernels >= base.kernels >= full.kernels
    assert full.seconds <= base.seconds * (1 + 1e-9)
