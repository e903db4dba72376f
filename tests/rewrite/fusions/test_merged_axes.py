"""Axes that are merged for a product alone are not merged."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

BATCH, HEADS, LENGTH, SIZE = 2, 4, 6, 8


def _merged(g: Graph, x: ir.Value, *, add: int, perm: list[int], last: int) -> ir.Value:
    """Return (batch, length, heads, size) as (batch · heads, …, last), as tf2onnx merges it."""
    turned = g.op("Transpose", g.op("Unsqueeze", x, np.array([add])), perm=perm)
    return g.op("Reshape", turned, np.array([-1, _middle(last), last]))


def _middle(last: int) -> int:
    return LENGTH if last == SIZE else SIZE


def _scores(g: Graph, split: list[int], *, factor: float | None = None) -> ir.Value:
    q, k = (g.input(name, ["batch", LENGTH, HEADS, SIZE]) for name in "qk")
    left = _merged(g, q, add=3, perm=[0, 2, 1, 3, 4], last=SIZE)
    right = _merged(g, k, add=1, perm=[0, 3, 1, 2, 4], last=SIZE)
    product = g.op("MatMul", left, g.op("Transpose", right, perm=[0, 2, 1]))
    if factor is not None:
        product = g.op("Div", g.op("Mul", product, factor), 2.0)
    return g.op("Reshape", product, np.array(split))


def _feeds(names: str = "qk") -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {name: samples(BATCH, LENGTH, HEADS, SIZE, seed=i) for i, name in enumerate(names)}


def test_a_product_over_merged_heads_is_one_over_heads() -> None:
    g = Graph()
    model = g.model(g.op("Relu", _scores(g, [-1, HEADS, LENGTH, LENGTH])))
    result = checked(model, _feeds())
    assert sorted(op_types(result.model)) == ["MatMul", "Relu", "Transpose", "Transpose"]


def test_a_factor_of_the_product_stays() -> None:
    g = Graph()
    model = g.model(g.op("Relu", _scores(g, [-1, HEADS, LENGTH, LENGTH], factor=0.5)))
    result = checked(model, _feeds())
    assert sorted(op_types(result.model)) == ["MatMul", "Mul", "Relu", "Transpose", "Transpose"]


def test_a_product_that_turns_and_scales_by_itself_is_read_too() -> None:
    g = Graph()
    q, k = (g.input(name, ["batch", HEADS, LENGTH, SIZE]) for name in "qk")
    merged = [g.op("Reshape", x, np.array([-1, LENGTH, SIZE])) for x in (q, k)]
    product = g.op("FusedMatMul", *merged, domain="com.microsoft", transB=1, alpha=0.25)
    split = g.op("Reshape", product, np.array([-1, HEADS, LENGTH, LENGTH]))
    feeds = {name: samples(BATCH, HEADS, LENGTH, SIZE, seed=i) for i, name in enumerate("qk")}
    result = checked(g.model(g.op("Relu", split)), feeds)
    assert sorted(op_types(result.model)) == ["MatMul", "Mul", "Relu", "Transpose"]


def test_axes_of_one_behind_the_product_go() -> None:
    g = Graph()
    scores = g.op("Squeeze", _scores(g, [-1, HEADS, LENGTH, LENGTH, 1]), np.array([4]))
    result = checked(g.model(g.op("Relu", scores)), _feeds())
    assert "Squeeze" not in op_types(result.model)
    assert "Reshape" not in op_types(result.model)


def test_another_split_stays() -> None:
    g = Graph()
    model = g.model(g.op("Relu", _scores(g, [-1, 2 * HEADS, LENGTH, LENGTH])))
    result = checked(model, _feeds())
    assert "merged-product" not in {fusion.rule for fusion in result.report.fusions}


def test_factors_merged_in_different_order_stay() -> None:
    g = Graph()
    q = g.input("q", [3, HEADS, LENGTH, SIZE])
    k = g.input("k", [HEADS, 3, SIZE, LENGTH])
    left = g.op("Reshape", q, np.array([3 * HEADS, LENGTH, SIZE]))
    right = g.op("Reshape", k, np.array([3 * HEADS, SIZE, LENGTH]))
    product = g.op("Reshape", g.op("MatMul", left, right), np.array([3, HEADS, LENGTH, LENGTH]))
    feeds = {"q": samples(3, HEADS, LENGTH, SIZE), "k": samples(HEADS, 3, SIZE, LENGTH, seed=1)}
    result = checked(g.model(g.op("Relu", product)), feeds)
    assert "merged-product" not in {fusion.rule for fusion in result.report.fusions}


def test_a_transpose_moves_no_axis_of_one_that_a_reshape_drops() -> None:
    g = Graph()
    x = g.op("Relu", g.input("x", ["batch", HEADS, LENGTH, SIZE]))
    turned = g.op("Transpose", g.op("Unsqueeze", x, np.array([1])), perm=[0, 3, 1, 2, 4])
    model = g.model(g.op("Reshape", turned, np.array([-1, HEADS * SIZE])))
    result = checked(model, {"x": samples(BATCH, HEADS, LENGTH, SIZE)})
    assert op_types(result.model) == ["Relu", "Transpose", "Reshape"]


def test_a_reshape_that_copies_sizes_stays() -> None:
    g = Graph()
    x = g.op("Relu", g.input("x", ["batch", HEADS, LENGTH, SIZE]))
    turned = g.op("Transpose", g.op("Unsqueeze", x, np.array([1])), perm=[0, 3, 1, 2, 4])
    model = g.model(g.op("Reshape", turned, np.array([0, 0, 0, -1])))
    rules = {fusion.rule for fusion in optimize(model).report.fusions}
    assert "unit-axes" not in rules


def test_attention_over_merged_heads_with_axes_of_one_fuses() -> None:
    g = Graph()
    scores = g.op("Squeeze", _scores(g, [-1, HEADS, LENGTH, LENGTH, 1]), np.array([4]))
    weights = g.op("Softmax", g.op("Mul", scores, 0.3), axis=-1)
    left = g.op("Reshape", g.op("Unsqueeze", weights, np.array([3])),
                np.array([-1, LENGTH, LENGTH]))  # fmt: skip
    v = g.input("v", ["batch", LENGTH, HEADS, SIZE])
    right = g.op("Transpose", g.op("Unsqueeze", v, np.array([2])), perm=[0, 3, 2, 4, 1])
    right = g.op("Reshape", right, np.array([-1, SIZE, LENGTH]))
    answer = g.op("MatMul", left, g.op("Transpose", right, perm=[0, 2, 1]))
    answer = g.op("Reshape", answer, np.array([-1, HEADS, LENGTH, SIZE, 1]))
    model = g.model(g.op("Relu", g.op("Squeeze", answer, np.array([4]))))
    result = checked(model, _feeds("qkv"))
    assert "attention" in {fusion.rule for fusion in result.report.fusions}
    assert "Softmax" not in op_types(result.model)
