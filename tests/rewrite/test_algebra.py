"""Polynomials are equal exactly when the values are, whatever the spelling."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite import algebra
from burnish.rewrite.algebra import ONE, expand, power, product
from burnish.rewrite.facts import Facts
from rewriting import Graph


@pytest.fixture
def graph() -> Graph:
    return Graph()


def polynomial(graph: Graph, value: ir.Value, *atoms: ir.Value) -> algebra.Polynomial:
    return expand(value, atoms, facts_of(graph)).polynomial


def facts_of(graph: Graph) -> Facts:
    for constant in graph.initializers:
        if not constant.is_initializer():
            ir.Graph([], [], nodes=[], initializers=[constant])
    return Facts(ir.Model(ir.Graph([], [], nodes=[], opset_imports={"": 17}), ir_version=10))


def test_products_are_distributed_over_sums(graph: Graph) -> None:
    x, y = graph.input("x", [4]), graph.input("y", [4])
    value = graph.op("Mul", graph.op("Add", x, 2.0), graph.op("Sub", y, x))
    assert polynomial(graph, value) == {
        product(power(x), power(y)): 1.0,
        power(x, 2): -1.0,
        power(y): 2.0,
        power(x): -2.0,
    }


def test_terms_that_cancel_are_gone(graph: Graph) -> None:
    x = graph.input("x", [4])
    assert polynomial(graph, graph.op("Sub", x, graph.op("Identity", x))) == {}


def test_roots_and_inverses_are_powers(graph: Graph) -> None:
    x = graph.input("x", [4])
    spellings = (
        graph.op("Reciprocal", graph.op("Sqrt", x)),
        graph.op("Div", 1.0, graph.op("Sqrt", x)),
        graph.op("Pow", x, -0.5),
        graph.op("Sqrt", graph.op("Reciprocal", x)),
    )
    for value in spellings:
        assert polynomial(graph, value) == {power(x, -0.5): 1.0}


def test_the_root_of_a_square_is_not_the_base(graph: Graph) -> None:
    x = graph.input("x", [4])
    root = graph.op("Sqrt", graph.op("Mul", x, x))
    assert polynomial(graph, root) == {power(root): 1.0}


def test_the_root_of_a_product_is_not_split(graph: Graph) -> None:
    x, y = graph.input("x", [4]), graph.input("y", [4])
    root = graph.op("Sqrt", graph.op("Mul", x, y))
    assert polynomial(graph, root) == {power(root): 1.0}


def test_a_sum_has_no_inverse_polynomial(graph: Graph) -> None:
    x = graph.input("x", [4])
    value = graph.op("Reciprocal", graph.op("Add", x, 1.0))
    assert polynomial(graph, value) == {power(value): 1.0}


def test_a_constant_of_higher_rank_is_no_number(graph: Graph) -> None:
    x = graph.input("x", [4])
    stretched = graph.op("Mul", x, [[0.5]])
    constant = stretched.producer().inputs[1]  # type: ignore[union-attr]
    assert polynomial(graph, stretched) == {product(power(x), power(constant)): 1.0}


def test_a_uniform_constant_that_fits_is_a_number(graph: Graph) -> None:
    x = graph.input("x", ["batch", 4])
    assert polynomial(graph, graph.op("Mul", x, np.full((1, 4), 0.5))) == {power(x): 0.5}


def test_a_constant_for_an_unknown_shape_is_a_number_only_without_axes(graph: Graph) -> None:
    x = graph.input("x", None)
    assert polynomial(graph, graph.op("Add", x, 0.5)) == {power(x): 1.0, ONE: 0.5}
    value = graph.op("Add", x, [0.5])
    assert len(polynomial(graph, value)) == 2
    assert ONE not in polynomial(graph, value)


def test_casts_to_integers_are_not_looked_through(graph: Graph) -> None:
    x = graph.input("x", [4])
    value = graph.op("Cast", x, to=ir.DataType.INT32)
    value.type = ir.TensorType(ir.DataType.INT32)
    assert polynomial(graph, value) == {power(value): 1.0}


def test_a_value_stays_whole_where_it_is_an_atom(graph: Graph) -> None:
    x = graph.input("x", [4])
    twice = graph.op("Mul", x, 2.0)
    assert polynomial(graph, graph.op("Mul", twice, 3.0), twice) == {power(twice): 3.0}


def test_long_chains_are_cut(graph: Graph) -> None:
    x = value = graph.input("x", [4])
    for _ in range(200):
        value = graph.op("Add", value, 1.0)
    found = expand(value, [], facts_of(graph))
    assert len(found.nodes) <= 48
    assert power(x) not in found.polynomial


def test_a_polynomial_reads_well(graph: Graph) -> None:
    x = graph.input("x", [4])
    value = graph.op("Add", graph.op("Mul", graph.op("Pow", x, 3.0), 0.25), 1.0)
    assert algebra.text(polynomial(graph, value), {x: "u"}) == "0.25·u^3 + 1"
    assert algebra.text({}, {}) == "0"


@pytest.mark.parametrize(("kind", "found", "accepted"), [
    (ir.DataType.FLOAT, 0.7071, True), (ir.DataType.FLOAT, 0.707, False),
    (ir.DataType.FLOAT16, float(np.float16(math.sqrt(0.5))), True),
    (ir.DataType.BFLOAT16, 0.703125, True), (ir.DataType.BFLOAT16, 0.6667, False),
])  # fmt: skip
def test_constants_may_be_as_inexact_as_their_type(
    kind: ir.DataType, found: float, *, accepted: bool
) -> None:
    relative = algebra.tolerance(ir.Value(name="x", type=ir.TensorType(kind)))
    assert algebra.close(found, math.sqrt(0.5), relative) is accepted
