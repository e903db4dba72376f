"""Sums that are put down and finished row by row give what the judge gives, whatever follows."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.cpu.finishing import LEAST_OPERATIONS
from burnish.codegen.cpu.kernel import Kernel, generate
from burnish.codegen.cpu.target import TARGETS, InstructionSet, available
from burnish.core.arrays import Array
from burnish.tile.expr import operations
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel

SHORT = "acc + b[j]"
LONG = {
    "gelu": "0.5 * (acc + b[j]) * (erf(0.70710678 * (acc + b[j])) + 1.0)",
    "residual": "sigmoid(acc) * r[i, j] + b[j]",
    "across": "tanh(acc) * s[i]",
    "mask": "where(length[i] <= place[j], exp(acc), 0.0)",
}


def product(rows: int, columns: int, then: str) -> TileGraph:
    text = f"""in x: f32[{rows}, 24]
    in b: f32[{columns}]
    in r: f32[{rows}, {columns}]
    in s: f32[{rows}]
    in place: i64[{columns}]
    in length: i64[{rows}]
    const w: f32[24, {columns}]
    out y
    y: f32[i={rows}, j={columns}] = sum(k=24) x[i, k] * w[k, j] then {then}"""
    random = np.random.default_rng(0)
    return parse(text, {"w": random.standard_normal((24, columns)).astype(np.float32)})


def made(graph: TileGraph, tile: tuple[int, ...], target: InstructionSet) -> Kernel:
    return generate(Group(graph.ops, graph.outputs), Schedule(tile), graph, target)


def fed(graph: TileGraph) -> dict[str, Array]:
    random = np.random.default_rng(1)
    return {
        name: random.integers(0, 30, graph.tensors[name].shape)
        if graph.tensors[name].dtype == "i64"
        else random.standard_normal(graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }


@pytest.mark.parametrize("target", available(), ids=lambda target: target.name)
@pytest.mark.parametrize("then", LONG.values(), ids=LONG)
@pytest.mark.parametrize(("rows", "columns"), [(29, 96), (6, 61), (2, 20), (16, 1)])
def test_long_functions_of_sums_are_what_the_judge_says(
    target: InstructionSet, then: str, rows: int, columns: int
) -> None:
    graph = product(rows, columns, then)
    values = fed(graph)
    wanted = evaluate(graph, values)["y"]
    for tile in ((rows, columns), (5, columns), (rows, 17)):
        found = {"y": np.full((rows, columns), np.nan, np.float32)}
        kernel = made(graph, tile, target)
        load_kernel(kernel, target).bound({**values, **graph.constants, **found}).run()
        np.testing.assert_allclose(found["y"], wanted, rtol=1e-4, atol=1e-4)


def test_only_long_functions_are_written_in_a_loop_of_their_own() -> None:
    short, long = (product(29, 96, then) for then in (SHORT, LONG["gelu"]))
    finishes = [graph.ops[0].finish for graph in (short, long)]
    costs = [operations(each) for each in finishes if each is not None]
    assert costs[0] < LEAST_OPERATIONS <= costs[1]
    texts = [made(graph, (29, 96), TARGETS["avx512"]).ir_text for graph in (short, long)]
    assert ['%"sums" = alloca' in text for text in texts] == [False, True]
    # for whole blocks of rows and for the rest, each time for all vectors of a row at once
    called = [line for line in texts[1].splitlines() if "call <" in line and "burnish.erf" in line]
    assert len(called) == 2
    assert all("<48 x float>" in line for line in called)
