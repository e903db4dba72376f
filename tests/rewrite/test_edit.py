"""Changes of a graph never change what its callers see."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite import edit
from rewriting import Graph


def test_an_output_keeps_its_name_type_and_shape() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    old, new = graph.op("Exp", x), graph.op("Relu", x)
    model = graph.model(old)
    old.shape = ir.Shape(["declared"])
    assert edit.redirect(old, new)
    assert list(model.graph.outputs) == [new]
    assert (new.name, str(new.shape)) == ("out0", "[declared]")


def test_an_input_an_initializer_or_an_output_cannot_take_the_place_of_an_output() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    constant = graph.constant(np.ones(4, np.float32))
    old, other = graph.op("Exp", x), graph.op("Add", x, constant)
    model = graph.model(old, other)
    for new in (x, constant, other, old):
        assert not edit.redirect(old, new)
    assert list(model.graph.outputs) == [old, other]


def test_removed_nodes_read_nothing_any_more() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    dead = graph.op("Exp", x)
    model = graph.model(graph.op("Relu", x))
    node = dead.producer()
    assert node is not None
    assert edit.is_dead(node)
    edit.remove([node])
    assert [use.node.op_type for use in x.uses()] == ["Relu"]
    assert len(model.graph) == 1


def test_an_output_cannot_become_a_constant() -> None:
    graph = Graph()
    value = graph.op("Relu", graph.input("x", [4]))
    graph.model(value)
    with pytest.raises(ValueError, match="out0 cannot become a constant"):
        edit.replace_by_constant(value, np.zeros(4))


def test_constants_of_other_tensors_get_a_name_of_their_own() -> None:
    graph = Graph()
    model = graph.model(graph.op("Relu", graph.input("x", [4])))
    for tensor in (
        ir.Tensor(np.ones(2), name="mine"),
        ir.StringTensor([b"a"], shape=ir.Shape([1]), name="mine"),
    ):
        value = edit.add_initializer(model.graph, f"new{tensor.dtype}", tensor)
        assert tensor.name == "mine"
        assert value.const_value is not None
        assert value.const_value.name == value.name
