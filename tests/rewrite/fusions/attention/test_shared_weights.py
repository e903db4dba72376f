"""Values that have the same weights are joined, and attention fuses."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, SIZE = 3, 4
SIZES = {"q": 4, "k": 4, "a": 4, "b": 2, "c": 5}
FEEDS = {name: samples(2, HEADS, 6, size, seed=at) for at, (name, size) in enumerate(SIZES.items())}


def build(*values: str, late: bool = False, opset: int = 17) -> ir.Model:
    g = Graph(opset=opset)
    q, k = (g.input(name, ["batch", HEADS, "length", SIZE]) for name in "qk")
    given = [g.input(name, ["batch", HEADS, "length", FEEDS[name].shape[-1]]) for name in values]
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = g.op("Softmax", scores, axis=-1)
    results: list[ir.Value] = []
    for value in given:
        made = value
        if results and late:
            made = g.op("Sin", made)
        results.append(g.op("Tanh", g.op("MatMul", weights, made)))
    return g.model(*results)


def feeds(*values: str) -> dict[str, object]:
    return {name: FEEDS[name] for name in ("q", "k", *values)}


def attentions(model: ir.Model) -> int:
    return sum(name in ("Attention", "MultiHeadAttention") for name in op_types(model))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("opset", [11, 17, 20])
@pytest.mark.parametrize("values", ["ab", "abc"])
def test_one_attention_gives_the_results_of_all_values(values: str, late: bool, opset: int) -> None:
    model = build(*values, late=late, opset=opset)
    result = checked(model, feeds(*values))  # type: ignore[arg-type]
    assert attentions(result.model) == 1
    assert "Softmax" not in op_types(result.model)


def test_values_that_need_another_result_stay_and_are_explained() -> None:
    result = optimize(_chained())
    assert "Softmax" in op_types(result.model)
    assert any("none that is computed from another's result" in miss.reason
               for miss in result.report.misses)  # fmt: skip


def _chained() -> ir.Model:
    g = Graph()
    q, k, v = (g.input(name, ["batch", HEADS, "length", SIZE]) for name in "qka")
    weights = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
    once = g.op("MatMul", weights, v)
    return g.model(g.op("MatMul", weights, g.op("Tanh", once)))


def test_a_single_product_is_left_to_attention() -> None:
    result = checked(build("a"), feeds("a"))  # type: ignore[arg-type]
    assert [fusion.rule for fusion in result.report.fusions] == ["attention"]
