from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.leftovers import Leftover, leftovers
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph


def only(graph: Graph, *outputs: ir.Value) -> Leftover:
    (found,) = leftovers(optimize(graph.model(*outputs)).model, explained=())
    return found


def test_a_softmax_without_a_product_before_it_is_no_attention() -> None:
    graph = Graph()
    found = only(graph, graph.op("Softmax", graph.op("Relu", graph.input("x", ["n", 8]))))
    assert "are no product of matrices" in found.reason
    assert found.remedy == "none: this is not an attention"


def test_a_softmax_that_picks_is_no_attention() -> None:
    graph = Graph()
    scores = graph.op("MatMul", graph.input("x", ["n", 8]), np.ones((8, 4), np.float32))
    assert "is multiplied with no values" in only(graph, graph.op("Softmax", scores)).reason


def product(graph: Graph) -> ir.Value:
    x = graph.input("x", ["batch", "n", 8])
    return graph.op("MatMul", x, graph.op("Transpose", x, perm=[0, 2, 1]))


def test_a_softmax_over_rearranged_scores_names_what_rearranges_them() -> None:
    graph = Graph()
    scores = product(graph)
    weights = graph.op("Softmax", graph.op("Concat", scores, scores, axis=1), axis=-1)
    found = only(graph, graph.op("MatMul", weights, graph.inputs[0]))
    assert "the scores of Softmax" in found.reason
    assert "are rearranged by Concat" in found.reason


def test_a_softmax_of_what_weights_project_is_no_attention() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    keys = graph.op("Softmax", graph.op("MatMul", x, np.ones((8, 4), np.float32)), axis=-1)
    found = only(graph, graph.op("MatMul", keys, x))
    assert "come from the product MatMul" in found.reason
    assert "with the constant 'c0', expected one of queries and keys" in found.reason
    assert found.remedy == "none: this is not an attention"


def test_a_product_with_a_table_that_is_nearer_is_not_taken_for_that_of_queries_and_keys() -> None:
    graph = Graph()
    scores = graph.op("Concat", product(graph), axis=1)
    bias = graph.op("MatMul", graph.inputs[0], np.ones((8, 1), np.float32))
    weights = graph.op("Softmax", graph.op("Add", graph.op("Neg", scores), bias), axis=-1)
    found = only(graph, graph.op("MatMul", weights, graph.inputs[0]))
    assert "with the constant" not in found.reason


def test_what_stands_between_product_and_softmax_is_named() -> None:
    graph = Graph()
    weights = graph.op("Softmax", graph.op("Neg", product(graph)), axis=-1)
    found = only(graph, graph.op("MatMul", weights, graph.inputs[0]))
    assert found.reason.startswith("Neg 'neg_2' between the product 'matmul_1' and Softmax")


@pytest.mark.parametrize(
    ("options", "words", "remedy"),
    [
        ({"disable": ("attention",)}, "--disable leaves out attention",
         "take attention out of --disable"),
        ({"only": ("gelu",)}, "--only leaves out attention",
         "add attention to --only, or leave it out"),
    ],
)  # fmt: skip
def test_a_rule_that_was_left_out_is_named_with_its_option(
    options: dict[str, tuple[str, ...]], words: str, remedy: str
) -> None:
    graph = Graph()
    weights = graph.op("Softmax", product(graph), axis=-1)
    asked = OptimizeOptions(**options)  # type: ignore[arg-type]
    model = optimize(graph.model(graph.op("MatMul", weights, graph.inputs[0])), asked).model
    (found,) = leftovers(model, (), asked)
    assert words in found.reason
    assert found.remedy == remedy


def test_an_operator_whose_type_nobody_knows_says_so() -> None:
    graph = Graph()
    odd = graph.op("Odd", graph.input("x", ["n", 8]), domain="mine")
    found = only(graph, graph.op("Odd", graph.op("Tanh", odd), domain="mine"))
    assert "the element type of Tanh 'tanh_1' is not known" in found.reason


@pytest.mark.parametrize(
    ("op_type", "words"),
    [
        ("Erf", "is not part of x·(1 + erf(x/√2))"),
        ("Tanh", "is an activation of its own, read by an output of the graph"),
        ("Sigmoid", "expected a product with its input"),
    ],
)
def test_a_curve_of_its_own_is_told_apart_from_an_activation(op_type: str, words: str) -> None:
    graph = Graph()
    assert words in only(graph, graph.op(op_type, graph.input("x", ["n", 8]))).reason


def test_an_average_that_pools_is_no_normalisation() -> None:
    graph = Graph()
    pooled = graph.op("ReduceMean", graph.input("x", ["n", 8]), axes=[1])
    found = only(graph, graph.op("Relu", pooled))
    assert "is read by Relu" in found.reason
    assert found.remedy == "none: this is not a normalisation: it pools"


def test_a_difference_that_nothing_divides_is_told_apart_from_a_norm() -> None:
    graph = Graph()
    x = graph.input("x", ["n", 8])
    found = only(graph, graph.op("Sub", x, graph.op("ReduceMean", x, axes=[1], keepdims=1)))
    assert "is read by Sub 'sub_1', and not divided by" in found.reason
    assert found.remedy == "none: this is not a normalisation"


def test_what_a_rule_has_explained_is_not_explained_again() -> None:
    graph = Graph()
    model = graph.model(graph.op("Tanh", graph.input("x", ["n", 8])))
    (node,) = model.graph
    assert leftovers(model, explained={node.name or ""}) == ()
