"""The judge's parts are what the whole would be, and wrong outputs are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.closeness.parts import Allowed
from burnish.closeness.tolerance import Tolerance
from burnish.codegen.tune import check
from burnish.codegen.tune.check import (
    BOX_POINTS,
    ExpectedOutput,
    ExpectedPart,
    case,
    finding,
    group_inputs,
    parts_to_judge,
)
from burnish.tile.expr import Argument, Call, Constant, call
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.index import Axis, at, fetched
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from tile_samples import Sketch, attention, chain_of_layers, feed_forward, whole
from tile_strategies import chains


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "WHOLE_POINTS", 10)


@given(chains(), st.integers(0, 5))
def test_parts_hold_what_the_whole_output_holds(graph: TileGraph, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "WHOLE_POINTS", 10)
        found = case(whole(graph), graph, seed=seed)
    complete = evaluate(graph, {name: found.inputs[name] for name in graph.inputs})
    for name in graph.outputs:
        assert finding(name, complete[name], found.outputs[name]) == ""
        for part in found.outputs[name].parts:
            box = tuple(slice(low, high) for low, high in part.box)
            np.testing.assert_allclose(complete[name][box], part.values, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(
    "graph", [feed_forward(16, 32, 128), attention(4, 128, 64), chain_of_layers(4096, 64, 4)]
)
def test_every_axis_is_crossed_and_every_part_can_be_afforded(graph: TileGraph) -> None:
    group = whole(simplify(graph))
    name = group.outputs[-1]
    shape = graph.tensors[name].shape
    boxes = parts_to_judge(group, graph, name, seed=1)
    assert len(boxes) > 5
    for position, extent in enumerate(shape):
        ends = {box[position] for box in boxes}
        assert any(low == 0 for low, _ in ends)
        assert any(high == extent for _, high in ends)
    assert all(check._points(group, graph, name, box) <= BOX_POINTS for box in boxes)


def test_small_outputs_are_judged_whole() -> None:
    graph = chain_of_layers(8, 4, 2)
    assert parts_to_judge(whole(graph), graph, graph.outputs[0], seed=0) == (((0, 8), (0, 4)),)


def test_an_output_without_elements_has_no_parts() -> None:
    graph = chain_of_layers(0, 4, 1)
    assert case(whole(graph), graph).outputs[graph.outputs[0]].parts == ()


def expected(values: np.ndarray, relative: float, ties: float = 0.0) -> ExpectedOutput:
    box = tuple((0, extent) for extent in values.shape)
    allowed = Allowed(Tolerance(0.0, relative, "as a test has it"), 1.0, ties)
    return ExpectedOutput((ExpectedPart(box, values),), allowed)


def test_a_wrong_element_is_named() -> None:
    right = np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3)
    wrong = right.copy()
    wrong[1, 2] += 0.5
    assert finding("y", wrong, expected(right, 1e-4)) == (
        "y: 1 of 6 elements are wrong, the worst at [1, 2], by 0.5"
    )
    assert finding("y", right * (1 + 1e-5), expected(right, 1e-4)) == ""


def test_nan_where_a_number_belongs_is_wrong() -> None:
    right = np.ones(3, np.float32)
    wrong = np.array([1, np.nan, 1], np.float32)
    assert "1 of 3 elements are wrong, the worst at [1], by inf" in finding(
        "y", wrong, expected(right, 1e-4)
    )
    assert finding("y", wrong, expected(wrong, 1e-4)) == ""
    endless = np.array([1, np.inf, 1], np.float32)
    assert finding("y", endless, expected(endless, 1e-4)) == ""
    assert finding("y", -endless, expected(endless, 1e-4)) != ""


def test_integers_are_exact_but_for_a_few_ties() -> None:
    right = np.arange(200)
    wrong = right.copy()
    wrong[7] += 1
    assert "1 of 200 elements" in finding("y", wrong, expected(right, 0.0))
    assert finding("y", wrong, expected(right, 0.0, ties=0.01)) == ""
    assert "3 of 200" in finding("y", right + (right < 3), expected(right, 0.0, ties=0.01))


def one_nest(body: object, **types: TensorType) -> TileGraph:
    axis = Axis("i", 50)
    reads = tuple(Read(name, (at(axis),)) for name in types)
    op = TileOp("y", (axis,), reads, body)  # type: ignore[arg-type]
    tensors = {**types, "y": TensorType(op.dtype, (50,))}
    return TileGraph(tensors, tuple(types), ("y",), (op,))


def test_inputs_are_such_that_results_are_numbers() -> None:
    graph = one_nest(call("log", Argument(0, "f32")), x=TensorType("f32", (50,)))
    found = case(whole(graph), graph)
    assert np.isfinite(found.outputs["y"].parts[0].values.astype(float)).all()
    plain = one_nest(call("exp", Argument(0, "f32")), x=TensorType("f32", (50,)))
    assert (case(whole(plain), plain).inputs["x"] < np.float32(0)).any()


def test_coarser_types_on_the_way_allow_coarser_results() -> None:
    through = Call("cast", (Call("cast", (Argument(0, "f32"),), "f16"),), "f32")
    graph = one_nest(through, x=TensorType("f32", (50,)))
    assert case(whole(graph), graph).outputs["y"].allowed.tolerance.relative == 1e-2


def test_truth_values_of_computed_numbers_may_tie() -> None:
    less = call("less", call("exp", Argument(0, "f32")), Constant(1.0, "f32"))
    graph = one_nest(less, x=TensorType("f32", (50,)))
    assert case(whole(graph), graph).outputs["y"].allowed.ties == 0.01
    plain = one_nest(
        call("and", Argument(0, "bool"), Argument(0, "bool")), x=TensorType("bool", (50,))
    )
    assert case(whole(plain), plain).outputs["y"].allowed.ties == 0.0


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i64", "i32", "u8", "i8", "bool"])
def test_inputs_have_their_types(dtype: str) -> None:
    graph = one_nest(Argument(0, dtype), x=TensorType(dtype, (50,)))
    found = group_inputs(whole(graph), graph)["x"]
    assert found.shape == (50,)
    assert TensorType(dtype, (50,)) == graph.tensors["y"]
    assert len(np.unique(found)) > 1
    again = group_inputs(whole(graph), graph)["x"]
    np.testing.assert_array_equal(found, again)


def test_indices_lie_in_what_they_index() -> None:
    axis = Axis("i", 500)
    reads = (Read("table", (fetched("at", (at(axis),), 6),)),)
    op = TileOp("y", (axis,), reads, Argument(0, "f32"))
    tensors = {
        "at": TensorType("i64", (500,)),
        "table": TensorType("f32", (6,)),
        "y": TensorType("f32", (500,)),
    }
    graph = TileGraph(tensors, ("at", "table"), ("y",), (op,))
    found = case(whole(graph), graph)
    assert set(np.unique(found.inputs["at"])) == set(range(-6, 6))


def test_computed_indices_are_computed_whole(small_parts: None) -> None:
    axis = Axis("i", 400)
    twice = TileOp(
        "near",
        (axis,),
        (Read("at", (at(axis),)),),
        call("minimum", Argument(0, "i64"), Constant(5, "i64")),
    )
    pick = TileOp(
        "y", (axis,), (Read("table", (fetched("near", (at(axis),), 6),)),), Argument(0, "f32")
    )
    tensors = {
        "at": TensorType("i64", (400,)), "near": TensorType("i64", (400,)),
        "table": TensorType("f32", (6,)), "y": TensorType("f32", (400,)),
    }  # fmt: skip
    graph = TileGraph(tensors, ("at", "table"), ("y",), (twice, pick))
    found = case(whole(graph), graph)
    complete = evaluate(graph, found.inputs)
    assert len(found.outputs["y"].parts) > 1
    assert finding("y", complete["y"], found.outputs["y"]) == ""


def test_several_outputs_are_judged() -> None:
    sketch = Sketch(x=(4, 8))
    first = sketch.relu("x")
    second = sketch.pointwise("exp", first)
    graph = sketch.graph(first, second)
    assert set(case(whole(graph), graph).outputs) == {first, second}


def test_numbers_that_become_bytes_may_be_rounded_either_way() -> None:
    sketch = Sketch(x=(8, 16))
    name = sketch.pointwise("multiply", "x", "x")
    builder = sketch.builder
    axes = tuple(Axis(f"i{place}", size) for place, size in enumerate((8, 16)))
    index = tuple(at(axis) for axis in axes)
    byte = Call("cast", (call("round", Argument(0, "f32")),), "u8")
    builder.add("bytes", axes, [Read(name, index)], byte)
    builder.add("y", axes, [Read("bytes", index)], Call("cast", (Argument(0, "u8"),), "f32"))
    graph = sketch.graph("y")
    found = case(whole(graph), graph).outputs["y"]
    assert found.allowed.tolerance.relative == 2e-2
    without = Sketch(x=(8, 16))
    squares = without.pointwise("multiply", "x", "x")
    plain = without.graph(squares)
    assert case(whole(plain), plain).outputs[squares].allowed.tolerance.relative == 1e-4
