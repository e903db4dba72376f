from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.extract import as_model, part
from burnish.rewrite.match import Proposal
from burnish.rewrite.rule import Match
from burnish.study.check_part import (
    around,
    original,
    shrink,
    shrinking,
    size_names,
    tight,
    wide,
)
from rewriting import Graph


def proposal(nodes: list[ir.Node], output: ir.Value, reads: ir.Value) -> Proposal:
    made = ir.node("Neg", [reads], name="new")
    made.outputs[0].type, made.outputs[0].shape = output.type, output.shape
    return Proposal("mine", Match(tuple(nodes), output, {}), (made,), (made.outputs[0],))


def typed(value: ir.Value, shape: list[str | int], dtype: ir.DataType = ir.DataType.FLOAT) -> None:
    value.type, value.shape = ir.TensorType(dtype), ir.Shape(shape)


def chain() -> tuple[ir.Model, list[ir.Node]]:
    graph = Graph()
    value = graph.input("x", ["n", 8])
    for op_type in ("Sin", "Cos", "Tan", "Relu"):
        value = graph.op(op_type, value)
        typed(value, ["n", 8])
    model = graph.model(value)
    return model, list(model.graph)


def test_a_tight_part_holds_only_the_two_ways() -> None:
    _, nodes = chain()
    cut = tight(proposal(nodes[2:3], nodes[2].outputs[0], nodes[1].outputs[0]))
    assert [node.op_type for node in cut.nodes] == ["Tan", "Neg"]
    assert cut.inputs == (nodes[1].outputs[0],)


def test_what_only_the_replacement_reads_is_led_to_the_original() -> None:
    _, nodes = chain()
    cut = tight(proposal(nodes[2:3], nodes[2].outputs[0], nodes[0].outputs[0]))
    assert [node.op_type for node in cut.nodes] == ["Cos", "Tan", "Neg"]
    assert cut.inputs == (nodes[0].outputs[0],)


def test_a_wide_part_begins_at_the_inputs_of_the_graph() -> None:
    model, nodes = chain()
    cut = wide(proposal(nodes[2:3], nodes[2].outputs[0], nodes[1].outputs[0]))
    assert cut.inputs == tuple(model.graph.inputs)


def reshaped() -> tuple[ir.Model, ir.Node]:
    graph = Graph()
    x = graph.input("x", ["n", "m"])
    hidden = graph.op("Sin", x)
    typed(hidden, ["n", "m"])
    shape = graph.op("Shape", hidden)
    typed(shape, [2], ir.DataType.INT64)
    doubled = graph.op("Mul", shape, np.array([1, 1]))
    typed(doubled, [2], ir.DataType.INT64)
    result = graph.op("Reshape", hidden, doubled)
    typed(result, ["unk__0", "unk__1"])
    model = graph.model(graph.op("Relu", result))
    return model, result.producer()  # type: ignore[return-value]


def test_numbers_that_say_how_large_something_is_are_computed() -> None:
    model, reshape = reshaped()
    hidden = reshape.inputs[0]
    assert hidden is not None
    cut = original(proposal([reshape], reshape.outputs[0], hidden), model)
    assert [node.op_type for node in cut.nodes] == ["Shape", "Mul", "Reshape"]
    assert cut.inputs == (hidden,)


def test_sizes_that_no_input_of_the_model_has_are_computed_too_when_asked() -> None:
    model, reshape = reshaped()
    (relu,) = (node for node in model.graph if node.op_type == "Relu")
    given = proposal([relu], relu.outputs[0], reshape.outputs[0])
    assert size_names(model) == {"n", "m"}
    assert [node.op_type for node in tight(given).nodes] == ["Relu", "Neg"]
    assert "Reshape" in [node.op_type for node in tight(given, size_names(model)).nodes]


def test_a_part_around_nodes_gives_what_others_read() -> None:
    model, nodes = chain()
    cut = around({nodes[1], nodes[2]}, model)
    assert cut.outputs == (nodes[2].outputs[0],)
    assert cut.inputs == (nodes[0].outputs[0],)


@pytest.mark.parametrize(
    ("shapes", "divisor"),
    [
        ([[1, 3, 304, 400]], 16),
        ([[1, 64, 38, 50]], 2),
        ([[1, 64, 80, 80], [1, 64, 40, 40]], 2),
        ([[1, 64, 20, 20]], 1),
        ([[1, 64, 225, 225]], 1),
        ([["n", 64, "h", "w"]], 1),
        ([[1, 4096]], 1),
    ],
)
def test_large_pictures_are_divided_by_what_keeps_halves_whole(
    shapes: list[list[int | str]], divisor: int
) -> None:
    graph = Graph()
    values = [graph.input(f"x{number}", shape) for number, shape in enumerate(shapes)]
    model = graph.model(*(graph.op("Relu", value) for value in values))
    cut = part(model.graph.outputs, ())
    assert shrinking(cut) == divisor


def test_a_part_of_large_pictures_is_cut_out_smaller_and_its_weights_are_not() -> None:
    graph = Graph()
    x = graph.input("x", [1, 3, 64, 96])
    weight = graph.constant(np.ones((1, 3, 64, 96), np.float32))
    model = graph.model(graph.op("Relu", x), graph.op("Neg", weight))
    cut = part(model.graph.outputs, ())
    small = as_model(cut, model, "small")
    shrink(small, cut, shrinking(cut))
    assert [list(value.shape or ()) for value in small.graph.inputs] == [
        [1, 3, 16, 24],
        [1, 3, 64, 96],
    ]
    assert small.graph.outputs[0].shape is None
    assert list(x.shape or ()) == [1, 3, 64, 96]
