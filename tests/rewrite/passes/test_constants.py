"""Equal constants are kept once, and every constant where others can see it."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.constants import ShareConstants
from rewriting import Graph, checked, samples


def test_equal_constants_are_shared() -> None:
    graph = Graph()
    x = graph.input("x", [600])
    y = graph.op("Add", graph.op("Mul", x, np.arange(600.0)), np.arange(600.0))
    result = checked(graph.model(y), {"x": samples(600)}, tolerance=1e-3)
    assert len(result.model.graph.initializers) == 1


def test_constants_that_differ_in_one_element_shape_or_type_are_not_shared() -> None:
    graph = Graph()
    graph.input("x", [4])
    base = np.zeros(5000, np.float32)
    other = base.copy()
    other[1234] = 1
    arrays = (base, other, base.reshape(1, 5000), base.astype(np.int32), -base)
    model = graph.model(*(graph.op("Relu", array) for array in arrays))
    result = ShareConstants(Facts(model))(model)
    assert not result.modified


def test_a_default_for_an_input_is_not_shared() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    one, other = graph.constant(2.0, "one"), graph.constant(2.0, "other")
    model = graph.model(graph.op("Mul", graph.op("Mul", x, one), other))
    model.graph.inputs.append(one)
    ShareConstants(Facts(model))(model)
    assert set(model.graph.initializers) == {"one", "other"}


def test_weights_of_a_branch_move_to_the_main_graph() -> None:
    graph = Graph()
    x = graph.input("x", [512])
    flag = graph.input("flag", [], ir.DataType.BOOL)
    branches = {}
    for name in ("then_branch", "else_branch"):
        inner = Graph()
        total = inner.op("Add", x, inner.constant(samples(512), f"{name}_weight"))
        total.name = f"{name}_out"
        branches[name] = ir.Graph(
            [], [total], nodes=inner.nodes, initializers=inner.initializers, name=name
        )
    model = graph.model(graph.op("If", flag, **branches))
    result = checked(model, {"x": samples(512), "flag": np.array(True)})
    assert list(result.model.graph.initializers) == ["then_branch_weight"]
