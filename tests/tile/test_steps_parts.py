from __future__ import annotations

from dataclasses import replace

import numpy as np

from burnish.tile.expr import Accumulated, Argument, call
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate, evaluate_op
from burnish.tile.semantics import NestBuilder, Reduction, axes_for
from burnish.tile.simplify import simplify
from burnish.tile.steps.parts import cut, sum_in_parts

F32 = "f32"


def long_product(rows: int, terms: tuple[int, int]) -> TileGraph:
    shape = (rows, *terms)
    builder = NestBuilder({name: TensorType(F32, shape) for name in ("a", "b")}, {})
    builder.tensors["scale"] = TensorType(F32, (rows,))
    i, j = axes_for((rows, rows))
    h, w = Axis("h", terms[0]), Axis("w", terms[1])
    reads = [
        Read("a", (at(i), at(h), at(w))),
        Read("b", (at(j), at(h), at(w))),
        Read("scale", (at(i),)),
    ]
    product = call("multiply", Argument(0, F32), Argument(1, F32))
    finish = call("multiply", Accumulated(F32), Argument(2, F32))
    builder.add("out", (i, j), reads, product, Reduction((h, w), "sum", finish))
    return TileGraph(builder.tensors, ("a", "b", "scale"), ("out",), tuple(builder.ops))


def test_a_long_sum_of_products_is_cut_and_stays_what_it_was() -> None:
    graph = long_product(9, (80, 64))
    simple = simplify(graph)
    assert [len(op.reduced) for op in simple.ops] == [2, 1]
    assert simple.ops[0].shape[0] == 5
    random = np.random.default_rng(0)
    inputs = {
        name: random.standard_normal(graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    found, wanted = evaluate(simple, inputs)["out"], evaluate(graph, inputs)["out"]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_what_a_term_asks_of_its_place_is_cut_with_it() -> None:
    graph = parse(
        "in x: f32[4096]\nout s\ns: f32[i=3] = sum(k=4096) where(inside(0 <= i + k < 3000),"
        " x[k | 5 <= k < 4090 else 2], f32(coordinate(2*k)))",
        {},
    )
    first, second = cut(graph.ops[0], 4)
    assert (first.shape, second.shape) == ((4, 3), (3,))
    inputs = {"x": np.arange(4096, dtype=np.float32)}
    parts = evaluate_op(first, inputs)
    found = evaluate_op(second, {**inputs, first.output: parts})
    np.testing.assert_allclose(found, evaluate(graph, inputs)["s"], rtol=1e-5)


def test_parts_have_a_name_that_nothing_else_has() -> None:
    graph = long_product(9, (80, 64))
    (out,) = graph.outputs
    taken = replace(graph, tensors={**graph.tensors, f"{out}.parts": graph.tensors[out]})
    assert [op.output for op in sum_in_parts(taken).ops] == [f"{out}.parts.", out]


def test_cutting_twice_changes_nothing_more() -> None:
    once = simplify(long_product(9, (80, 64)))
    assert simplify(once).ops == once.ops


def test_a_short_sum_and_one_of_few_rows_stay() -> None:
    assert len(simplify(long_product(9, (8, 64))).ops) == 1
    assert len(simplify(long_product(2, (80, 64))).ops) == 1
