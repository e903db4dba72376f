"""Tile-graphs are text that people read, and that reads back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.tile.expr import Argument, Constant, Coordinate, Inside, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, at, fetched
from burnish.tile.parse import parse, parse_nest
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from burnish.tile.text import quoted
from tile.random_graphs import graphs
from tile_samples import scores
from tile_strategies import UNHURRIED, chains

SOFTMAX = """\
in q: f32[4, 8]
in k: f32[8, 6]
out divide$0
product$0: f32[i0=4, i1=6] = sum(k=8) q[i0, k] * k[k, i1]
max$0: f32[i0=4] = max(k=6) product$0[i0, k]
exp$0: f32[i0=4, i1=6] = exp(product$0[i0, i1] - max$0[i0])
sum$0: f32[i0=4] = sum(k=6) exp$0[i0, k]
divide$0: f32[i0=4, i1=6] = exp$0[i0, i1] / sum$0[i0]"""


def test_a_graph_reads_as_its_loops() -> None:
    found = str(scores(4, 8, 6))
    assert found.splitlines()[-4:] == SOFTMAX.splitlines()[-4:]


def test_guards_numbers_types_and_fetches_are_told() -> None:
    i, j = Axis("i", 4), Axis("j", 3)
    reads = (
        Read("x", (at(i) - 1, at(j)), (), 0),
        Read("table", (fetched("at", (at(i),), 9),)),
    )
    body = call("multiply", call("add", Argument(0, "f32"), Argument(1, "f32")), Constant(2, "f32"))
    where = call("where", Inside(()), body, cast(Coordinate(at(j) * 2), "f32"))
    op = TileOp("/y:0", (i, j), reads, call("maximum", where, Constant(-0.5, "f32")))
    assert str(op) == (
        "`/y:0`: f32[i=4, j=3] = maximum(where(inside(), (x[i - 1, j] + table[fetch(at[i], 9)]) *"
        " 2, f32(coordinate(2*j))), -0.5)"
    )
    kinds = {"x": TensorType("f32", (4, 3)), "table": TensorType("f32", (9,))}
    assert parse_nest(str(op), kinds) == op


@UNHURRIED
@given(drawn=graphs(), simple=st.booleans())
def test_a_graph_of_whole_numbers_reads_back(
    drawn: tuple[TileGraph, dict[str, Array]], simple: bool
) -> None:
    graph, inputs = drawn
    graph = simplify(graph) if simple else graph
    again = parse(str(graph), graph.constants)
    assert str(again) == str(graph)
    for name, array in evaluate(graph, inputs).items():
        np.testing.assert_array_equal(evaluate(again, inputs)[name], array)


@UNHURRIED
@given(graph=chains())
def test_a_graph_of_floats_reads_back_as_it_was(graph: TileGraph) -> None:
    again = parse(str(graph), graph.constants)
    assert str(again) == str(graph)
    assert again.tensors == graph.tensors
    assert [op.output for op in again.ops] == [op.output for op in graph.ops]


@given(name=st.text(min_size=1).filter(lambda name: "\n" not in name and name.isprintable()))
def test_any_name_reads_back(name: str) -> None:
    i = Axis("i", 2)
    op = TileOp(name, (i,), (Read(name + "x", (at(i),)),), Argument(0, "f32"), nodes=(name, "b"))
    again = parse_nest(str(op), {name + "x": TensorType("f32", (2,))})
    assert (again, again.nodes) == (op, op.nodes)


def test_plain_names_need_no_quotes() -> None:
    assert [quoted(name) for name in ("wide.padded$0", "/a/b", "0", "a`b")] == [
        "wide.padded$0", "`/a/b`", "`0`", "`a\\`b`",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("y: f32[i=4] = x[j]", "'j' is no axis"),
        ("y: f32[i=4] = x[i", "the line ends too early"),
        ("y: f32[i=4] = x[i] x[i]", "the line goes on"),
        ("y: f32[i] = x[i]", "'=' is missing"),
        ("y: f32[i=k] = x[i]", "a whole number is missing"),
        ("y: f32[i=4] = ", "the line ends too early"),
        ("y: f32[i=4] = then", "a number is missing"),
        ("4: f32[i=4] = x[i]", "a name is missing"),
    ],
)
def test_what_is_no_nest_is_refused_with_the_place(line: str, problem: str) -> None:
    with pytest.raises(ModelError) as found:
        parse_nest(line, {"x": TensorType("f32", (4,))})
    assert found.value.problem.startswith(f"a line of a tile-graph cannot be read: {problem} (at ")
    assert found.value.hint == "docs/tile-graph.md shows how tile-graphs are written"


def test_groups_and_schedules_print() -> None:
    graph = scores(4, 8, 6)
    group = Group(graph.ops, graph.outputs)
    first, *nests = str(group).splitlines()
    assert first == f"group of {', '.join(map(quoted, group.inputs))} → {graph.outputs[0]}"
    assert nests == [f"  {op}" for op in graph.ops]
    assert str(Schedule((1, 8), carried=0, run=4, settings={"rows": 2})) == (
        "tile 1×8, runs of 4 along axis 0, rows 2"
    )
    assert str(Schedule(())) == "tile one"
