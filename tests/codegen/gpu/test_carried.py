"""Windows with many taps: sums that a program carries on from row to row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.carried import CARRIED
from burnish.codegen.gpu.choose import candidates, priced
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.launch import Launch
from burnish.hw.spec import load
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import compiled, run_groups
from codegen.gpu.models import inputs_of, parsed

CHANNELS_LAST = {"x": (0, 2, 3, 1), "y": (0, 2, 3, 1), "w": (2, 3, 1, 0)}
WINDOWS = {
    "padded": """padded (float16[2,8,9,10] x, float16[8,1,7,7] w, float16[8] b)
        => (float16[2,8,9,10] y) { y = Conv<group=8, pads=[3,3,3,3]>(x, w, b) }""",
    "inside": """inside (float16[2,8,15,16] x, float16[8,1,7,7] w, float16[8] b)
        => (float16[2,8,9,10] y) { y = Conv<group=8>(x, w, b) }""",
    "added": """added (float16[1,8,6,7] x, float16[8,1,7,5] w, float16[1,8,6,7] r)
        => (float16[1,8,6,7] y)
        { c = Conv<group=8, pads=[3,2,3,2]>(x, w) d = Relu(c) y = Add(d, r) }""",
    "gated": """gated (float16[1,16,6,7] x, float16[16,1,3,3] w) => (float16[1,8,6,7] y)
        { c = Conv<group=16, pads=[1,1,1,1]>(x, w) a, b = Split<axis=1, num_outputs=2>(c)
          y = Mul(a, b) }""",
    "largest": """largest (float[1,8,6,7] x) => (float[1,8,6,7] y)
        { y = MaxPool<kernel_shape=[7,7], pads=[3,3,3,3]>(x) }""",
    "average": """average (float[1,8,6,7] x) => (float[1,8,6,7] y)
        { y = AveragePool<kernel_shape=[5,5], pads=[2,2,2,2]>(x) }""",
    "mask": """mask (bool[1,8,6,7] x, float16[8,1,7,7] w) => (float16[1,8,6,7] y)
        { f = Cast<to=10>(x) y = Conv<group=8, pads=[3,3,3,3]>(f, w) }""",
    "fetched": """fetched (float16[1,8,6,7] x, int64[6] i, float16[8,1,7,7] w)
        => (float16[1,8,6,7] y)
        { g = Gather<axis=2>(x, i) y = Conv<group=8, pads=[3,3,3,3]>(g, w) }""",
    "nine": """nine (float16[1,8,10,9] x, float16[8,1,9,9] w) => (float16[1,8,10,9] y)
        { c = Conv<group=8, pads=[4,4,4,4]>(x, w) d = Relu(c) y = Add(d, x) }""",
    "eleven": """eleven (float16[1,8,6,7] x, float16[8,1,11,11] w) => (float16[1,8,6,7] y)
        { y = Conv<group=8, pads=[5,5,5,5]>(x, w) }""",
    "small": """small (float16[3,16,2,3] x, float16[16,1,7,7] w) => (float16[3,16,2,3] y)
        { y = Conv<group=16, pads=[3,3,3,3]>(x, w) }""",
}


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, graph.outputs)


def blocks(turns: int, across: int = 3) -> dict[str, int]:
    """Return blocks whose sums are carried on."""
    return {"m": 32, "across": across, "turns": turns, "warps": 1, CARRIED: 1}


def launch_of(graph: TileGraph, own: dict[str, int], *, last: bool = False) -> Launch:
    """Return a whole graph as one kernel; `last`: its channels lie innermost."""
    target = GpuTarget(orders=CHANNELS_LAST if last else {})
    (launch,) = emit(whole(graph), Schedule((), settings=own), graph, target)
    return launch


@pytest.mark.torch
@pytest.mark.parametrize("turns", [2, 4])
@pytest.mark.parametrize("name", WINDOWS)
def test_sums_that_are_carried_on_give_what_the_judge_gives(name: str, turns: int) -> None:
    graph = parsed(WINDOWS[name])
    turns = min(turns, graph.tensors["y"].shape[2])
    assert "carried_1 = nothing_1" in launch_of(graph, blocks(turns)).source
    inputs = inputs_of(graph)
    found = run_groups(graph, [(whole(graph), blocks(turns))], inputs)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(
        found.astype(np.float32), wanted.astype(np.float32), rtol=2e-3, atol=2e-3
    )


@settings(max_examples=15, deadline=None)
@example(3, 3, 6, 2, 2, 2, 1, False)
@given(
    st.integers(3, 12), st.integers(3, 12), st.integers(2, 7), st.integers(2, 7),
    st.integers(0, 3), st.integers(2, 6), st.integers(1, 5), st.booleans(),
)  # fmt: skip
def test_whoever_walks_stays_inside(  # noqa: PLR0917  # what is drawn
    height: int, width: int, tall: int, wide: int, pad: int, turns: int, across: int, last: bool
) -> None:
    rows, columns = height + 2 * pad - tall + 1, width + 2 * pad - wide + 1
    if min(rows, columns) < 2:
        return
    graph = parsed(
        f"""drawn (float16[2,8,{height},{width}] x, float16[8,1,{tall},{wide}] w)
        => (float16[2,8,{rows},{columns}] y)
        {{ y = Conv<group=8, pads=[{pad},{pad},{pad},{pad}]>(x, w) }}"""
    )
    launch = launch_of(graph, blocks(turns, across), last=last)
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert breaches(launch, sizes, all_programs=True) == ()
    stores = [line for line in launch.source.splitlines() if "tl.store(" in line]
    # taps that see nothing but padding are left out
    seen = [tap for tap in range(tall) if any(0 <= row + tap - pad < height for row in range(rows))]
    if turns <= rows:
        assert all(f"(turn_1 >= {len(seen) - 1})" in line for line in stores)


@pytest.mark.torch
@settings(max_examples=6, deadline=None)
@given(
    st.sampled_from(["float", "float16", "bfloat16"]), st.tuples(*[st.integers(2, 11)] * 2),
    st.sampled_from([(7, 7), (5, 5), (7, 3), (2, 6)]), st.tuples(*[st.integers(0, 4)] * 4),
    st.integers(1, 2), st.integers(2, 5), st.integers(1, 4), st.booleans(),
)  # fmt: skip
def test_sums_are_right_whatever_sizes_there_are(  # noqa: PLR0917  # what is drawn
    dtype: str, size: tuple[int, int], taps: tuple[int, int], pads: tuple[int, ...],
    outputs: int, turns: int, across: int, last: bool,
) -> None:  # fmt: skip
    rows, columns = (size[d] + pads[d] + pads[d + 2] - taps[d] + 1 for d in (0, 1))
    assume(rows >= turns and columns >= 2)
    taken = f"{dtype}[2,4,{size[0]},{size[1]}] x, {dtype}[{4 * outputs},1,{taps[0]},{taps[1]}] w"
    made = f"{dtype}[2,{4 * outputs},{rows},{columns}]"
    graph = parsed(
        f"""drawn ({taken}, {made} r) => ({made} c, {made} y)
        {{ c = Conv<group=4, pads={list(pads)}>(x, w) d = Relu(c) y = Add(d, r) }}"""
    )
    inputs, order = inputs_of(graph), (0, 2, 3, 1)
    orders = dict.fromkeys(("x", "y", "c"), order) if last else {}
    found = run_groups(graph, [(whole(graph), blocks(turns, across))], inputs, orders)
    near = {"float": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    for name, wanted in evaluate(graph, inputs).items():
        largest = float(np.abs(wanted.astype(np.float64)).max())
        np.testing.assert_allclose(
            found[name].astype(np.float64), wanted.astype(np.float64), near, near * largest
        )


def test_a_turn_loads_one_row_ahead_and_each_tap_is_loaded_once() -> None:
    graph = parsed(WINDOWS["padded"])
    before, loop = launch_of(graph, blocks(3), last=True).source.split("for turn_1 in range(9):")
    assert loop.count("tl.load(") == 9  # three neighbours and what six further taps reach
    assert loop.count("(turn_1 + 1 < 9)") == 9
    assert before.count("tl.load(t1") == 49


def test_what_is_not_complete_yet_is_not_stored() -> None:
    graph = parsed(WINDOWS["padded"])
    launch = launch_of(graph, blocks(3))
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    careless = replace(launch, source=launch.source.replace("(turn_1 >= 6)", "True"))
    assert breaches(careless, sizes, all_programs=True)


@pytest.mark.parametrize(
    "text",
    [
        """strided (float16[2,8,15,16] x, float16[8,1,7,7] w) => (float16[2,8,5,5] y)
        { y = Conv<group=8, strides=[2,2]>(x, w) }""",
        """spread (float16[2,8,20,20] x, float16[8,1,7,7] w) => (float16[2,8,8,8] y)
        { y = Conv<group=8, dilations=[2,2]>(x, w) }""",
    ],
)
def test_rows_that_not_every_output_reads_are_not_carried(text: str) -> None:
    assert "carried" not in launch_of(parsed(text), blocks(2)).source


def test_sums_that_are_added_up_further_are_not_carried() -> None:
    graph = parsed(
        """further (float[2,2048,8,8] x, float[2048,1,7,7] w) => (float[2,1,8,8] y)
        { c = Conv<group=2048, pads=[3,3,3,3]>(x, w) a = Constant<value_ints=[1]>()
          y = ReduceSum(c, a) }"""
    )
    source = launch_of(graph, blocks(4, 2)).source
    assert "        for step_1 in range(" in source  # a turn has a loop over channels
    assert "carried" not in source


def test_a_single_row_at_a_time_is_carried() -> None:
    graph = parsed(WINDOWS["padded"])
    assert "carried" not in launch_of(graph, {**blocks(3), "down": 2}).source
    assert "carried" not in launch_of(graph, blocks(1)).source


def tried(taps: int, batch: int = 32) -> list[dict[str, int]]:
    """Return the blocks that are tried for a window of so many taps each way."""
    pad = taps // 2
    graph = parsed(
        f"""tried (float16[{batch},96,28,28] x, float16[96,1,{taps},{taps}] w)
        => (float16[{batch},96,28,28] y)
        {{ y = Conv<group=96, pads=[{pad},{pad},{pad},{pad}]>(x, w) }}"""
    )
    target = GpuTarget(orders=CHANNELS_LAST)
    return [dict(each) for each in candidates(whole(graph), target)]


def test_only_windows_with_many_taps_are_carried() -> None:
    assert not any(CARRIED in each for taps in (3, 13) for each in tried(taps))
    assert all(any(CARRIED in each for each in tried(taps)) for taps in (9, 11))
    found = [each for each in tried(7) if CARRIED in each]
    assert {each["across"] for each in found} == {7, 4}
    assert {each["turns"] for each in found} >= {28, 14}


def test_windows_of_25_taps_are_carried_where_a_card_is_busy_all_the_same() -> None:
    found = [each for each in tried(5) if CARRIED in each]
    assert {each["turns"] for each in found} == {28, 14}
    assert {each["m"] // each["warps"] for each in found} == {64}  # two channels of a thread
    assert not any(CARRIED in each for each in tried(5, batch=1))


def test_programs_of_few_outputs_take_few_turns() -> None:
    found = [each for each in tried(7, batch=1) if CARRIED in each]
    assert found
    assert all(each["turns"] <= 7 for each in found)


def test_carrying_is_predicted_to_pay_and_to_fit() -> None:
    graph = parsed(
        """many (float16[32,192,28,28] x, float16[192,1,7,7] w) => (float16[32,192,28,28] y)
        { y = Conv<group=192, pads=[3,3,3,3]>(x, w) }"""
    )
    target, device = GpuTarget(orders=CHANNELS_LAST), load("nvidia-h200")

    def seconds(own: dict[str, int]) -> float:
        found = priced(whole(graph), Schedule((), settings=own), graph, device, target)
        assert not any(each.spills for each in found.prices)
        return found.seconds

    walking = {"m": 64, "across": 7, "turns": 28, "warps": 2, "stages": 1}
    assert seconds({**walking, CARRIED: 1}) < 0.5 * seconds(walking)
    wide = {**walking, "m": 256, CARRIED: 1}
    with pytest.raises(NoGroupError, match="do not fit the registers"):
        seconds(wide)


@pytest.mark.slow
@pytest.mark.torch
def test_a_window_of_49_taps_fits_the_registers_of_a_hopper(golden: Callable[..., None]) -> None:
    graph = parsed(
        """hopper (float16[2,64,28,28] x, float16[64,1,7,7] w, float16[64] b)
        => (float16[2,64,28,28] y) { y = Conv<group=64, pads=[3,3,3,3]>(x, w, b) }"""
    )
    rows = []
    for across, turns in ((7, 28), (4, 14)):
        own = {"m": 64, "across": across, "turns": turns, "warps": 2, "stages": 1, CARRIED: 1}
        made = compiled(launch_of(graph, own, last=True), 90)
        assert made.stack_bytes == 0
        rows.append(f"{across} by {turns}: {made.registers} registers")
    golden("\n".join(rows) + "\n", suffix="txt")


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(("taps", "across"), [(9, 8), (9, 4), (11, 4)])
def test_longer_windows_fit_the_registers_of_a_hopper(taps: int, across: int) -> None:
    pad = taps // 2
    graph = parsed(
        f"""longer (float16[2,64,32,32] x, float16[64,1,{taps},{taps}] w, float16[64] b)
        => (float16[2,64,32,32] y)
        {{ y = Conv<group=64, pads=[{pad},{pad},{pad},{pad}]>(x, w, b) }}"""
    )
    own = {"m": 64, "across": across, "turns": 16, "warps": 2, "stages": 1, CARRIED: 1}
    assert compiled(launch_of(graph, own, last=True), 90).stack_bytes == 0


def test_the_text_is_what_it_was(golden: Callable[..., None]) -> None:
    graph = parsed(
        """text (float16[2,16,8,8] x, float16[16,1,3,3] w) => (float16[2,16,8,8] y)
        { y = Conv<group=16, pads=[1,1,1,1]>(x, w) }"""
    )
    source = launch_of(graph, {**blocks(4, 2), "m": 64}, last=True).source
    assert len(re.findall(r"\n    carried_\d+ = nothing_", source)) == 4
    golden(source, suffix="py.txt")
