"""Loads of what a computed place picks among all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.choose import priced
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import inputs_of, parsed


def messages(edges: int, nodes: int, width: int, reduction: str = "add") -> TileGraph:
    """Return updates that are sent to places, which are asked for by each of these."""
    return parsed(
        f"""messages (float16[{edges},{width}] updates, float16[{nodes},{width}] x,
        int64[{edges},1] places) => (float16[{nodes},{width}] y)
        {{ y = ScatterND<reduction="{reduction}">(x, places, updates) }}"""
    )


def elements(edges: int, nodes: int, width: int) -> TileGraph:
    """Return updates with a place for each element of theirs."""
    return parsed(
        f"""elements (float[{edges},{width}] updates, float[{nodes},{width}] x,
        int64[{edges},{width}] places) => (float[{nodes},{width}] y)
        {{ y = ScatterElements<axis=0, reduction="add">(x, places, updates) }}"""
    )


def fed(graph: TileGraph, nodes: int, seed: int = 0) -> dict[str, Array]:
    """Return inputs whose places exist, some counted from the end."""
    inputs = inputs_of(graph)
    drawn = np.random.default_rng(seed).integers(-nodes, nodes, inputs["places"].shape)
    return {**inputs, "places": drawn}


def assert_right(graph: TileGraph, inputs: dict[str, Array], blocks: dict[str, int]) -> None:
    group = Group(graph.ops, graph.outputs)
    found = run_groups(graph, [(group, blocks)], inputs)["y"]
    np.testing.assert_allclose(
        found.astype(np.float32), evaluate(graph, inputs)["y"].astype(np.float32),
        rtol=2e-3, atol=5e-2 if found.dtype == np.float16 else 2e-3,  # each sum is rounded
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from([messages, elements]), st.integers(1, 90), st.integers(2, 20),
    st.integers(1, 12), st.sampled_from([8, 64, 2048]), st.integers(0, 99),
)  # fmt: skip
def test_what_places_pick_is_what_the_judge_adds_up(  # what is drawn
    made: type, edges: int, nodes: int, width: int, m: int, seed: int
) -> None:
    graph = made(edges, nodes, width)
    assert_right(graph, fed(graph, nodes, seed), {"m": m, "warps": 4, "stages": 1})


def test_what_is_no_number_is_added_where_it_is_sent_and_nowhere_else() -> None:
    graph = messages(40, 8, 4)
    inputs = fed(graph, 8)
    inputs["updates"][7], inputs["updates"][9] = np.nan, np.inf
    assert_right(graph, inputs, {"m": 8, "warps": 4, "stages": 1})


@pytest.mark.parametrize("made", [messages, elements])
def test_updates_are_loaded_only_where_they_are_sent(made: type) -> None:
    graph = made(200, 64, 16)
    group, schedule = Group(graph.ops, graph.outputs), Schedule((64, 16), settings={"m": 8})
    (launch,) = emit(group, schedule, graph, GpuTarget())
    (line,) = (each for each in launch.source.splitlines() if "picked_1 =" in each)
    assert "mask=(place_1.to(tl.int32) ==" in line
    assert "tl.where((" not in line
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert breaches(launch, sizes, all_programs=True) == ()
    found = priced(group, schedule, graph, load("nvidia-h200"), GpuTarget())
    tally = found.launches[0].tally
    asked, moved = 8 * 200, tally.loaded_bytes["updates"] / (2 if made is messages else 4)
    assert moved < asked / 32


def test_the_greatest_of_what_is_sent_is_compared_as_it_was() -> None:
    graph = messages(40, 8, 4, "max")
    (launch,) = emit(Group(graph.ops, graph.outputs), Schedule((8, 4)), graph, GpuTarget())
    assert "picked" not in launch.source
    assert_right(graph, fed(graph, 8), {"m": 8, "warps": 4, "stages": 1})
