"""Equal computations are kept once, and nothing that only looks equal."""

from __future__ import annotations

import numpy as np

from burnish.rewrite.passes.common_expressions import ShareExpressions
from rewriting import Graph, checked, op_types, samples


def test_equal_nodes_are_shared() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    total = graph.op("Add", graph.op("Exp", x), graph.op("Exp", x))
    result = checked(graph.model(total), {"x": samples(4)})
    assert op_types(result.model) == ["Exp", "Add"]


def test_nodes_with_other_attributes_are_not_shared() -> None:
    graph = Graph()
    x = graph.input("x", [4, 4])
    total = graph.op("Add", graph.op("Softmax", x, axis=0), graph.op("Softmax", x, axis=1))
    result = checked(graph.model(total), {"x": samples(4, 4)})
    assert op_types(result.model).count("Softmax") == 2


def test_nodes_with_swapped_inputs_are_not_shared() -> None:
    graph = Graph()
    x, y = graph.input("x", [4]), graph.input("y", [4])
    total = graph.op("Mul", graph.op("Sub", x, y), graph.op("Sub", y, x))
    result = checked(graph.model(total), {"x": samples(4), "y": samples(4, seed=1)})
    assert op_types(result.model).count("Sub") == 2


def test_two_equal_outputs_stay_two_outputs() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    model = graph.model(graph.op("Exp", x), graph.op("Exp", x))
    result = checked(model, {"x": samples(4)})
    assert [value.name for value in result.model.graph.outputs] == ["out0", "out1"]


def test_an_equal_output_takes_the_place_and_name() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    inner = graph.op("Exp", x)
    model = graph.model(graph.op("Relu", inner), graph.op("Exp", x))
    result = checked(model, {"x": samples(4)})
    assert op_types(result.model) == ["Exp", "Relu"]
    assert [value.name for value in result.model.graph.outputs] == ["out0", "out1"]


def test_operators_of_unknown_domains_are_not_shared() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    total = graph.op("Add", *(graph.op("Count", x, domain="custom") for _ in range(2)))
    model = graph.model(total)
    assert not ShareExpressions()(model).modified


def test_multiple_outputs_are_shared_together() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    first, second = (graph.ops("Split", x, np.array([1, 3]), outputs=2, axis=0) for _ in range(2))
    total = graph.op("Concat", first[0], second[1], axis=0)
    result = checked(graph.model(total), {"x": samples(4)})
    assert op_types(result.model) == ["Split", "Concat"]
