"""Facts are proven: a constant is a constant, a size is known or it is not."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.infer.constants import constant_tensor, sizes
from burnish.rewrite.facts import Facts, keeps_shape, static_sizes
from burnish.rewrite.options import OptimizeOptions
from rewriting import Graph


def test_constants_are_seen_through_the_operators_that_compute_them() -> None:
    graph = Graph()
    inner = graph.op("Sqrt", graph.op("Reshape", np.float32(4), np.array([1, 1])))
    facts = Facts(graph.model(inner))
    assert facts.scalar(inner) == 2.0
    array = facts.array(inner)
    assert array is not None
    assert array.shape == (1, 1)


def test_a_default_that_callers_may_override_is_no_constant() -> None:
    graph = Graph()
    value = graph.constant(1.0)
    model = graph.model(graph.op("Relu", value))
    assert constant_tensor(value) is not None
    model.graph.inputs.append(value)
    assert constant_tensor(value) is None
    assert Facts(model).array(value) is None


def test_large_constants_are_not_read() -> None:
    graph = Graph()
    value = graph.constant(np.zeros(100, np.float32))
    model = graph.model(graph.op("Relu", value))
    assert Facts(model, OptimizeOptions(fold_input_bytes=399)).array(value) is None
    assert Facts(model, OptimizeOptions(fold_input_bytes=400)).array(value) is not None


@pytest.mark.parametrize(("array", "number"), [
    (np.full((2, 3), 0.5, np.float32), 0.5), (np.arange(3.0), None), (np.zeros(0), None),
    (np.array(True), None), (np.array(np.inf), None), (np.array(7), 7.0),
])  # fmt: skip
def test_a_scalar_is_what_all_elements_are(array: np.ndarray, number: float | None) -> None:
    graph = Graph()
    value = graph.constant(array)
    assert Facts(graph.model(graph.op("Relu", value))).scalar(value) == number


def test_axes_are_an_attribute_an_input_or_not_known() -> None:
    graph = Graph()
    x = graph.input("x", [2, 3])
    given = graph.input("given", [1], ir.DataType.INT64)
    nodes = [
        graph.op("ReduceMean", x, axes=[-1]).producer(),
        graph.op("ReduceSum", x, np.array([0])).producer(),
        graph.op("ReduceSum", x, given).producer(),
        graph.op("ReduceSum", x).producer(),
    ]
    facts = Facts(graph.model(graph.op("Relu", x)))
    assert [facts.axes(node) for node in nodes if node] == [(-1,), (0,), None, ()]


def test_sizes_are_numbers_names_or_unknown() -> None:
    value = ir.Value(name="x", shape=ir.Shape([2, "batch", None]))
    assert sizes(value) == (2, "batch", None)
    assert static_sizes(value) is None
    assert sizes(ir.Value(name="y")) is None


@pytest.mark.parametrize(("constant", "keeps"), [
    ((), True), ((1,), True), ((8,), True), ((1, 8), True), ((4, 1), True), ((2, 4, 8), False),
    ((1, 1, 4, 8), False), ((3,), False),
])  # fmt: skip
def test_a_constant_keeps_a_shape_only_if_that_is_certain(
    constant: tuple[int, ...], *, keeps: bool
) -> None:
    other = ir.Value(name="x", shape=ir.Shape(["batch", 4, 8]))
    assert keeps_shape(constant, other) is keeps
    assert keeps_shape((1,), ir.Value(name="unknown")) is False
