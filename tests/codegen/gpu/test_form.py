"""Blocks of averages whose weights are those of a whole head."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.gpu.form import form, places_of
from burnish.codegen.gpu.kernel import emit
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import inputs_of, parsed

DECODED = """decoded (float16[1,4,1,LONG] s, float16[1,4,LONG,32] v) => (float16[1,4,1,32] y)
    { p = Softmax<axis=-1>(s) y = MatMul(p, v) }"""
"""Scores of one query in each of four heads."""


@pytest.mark.parametrize("long", [40, 129])
def test_a_block_of_averages_lies_in_one_head(long: int) -> None:
    graph = parsed(DECODED.replace("LONG", str(long)))
    anchor = graph.ops[-1]
    found = form(graph.ops, anchor, None, places_of(graph.ops, anchor))
    assert found.counts == (32, 1, 4)
    settings = {"m": 8, "warps": 4, "stages": 1}
    group = Group(graph.ops, graph.outputs)
    (launch,) = emit(group, Schedule((), settings=settings), graph)
    assert launch.grid[0] == 16
    (line,) = (each for each in launch.source.splitlines() if "tl.exp(" in each)
    loads = [each for each in launch.source.splitlines() if "tl.load(t0" in each]
    assert line
    assert not any("m[" in each for each in loads)  # once, not for each of eight averages


@pytest.mark.torch
@pytest.mark.parametrize("rows", [1, 8, 32])
@pytest.mark.parametrize("long", [40, 129])
def test_averages_of_a_single_query_are_what_the_judge_gives(long: int, rows: int) -> None:
    graph = parsed(DECODED.replace("LONG", str(long)))
    inputs = inputs_of(graph)
    settings = {"m": rows, "warps": 4, "stages": 1}
    found = run_groups(graph, [(Group(graph.ops, graph.outputs), settings)], inputs)["y"]
    np.testing.assert_allclose(found, evaluate(graph, inputs)["y"], rtol=5e-3, atol=5e-3)


ATTENDED = """attended (float16[1,4,1,32] q, float16[1,4,40,32] k, float16[1,4,40,32] v,
    float16[1,4,1,40] mask) => (float16[1,4,1,32] y)
    { t = Transpose<perm=[0,1,3,2]>(k) s = MatMul(q, t) m = Add(s, mask)
      p = Softmax<axis=-1>(m) y = MatMul(p, v) }"""
"""A step of a decoder: terms of the scores are as many as averages of a head."""


@pytest.mark.torch
@pytest.mark.parametrize(
    "settings",
    [
        {"m": 256, "across": 1, "down": 1, "warps": 2, "stages": 1},
        {"m": 8, "warps": 4, "stages": 1},
        {"m": 32, "warps": 1, "stages": 1},
    ],
)
def test_a_head_of_a_single_query_is_a_kernel_and_gives_what_the_judge_gives(
    settings: dict[str, int],
) -> None:
    graph = parsed(ATTENDED)
    inputs = inputs_of(graph)
    found = run_groups(graph, [(Group(graph.ops, graph.outputs), settings)], inputs)["y"]
    np.testing.assert_allclose(found, evaluate(graph, inputs)["y"], rtol=5e-3, atol=5e-3)


def test_few_averages_or_a_single_head_are_cut_as_everything_is() -> None:
    for text in (DECODED.replace("32]", "8]"), DECODED.replace("1,4,", "1,1,")):
        graph = parsed(text.replace("LONG", "40"))
        anchor = graph.ops[-1]
        found = form(graph.ops, anchor, None, places_of(graph.ops, anchor))
        assert found.counts[2] == 1
