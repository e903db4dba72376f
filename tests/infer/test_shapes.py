"""Shapes are followed through the graph, and equal sizes are known to be equal."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.infer.shapes import Shapes, infer, shapes_of
from burnish.operators.size import Least, Size, add, multiply, named, unknown
from burnish.rewrite.facts import Facts
from rewriting import Graph, run

B, S = named("batch"), named("sequence")
I64 = ir.DataType.INT64


def ints(*numbers: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def started() -> tuple[Graph, ir.Value]:
    graph = Graph()
    return graph, graph.input("x", ["batch", "sequence", 64])


def followed(graph: Graph, *outputs: ir.Value) -> Shapes:
    for node in graph.nodes:
        kind = (
            I64
            if node.op_type in ("Shape", "Gather", "Concat", "Unsqueeze", "Mul", "Neg")
            else None
        )
        for output in node.outputs:
            output.type = output.type or ir.TensorType(kind or ir.DataType.FLOAT)
    return shapes_of(Facts(graph.model(*outputs)))


def size_of(graph: Graph, x: ir.Value, axis: int) -> ir.Value:
    element = graph.op("Gather", graph.op("Shape", x), np.array(axis, np.int64), axis=0)
    return graph.op("Unsqueeze", element, ints(0))


def test_heads_are_split_by_a_computed_shape() -> None:
    graph, x = started()
    shape = graph.op(
        "Concat", size_of(graph, x, 0), size_of(graph, x, 1), ints(-1), ints(16), axis=0
    )
    split = graph.op("Reshape", x, shape)
    turned = graph.op("Transpose", split, perm=[0, 2, 1, 3])
    assert followed(graph, turned).of(turned) == (B, 4, S, 16)


def test_merged_axes_are_a_product() -> None:
    graph, x = started()
    flat = graph.op("Reshape", x, ints(-1, 64))
    back = graph.op("Reshape", flat, ints(-1, 16))
    shapes = followed(graph, back)
    assert shapes.of(flat) == (multiply(B, S), 64)
    assert shapes.of(back) == (multiply(multiply(B, S), 4), 16)


@pytest.mark.parametrize(
    ("op_type", "others", "attributes", "expected"),
    [
        ("Reshape", [ints(0, 0, 4, 16)], {}, (B, S, 4, 16)),
        ("Unsqueeze", [ints(1)], {}, (B, 1, S, 64)),
        ("Slice", [ints(1), ints(1 << 40), ints(1)], {}, (B, add(S, -1), 64)),
        ("Flatten", [], {"axis": 2}, (multiply(B, S), 64)),
        ("MatMul", [np.zeros((64, 8))], {}, (B, S, 8)),
        ("Tile", [ints(1, 2, 1)], {}, (B, multiply(S, 2), 64)),
        ("ReduceMean", [], {"axes": [-1], "keepdims": 0}, (B, S)),
        ("Add", [np.zeros(64)], {}, (B, S, 64)),
        ("Pad", [ints(0, 1, 0, 0, 1, 0)], {}, (B, add(S, 2), 64)),
    ],
)
def test_operators_are_followed(
    op_type: str,
    others: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]],
    attributes: dict[str, object],
    expected: tuple[Size, ...],
) -> None:
    graph, x = started()
    result = graph.op(op_type, x, *others, **attributes)
    assert followed(graph, result).of(result) == expected


def test_the_last_of_an_axis_as_many_as_it_has_are_all_of_it() -> None:
    graph, x = started()
    back = graph.op("Neg", size_of(graph, x, 1))
    mask = graph.input("mask", ["batch", "sequence"])
    other = graph.input("other", ["batch", "total"])
    last, some = (graph.op("Slice", of, back, ints(1 << 62), ints(1)) for of in (mask, other))
    shapes = followed(graph, last, some)
    assert shapes.of(last) == (B, S)
    assert shapes.of(some) == (B, unknown(Least(named("total"), S)))


def test_a_slice_that_ends_right_after_its_start_is_one_long() -> None:
    graph, x = started()
    end = size_of(graph, x, 1)
    start = graph.op("Add", end, ints(-1))
    row = graph.op("Slice", graph.constant(np.zeros((8, 8))), start, end, ints(0))
    start.type = ir.TensorType(I64)
    assert followed(graph, row).of(row) == (1, 8)


def test_a_cache_is_longer_by_what_is_new() -> None:
    graph = Graph()
    past = graph.input("past", ["batch", 4, "past", 16])
    new = graph.input("new", ["batch", 4, "sequence", 16])
    joined = graph.op("Concat", past, new, axis=2)
    assert followed(graph, joined).of(joined) == (B, 4, named("past + sequence"), 16)


def test_names_that_inference_made_up_say_nothing() -> None:
    graph = Graph()
    one, other = graph.input("one", ["unk__1", 4]), graph.input("other", ["unk__1", 4])
    both = graph.op("Add", one, other)
    shapes = followed(graph, both)
    assert shapes.of(one) != shapes.of(other)


def test_minus_one_chosen_away_for_an_expansion_is_read() -> None:
    graph, x = started()
    wanted = graph.op("Concat", size_of(graph, x, 0), ints(-1), ints(-1), axis=0)
    same = graph.op("Equal", wanted, ints(-1, -1, -1))
    chosen = graph.op("Where", same, ints(1, 1, 1), wanted)
    wide = graph.op("Expand", graph.constant(np.zeros((1, 1, 64))), chosen)
    same.type, chosen.type = ir.TensorType(ir.DataType.BOOL), ir.TensorType(I64)
    assert followed(graph, wide).of(wide) == (B, 1, 64)


@pytest.mark.parametrize(("above", "below", "expected"), [(50, 3, 16), (-7, 2, -3), (7, -2, -3)])
def test_numbers_are_divided_as_the_runtime_does(above: int, below: int, expected: int) -> None:
    graph = Graph()
    quotient = graph.op("Div", graph.op("Identity", ints(above)), ints(below))
    quotient.type = ir.TensorType(I64)
    graph.nodes[0].outputs[0].type = ir.TensorType(I64)
    model = graph.model(quotient)
    assert infer(Facts(model)).elements(quotient) == (expected,)
    assert run(model, {})[0].tolist() == [expected]


@pytest.mark.parametrize(
    ("op_type", "others", "attributes"),
    [
        ("Transpose", (), {"perm": [9, 0, 1]}),
        ("Gemm", (ints(1),), {}),
        ("Concat", (ints(1),), {"axis": 7}),
        ("Tile", (ints(2),), {}),
        ("Cast", (), {"to": 1}),
        ("Unsqueeze", (ints(0, 0),), {}),
        ("Gather", (ints(0),), {"axis": 9}),
        ("Split", (ints(1, 2, 3),), {"axis": 5}),
    ],
)
def test_nothing_follows_from_what_contradicts_itself(
    op_type: str, others: tuple[object, ...], attributes: dict[str, object]
) -> None:
    graph, x = started()
    odd = graph.op(op_type, x, *others, **attributes)
    followed(graph, graph.op("Relu", odd))
