"""A scale of its own for each head or row goes to the queries or keys, and attention fuses."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, ROWS, COLUMNS, SIZE = 3, 5, 6, 4


def build(
    scale: tuple[int, ...], *, operator: str = "Mul", fed: bool = False, biased: bool = True
) -> ir.Model:
    g = Graph()
    q = g.input("q", ["batch", HEADS, ROWS, SIZE])
    k, v = (g.input(name, ["batch", HEADS, COLUMNS, SIZE]) for name in "kv")
    factor = np.abs(samples(*scale, seed=7)) + 0.5
    s = g.input("s", scale) if fed else g.constant(factor)
    scores = g.op(operator, g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), s)
    if biased:
        scores = g.op("Add", scores, g.constant(samples(1, HEADS, ROWS, COLUMNS, seed=9)))
    return g.model(g.op("MatMul", g.op("Softmax", scores, axis=-1), v))


def feeds(
    scale: tuple[int, ...] | None = None,
) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    given = {"q": samples(2, HEADS, ROWS, SIZE), "k": samples(2, HEADS, COLUMNS, SIZE, seed=1),
             "v": samples(2, HEADS, COLUMNS, SIZE, seed=2)}  # fmt: skip
    return given if scale is None else given | {"s": np.abs(samples(*scale, seed=7)) + 0.5}


def attentions(model: ir.Model) -> int:
    return sum(name in ("Attention", "MultiHeadAttention") for name in op_types(model))


@pytest.mark.parametrize("operator", ["Mul", "Div"])
@pytest.mark.parametrize("fed", [False, True])
@pytest.mark.parametrize(
    "scale", [(HEADS, 1, 1), (1, HEADS, ROWS, 1), (1, HEADS, 1, COLUMNS), (COLUMNS,), (ROWS, 1)]
)
def test_a_scale_of_rows_or_columns_moves(scale: tuple[int, ...], fed: bool, operator: str) -> None:
    result = checked(build(scale, fed=fed, operator=operator), feeds(scale if fed else None))
    assert attentions(result.model) == 1
    assert "Softmax" not in op_types(result.model)


@settings(max_examples=20)
@given(data=st.data())
def test_any_scale_that_stretches_nothing_moves(data: st.DataObject) -> None:
    last = data.draw(st.sampled_from([(ROWS, 1), (1, 1), (1, COLUMNS)]))
    scale = (data.draw(st.sampled_from([1, HEADS])), *last)
    result = checked(build(scale, fed=True, biased=data.draw(st.booleans())), feeds(scale))
    assert attentions(result.model) == 1


def test_a_scale_of_single_scores_stays_and_is_explained() -> None:
    result = optimize(build((HEADS, ROWS, COLUMNS), fed=True))
    assert "Softmax" in op_types(result.model)
    assert any("stands between the product and the softmax" in miss.reason
               for miss in result.report.misses)  # fmt: skip


def test_a_product_that_others_read_is_not_scaled() -> None:
    g = Graph()
    q, k = (g.input(name, ["batch", HEADS, ROWS, SIZE]) for name in "qk")
    product = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = g.op("Softmax", g.op("Mul", product, g.constant(samples(HEADS, 1, 1))), axis=-1)
    result = optimize(g.model(g.op("MatMul", weights, k), g.op("Relu", product)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "row-scale"]
    assert "and read elsewhere, too" in miss.reason
