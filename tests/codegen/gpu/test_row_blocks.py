"""Blocks of outputs that each sum up terms, without products."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.choose import GpuPredicted, candidates, priced
from burnish.codegen.gpu.form import ALONG, walked
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.row_blocks import SPELLED_OUT
from burnish.hw.spec import load
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import inputs_of, parsed

H200 = load("nvidia-h200")
PADDED = """padded (float16[1,12,9,9] x, float16[12,1,4,4] w) => (float16[1,12,11,11] y)
    { c = Conv<group=12, pads=[1,1,2,2]>(x, w) r = Relu(c)
      q = Constant<value_ints=[0,0,1,1,0,0,1,1]>() y = Pad(r, q) }"""
LARGEST = """largest (float[3,50,20] x) => (float[3,50] y)
    { a = Constant<value_ints=[2]>() y = ReduceMax<keepdims=0>(x, a) }"""
AVERAGE = """average (float16[3,7,40] x) => (float16[3,1,40] y)
    { a = Constant<value_ints=[1]>() y = ReduceMean(x, a) }"""
NESTED = """nested (float16[2,7,7,24] x) => (float16[2,1,1,24] y)
    { a = Constant<value_ints=[1]>() b = Constant<value_ints=[2]>()
      m = ReduceMean(x, a) y = ReduceMean(m, b) }"""
MESSAGES = """messages (float16[20,6] updates, float16[8,6] x, int64[20,1] places)
    => (float16[8,6] y) { y = ScatterND<reduction="add">(x, places, updates) }"""
SHORT = {"padded": PADDED, "largest": LARGEST, "average": AVERAGE, "nested": NESTED,
         "messages": MESSAGES}  # fmt: skip
LONG = """long (float16[2048,4096] x) => (float16[2048,1] y)
    { a = Constant<value_ints=[1]>() y = ReduceSum(x, a) }"""


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, graph.outputs)


@pytest.mark.parametrize("blocks", SPELLED_OUT, ids=str)
@pytest.mark.parametrize("name", sorted(SHORT))
def test_spelled_out_sums_give_what_the_judge_gives_in_any_block(
    name: str, blocks: tuple[int, int]
) -> None:
    graph = parsed(SHORT[name])
    inputs = inputs_of(graph)
    if name == "largest":
        inputs["x"][1, 7, 3] = inputs["x"][2, 49, 19] = np.nan
    m, warps = blocks
    found = run_groups(graph, [(whole(graph), {"m": m, "warps": warps, "stages": 1})], inputs)
    wanted = evaluate(graph, inputs)
    np.testing.assert_allclose(
        found["y"].astype(np.float32), wanted["y"].astype(np.float32), rtol=2e-3, atol=2e-3
    )


@pytest.mark.parametrize("name", sorted(SHORT))
def test_spelled_out_sums_have_a_lane_for_each_output(name: str) -> None:
    graph = parsed(SHORT[name])
    assert {(each["m"], each["warps"]) for each in candidates(whole(graph), GpuTarget())} >= {
        *SPELLED_OUT
    }
    best = GpuPredicted(H200).best(whole(graph), graph).schedule.settings
    assert best["m"] >= 32 * best["warps"]


def test_long_sums_have_lanes_for_their_terms() -> None:
    graph = parsed(LONG)
    assert {each["m"] for each in candidates(whole(graph), GpuTarget())} >= {1, 8}
    assert GpuPredicted(H200).best(whole(graph), graph).schedule.settings["m"] <= 8


def test_lanes_that_are_idle_cost_as_much_as_those_that_compute() -> None:
    graph = parsed(LARGEST.replace("3,50", "128,512"))
    seconds = {}
    for m in (8, 128):
        schedule = Schedule((128, 512), settings={"m": m, "warps": 4, "stages": 1})
        found = priced(whole(graph), schedule, graph, H200, GpuTarget())
        seconds[m] = found.prices[0].lane_s
    assert 10 * seconds[128] < seconds[8] < 20 * seconds[128]


def test_a_card_starts_one_small_program_after_the_other() -> None:
    graph = parsed("many (float16[4194304] x) => (float16[4194304] y) { y = Relu(x) }")
    seconds = {}
    for m, warps in ((32, 1), (1024, 4)):
        schedule = Schedule((4194304,), settings={"m": m, "warps": warps, "stages": 1})
        seconds[m] = priced(whole(graph), schedule, graph, H200, GpuTarget()).seconds
    assert seconds[32] > 60e-6 > 6 * seconds[1024]


POINTS = """points (float[2,16,40,20] x) => (float[2,16,40] y)
    { a = Constant<value_ints=[3]>() y = ReduceMax<keepdims=0>(x, a) }"""
CHANNELS_LAST = {"x": (0, 2, 3, 1)}


@pytest.mark.parametrize("m", [8, 32, 128, 1024])
def test_lanes_along_what_is_read_give_what_the_judge_gives(m: int) -> None:
    graph = parsed(POINTS)
    inputs = inputs_of(graph)
    inputs["x"][1, 3, 7, 5] = np.nan
    blocks = {"m": m, "warps": 1, "stages": 1, ALONG: 1}
    found = run_groups(graph, [(whole(graph), blocks)], inputs, CHANNELS_LAST)["y"]
    np.testing.assert_array_equal(found, evaluate(graph, inputs)["y"])
    for orders in (CHANNELS_LAST, {}):
        target = GpuTarget(orders=orders)
        (launch,) = emit(whole(graph), Schedule((2, 16, 40), settings=blocks), graph, target)
        sizes = {name: kind.size for name, kind in graph.tensors.items()}
        assert breaches(launch, sizes, all_programs=True) == ()


def test_lanes_run_along_what_is_read_where_that_lies_otherwise_than_the_output() -> None:
    graph = parsed(POINTS.replace("16,40", "128,512"))
    target = GpuTarget(orders=CHANNELS_LAST)
    best = GpuPredicted(H200, target).best(whole(graph), graph)
    assert best.schedule.settings[ALONG] == 1
    assert all(ALONG not in each for each in candidates(whole(graph), GpuTarget()))


def test_dimensions_are_walked_as_they_lie_or_along_the_one_that_settings_name() -> None:
    dims = walked(parsed(POINTS).ops[0], {}, {ALONG: 1})
    assert dims == (0, 2, 1)
    assert walked(parsed(POINTS).ops[0], {}, {ALONG: 3}) == (0, 1, 2)
    assert walked(parsed(POINTS).ops[0], {"y": (2, 0, 1)}, {}) == (2, 0, 1)
