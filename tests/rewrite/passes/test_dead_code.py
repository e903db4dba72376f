"""What nobody reads goes; what callers rely on stays."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.passes.dead_code import DropDeadCode
from rewriting import Graph, checked, op_types, samples


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


def test_inputs_that_are_left_out_at_the_end_go_and_those_before_others_stay() -> None:
    graph = Graph(opset=17)
    x = graph.input("x", ["n", 4])
    normed = graph.op("LayerNormalization", x, np.ones(4, np.float32), None)
    clipped = graph.op("Clip", normed, None, np.array(1.0, np.float32))
    model = graph.model(clipped)
    assert DropDeadCode()(model).modified
    assert [len(node.inputs) for node in model.graph] == [2, 3]
    assert not DropDeadCode()(model).modified
