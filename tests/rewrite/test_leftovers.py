from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.leftovers import Leftover, leftovers
from rewriting import Graph


def only(graph: Graph, *outputs: ir.Value) -> Leftover:
    (found,) = leftovers(graph.model(*outputs), explained=())
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


def test_a_softmax_over_rearranged_scores_names_what_rearranges_them() -> None:
    graph = Graph()
    scores = graph.op("MatMul", graph.input("x", ["n", 8]), np.ones((8, 4), np.float32))
    padded = graph.op("Concat", scores, scores, axis=1)
    result = graph.op("MatMul", graph.op("Softmax", padded), np.ones((8, 2), np.float32))
    found = only(graph, result)
    assert "the scores of Softmax" in found.reason
    assert "are rearranged by Concat" in found.reason


def test_an_attention_that_no_rule_was_asked_about_is_said_to_be_one() -> None:
    graph = Graph()
    scores = graph.op("MatMul", graph.input("x", ["n", 8]), np.ones((8, 4), np.float32))
    weights = graph.op("Softmax", graph.op("Mul", scores, 0.5))
    found = only(graph, graph.op("MatMul", weights, np.ones((4, 2), np.float32)))
    assert "stands between products, and no attention rule was applied" in found.reason


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


def test_what_a_rule_has_explained_is_not_explained_again() -> None:
    graph = Graph()
    model = graph.model(graph.op("Tanh", graph.input("x", ["n", 8])))
    (node,) = model.graph
    assert leftovers(model, explained={node.name or ""}) == ()
