"""Equal constants and equal computations are kept once; dead ones not at all."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.passes.common_expressions import ShareExpressions
from burnish.rewrite.passes.constants import ShareConstants
from burnish.rewrite.passes.dead_code import DropDeadCode
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
    result = ShareConstants()(model)
    assert not result.modified


def test_a_default_for_an_input_is_not_shared() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    one, other = graph.constant(2.0, "one"), graph.constant(2.0, "other")
    model = graph.model(graph.op("Mul", graph.op("Mul", x, one), other))
    model.graph.inputs.append(one)
    ShareConstants()(model)
    assert set(model.graph.initializers) == {"one", "other"}


def test_what_nobody_reads_goes() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    graph.op("Exp", graph.op("Mul", x, samples(4)))
    result = checked(graph.model(graph.op("Relu", x)), {"x": samples(4)})
    assert op_types(result.model) == ["Relu"]
    assert not result.model.graph.initializers


def test_what_only_a_dead_branch_reads_goes_with_it() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    flag = graph.input("flag", [], ir.DataType.BOOL)
    inner = graph.op("Exp", x)
    branches = {}
    for name in ("then_branch", "else_branch"):
        node = ir.node("Relu", [inner], name=name)
        node.outputs[0].name = f"{name}_out"
        branches[name] = ir.Graph([], node.outputs, nodes=[node], name=name)
    graph.op("If", flag, **branches)
    model = graph.model(graph.op("Relu", x))
    DropDeadCode()(model)
    assert op_types(model) == ["Relu"]


def test_an_output_that_is_left_out_stays_left_out() -> None:
    graph = Graph()
    x = graph.input("x", [1, 1, 4, 4])
    pooled, indices = graph.ops("MaxPool", x, outputs=2, kernel_shape=[2, 2])
    indices.name = ""
    result = checked(graph.model(pooled), {"x": samples(1, 1, 4, 4)})
    assert [value.name for value in result.model.graph.node(0).outputs] == ["out0", ""]


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
