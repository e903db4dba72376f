from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.reference import evaluate
from burnish.tile.simplify import Fusion, simplify
from tile.random_graphs import graphs

FUSIONS: tuple[Fusion, ...] = ("none", "element-wise")


@settings(max_examples=400, deadline=None)
@given(graphs(), st.sampled_from(FUSIONS))
def test_the_judge_sees_no_difference(
    case: tuple[TileGraph, dict[str, Array]], fusion: Fusion
) -> None:
    graph, inputs = case
    simple = simplify(graph, fusion=fusion)
    expected = evaluate(graph, inputs)
    found = evaluate(simple, inputs)
    assert simple.inputs == graph.inputs
    assert list(found) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.sampled_from(FUSIONS))
def test_simplifying_twice_changes_nothing_more(
    case: tuple[TileGraph, dict[str, Array]], fusion: Fusion
) -> None:
    once = simplify(case[0], fusion=fusion)
    twice = simplify(once, fusion=fusion)
    assert twice.ops == once.ops
    assert set(twice.constants) == set(once.constants)
