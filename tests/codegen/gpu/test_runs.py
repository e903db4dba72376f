"""Rows that get longer so that they are loaded in runs, and what becomes of their readers."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings

from burnish.codegen.gpu import runs
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.runs import in_runs
from burnish.core.arrays import Array
from burnish.tile.connect import singles
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import drawn
from tile.random_graphs import graphs

pytestmark = pytest.mark.torch

GATED = """gated (float16[1,8,6,6] x, float16[254,8,1,1] a, float16[254] s, float16[254,1,3,3] d,
    float16[8,127,1,1] b) => (float16[1,8,6,6] y)
    { p = Conv(x, a, s)  q = Conv<group=254, pads=[1,1,1,1]>(p, d)
      l, r = Split<axis=1, num_outputs=2>(q)  g = Gelu(l)  h = Mul(g, r)  y = Conv(h, b) }"""
CUT_ANEW = """cut_anew (float16[16,8] x, float16[8,79] w) => (float16[79,16] y)
    <int64[2] turned = {79, 16}> { m = MatMul(x, w)  t = Reshape(m, turned)  y = Exp(t) }"""


def assert_near(found: dict[str, Array], wanted: dict[str, Array]) -> None:
    for name, exact in wanted.items():
        np.testing.assert_allclose(
            found[name].astype(np.float64), exact.astype(np.float64), rtol=0, atol=0.02
        )


def test_halves_that_a_gate_reads_become_rows_of_whole_runs() -> None:
    graph, inputs = drawn(GATED)
    longer = in_runs(graph)
    shapes = {op.output: op.shape for op in longer.ops}
    assert shapes["p"] == shapes["q"] == (1, 2, 128, 6, 6)
    assert shapes["h"] == (1, 128, 6, 6)
    assert orders_of(longer)["q"] == (0, 3, 4, 1, 2)
    (sum_of_zeros,) = next(op for op in longer.ops if op.output == "y").reduced
    assert sum_of_zeros.extent == 128
    assert not any(read.guards for op in longer.ops if op.output in "pqhy" for read in op.reads)
    assert_near(evaluate(longer, inputs), evaluate(graph, inputs))


def test_kernels_of_longer_rows_give_what_the_judge_gives() -> None:
    graph, inputs = drawn(GATED)
    longer = in_runs(graph)
    wanted = evaluate(graph, inputs)
    orders = {name: order for name, order in orders_of(longer).items() if name not in inputs}
    apart = [(group, {}) for group in singles(longer)]
    assert_near(run_groups(longer, apart, inputs, orders), wanted)
    *first, window, gate, last = longer.ops
    together = Group((window, gate), (gate.output,))
    groups = [Group((op,), (op.output,)) for op in first]
    every = [(each, {}) for each in (*groups, together, Group((last,), (last.output,)))]
    assert_near(run_groups(longer, every, inputs, orders), wanted)


def test_rows_that_are_cut_anew_by_their_readers_stay() -> None:
    graph, _ = drawn(CUT_ANEW)
    assert len(graph.ops) == 2
    assert [op.shape for op in in_runs(graph).ops] == [op.shape for op in graph.ops]


def test_rows_that_would_get_much_longer_stay() -> None:
    graph, _ = drawn("""short (float16[9,8] x, float16[8,13] w) => (float16[9] y)
        <int64[1] last = {1}> { m = MatMul(x, w)  y = ReduceMax<keepdims=0>(m, last) }""")
    assert in_runs(graph).tensors == graph.tensors


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_longer_rows_change_no_result(drawn_graph: tuple[TileGraph, dict[str, Array]]) -> None:
    graph, inputs = drawn_graph
    with mock.patch.object(runs, "HALVES", ("i64",)), mock.patch.object(runs, "MOST", 100.0):
        longer = in_runs(graph)
    found, wanted = evaluate(longer, inputs), evaluate(graph, inputs)
    for name, exact in wanted.items():
        np.testing.assert_array_equal(found[name], exact)
