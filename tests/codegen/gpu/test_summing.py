"""Sums over an image that the kernel which writes it begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.carried import CARRIED
from burnish.codegen.gpu.choose import GpuPredicted, candidates, priced
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.summing import SUMMED, image_sum, sums_of
from burnish.hw.spec import load
from burnish.tile.connect import NoGroupError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import compiled, run_groups
from codegen.gpu.models import inputs_of, parsed

CHANNELS_LAST = {"x": (0, 2, 3, 1), "y": (0, 2, 3, 1), "w": (2, 3, 1, 0)}
GATED = """gated (float16[2,16,8,8] x, float16[16,1,3,3] w)
    => (float16[2,8,8,8] y, float16[2,8,1,1] s)
    { c = Conv<group=16, pads=[1,1,1,1]>(x, w) a, b = Split<axis=1, num_outputs=2>(c)
      y = Mul(a, b) s = GlobalAveragePool(y) }"""
TALL = """tall (float16[1,16,12,8] x, float16[16,1,5,5] w)
    => (float16[1,16,12,8] y, float16[1,16,1,1] s)
    { c = Conv<group=16, pads=[2,2,2,2]>(x, w) y = Relu(c) s = GlobalAveragePool(y) }"""
WIDE = """wide (float16[2,64,4,4] x, float16[64,1,3,3] w)
    => (float16[2,64,4,4] y, float16[2,64,1,1] s)
    { y = Conv<group=64, pads=[1,1,1,1]>(x, w) s = GlobalAveragePool(y) }"""
SINGLE = """single (float[2,4,8,8] x, float[2,4,8,8] z) => (float[2,4,8,8] y, float[2,4,1,1] s)
    { a = Add(x, z) y = Tanh(a) s = GlobalAveragePool(y) }"""
SAME = """same (float[1,1,1,1] x) => (float[2,4,8,8] y, float[2,4,1,1] s)
    { t = Constant<value_ints=[2,4,8,8]>() e = Expand(x, t) y = Tanh(e)
      s = GlobalAveragePool(y) }"""
WINDOW = {"across": 2, "down": 2, "warps": 1, "stages": 1, SUMMED: 1}
CASES = {
    "several rows of a program": (GATED, CHANNELS_LAST, {**WINDOW, "m": 32}),
    "a row of a program": (GATED, CHANNELS_LAST, {**WINDOW, "m": 8}),
    "parts of a row": (WIDE, CHANNELS_LAST, {**WINDOW, "m": 16}),
    "channels outside": (GATED, {}, {**WINDOW, "m": 16}),
    "in turns": (TALL, CHANNELS_LAST, {**WINDOW, "m": 32, "down": 1, "turns": 6}),
    "carried": (TALL, CHANNELS_LAST, {**WINDOW, "m": 16, "down": 1, "turns": 6, CARRIED: 1}),
    "no windows": (SINGLE, {}, {"m": 32, "warps": 1, "stages": 1, SUMMED: 1}),
    "the same everywhere": (SAME, {}, {"m": 32, "warps": 1, "stages": 1, SUMMED: 1}),
    "the same in each row": (SAME, CHANNELS_LAST, {"m": 32, "warps": 1, "stages": 1, SUMMED: 1}),
    "one number each": (SINGLE, CHANNELS_LAST, {"m": 64, "warps": 1, "stages": 1, SUMMED: 1}),
}


def whole(graph: TileGraph) -> Group:
    """Return all nests of a graph as one group."""
    return Group(graph.ops, graph.outputs)


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_what_is_written_and_its_sums_are_what_the_judge_gives(name: str) -> None:
    text, orders, own = CASES[name]
    graph = parsed(text)
    inputs = inputs_of(graph)
    wanted = evaluate(graph, inputs)
    for output in ("y", "s"):
        found = run_groups(graph, [(whole(graph), own)], inputs, orders)[output]
        np.testing.assert_allclose(
            found.astype(np.float32), wanted[output].astype(np.float32), rtol=3e-3, atol=3e-3
        )


@pytest.mark.parametrize("name", CASES)
def test_two_kernels_write_both_and_stay_inside(name: str) -> None:
    text, orders, own = CASES[name]
    graph = parsed(text)
    first, second = emit(whole(graph), Schedule((), settings=own), graph, GpuTarget(orders=orders))
    assert (first.outputs, second.outputs) == (("y",), ("s",))
    assert tuple(first.scratch) == tuple(second.scratch) == ("s.parts",)
    sizes = {each: kind.size for each, kind in graph.tensors.items()}
    for launch in (first, second):
        assert breaches(launch, sizes, all_programs=True) == ()
    # all programs together write all of what is added up, and nothing twice
    written = first.scratch["s.parts"] // 4
    found = image_sum(whole(graph))
    sums = sums_of(found, orders, own) if found else None
    assert sums is not None
    assert written == sums.rows * sums.beside == first.grid[0] * min(sums.lanes, sums.beside)


def test_what_one_kernel_hands_to_the_next_has_a_name_of_its_own() -> None:
    graph = parsed(SINGLE)
    taken = dict.fromkeys(("s.parts", "s.parts."), graph.tensors["s"])
    known = replace(graph, tensors={**graph.tensors, **taken})
    own = CASES["no windows"][2]
    for launch in emit(whole(known), Schedule((), settings=own), known, GpuTarget()):
        assert tuple(launch.scratch) == ("s.parts..",)


def test_larger_images_are_added_up_as_they_are_written_by_choice() -> None:
    text = GATED.replace("[2,16,8,8]", "[1,32,128,128]").replace("[16,1,", "[32,1,")
    graph = parsed(
        text.replace("[2,8,8,8]", "[1,16,128,128]")
        .replace("[2,8,1", "[1,16,1")
        .replace("=16", "=32")
    )
    search = GpuPredicted(load("nvidia-h200"), GpuTarget(orders=CHANNELS_LAST))
    (choice,) = search(graph)
    assert choice.schedule is not None
    assert SUMMED in choice.schedule.settings
    apart = sum(search.best(Group((op,), (op.output,)), graph).seconds for op in graph.ops[-2:])
    assert choice.predicted_s is not None
    assert choice.predicted_s < apart


def test_programs_whose_sums_are_not_whole_have_no_such_kernel() -> None:
    graph = parsed(GATED)
    group, target = whole(graph), GpuTarget(orders=CHANNELS_LAST)
    for own in (
        {**WINDOW, "m": 32, "across": 3},  # columns that are none of the image's
        {**WINDOW, "m": 256},  # of several images
        {"m": 32, "n": 16, "warps": 1, SUMMED: 1, "across": 16, "down": 3},
    ):
        with pytest.raises(NoGroupError, match="no whole parts of the sums"):
            priced(group, Schedule((), settings=own), graph, load("nvidia-h200"), target)
    begun = [each for each in candidates(group, target) if SUMMED in each]
    assert begun
    for each in begun:
        priced(group, Schedule((), settings=each), graph, load("nvidia-h200"), target)


@pytest.mark.parametrize(
    "last",
    [
        "q = Mul(y, y) s = GlobalAveragePool(q)",  # squares are added up
        "s = GlobalMaxPool(y)",
        "r = Relu(y) s = GlobalAveragePool(r)",  # not what is written
    ],
)
def test_what_is_no_sum_over_what_is_written_is_not_begun(last: str) -> None:
    graph = parsed(GATED.replace("s = GlobalAveragePool(y)", last))
    (anchor,) = (op for op in graph.ops if op.output == "s")
    rest = tuple(op for op in graph.ops if op is not anchor)
    assert image_sum(Group((*rest, anchor), ("y", "s"))) is None


@pytest.mark.torch
def test_a_hopper_has_registers_for_both() -> None:
    graph = parsed(GATED)
    own = {**WINDOW, "m": 32}
    launches = emit(
        whole(graph), Schedule((), settings=own), graph, GpuTarget(orders=CHANNELS_LAST)
    )
    for launch in launches:
        made = compiled(launch, 90)
        assert made.registers < 128
        assert made.stack_bytes == 0
