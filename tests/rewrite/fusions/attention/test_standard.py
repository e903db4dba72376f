"""ONNX's Attention reads heads as they come."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, GROUPS, SIZE = 4, 2, 8
Shape = list[int | str]


def heads(g: Graph, name: str, length: str, count: int) -> ir.Value:
    whole = g.input(name, ["batch", length, count * SIZE])
    split = g.op("Reshape", whole, np.array([0, 0, count, SIZE], np.int64))
    return g.op("Transpose", split, perm=[0, 2, 1, 3])


def repeated(g: Graph, x: ir.Value) -> ir.Value:
    wide = g.op("Unsqueeze", x, np.array([2], np.int64))
    wide = g.op("Expand", wide, np.array([1, 1, HEADS // GROUPS, 1, 1], np.int64))
    return g.op("Reshape", wide, np.array([0, HEADS, -1, SIZE], np.int64))


def joined(g: Graph, x: ir.Value) -> ir.Value:
    turned = g.op("Transpose", x, perm=[0, 2, 1, 3])
    return g.op("Reshape", turned, np.array([0, 0, HEADS * SIZE], np.int64))


def feeds(count: int) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {
        "q": samples(2, 5, HEADS * SIZE),
        "k": samples(2, 6, count * SIZE, seed=1),
        "v": samples(2, 6, count * SIZE, seed=2),
    }


@pytest.mark.parametrize("attributes", [{}, {"scale": 0.7}, {"softcap": 3.0}, {"is_causal": 1}])
def test_split_heads_are_read_joined(attributes: dict[str, float]) -> None:
    g = Graph(opset=23)
    q, k, v = (
        heads(g, "q", "rows", HEADS),
        heads(g, "k", "rows", HEADS),
        heads(g, "v", "rows", HEADS),
    )
    model = g.model(joined(g, g.op("Attention", q, k, v, **attributes)))
    given = {name: samples(2, 5, HEADS * SIZE, seed=i) for i, name in enumerate("qkv")}
    result = checked(model, given)
    assert op_types(result.model) == ["Attention"]
    (fused,) = result.model.graph
    assert fused.attributes["q_num_heads"].as_int() == HEADS


def test_keys_of_groups_are_not_repeated() -> None:
    g = Graph(opset=23)
    q = heads(g, "q", "rows", HEADS)
    k, v = (repeated(g, heads(g, name, "columns", GROUPS)) for name in "kv")
    mask = g.input("mask", ["batch", 1, "rows", "columns"], ir.DataType.BOOL)
    model = g.model(joined(g, g.op("Attention", q, k, v, mask)))
    given = {**feeds(GROUPS), "mask": np.random.default_rng(1).random((2, 1, 5, 6)) > 0.3}
    result = checked(model, given)
    assert op_types(result.model) == ["Attention"]
    (fused,) = result.model.graph
    assert fused.attributes["kv_num_heads"].as_int() == GROUPS


def test_a_cache_inside_is_left_alone() -> None:
    g = Graph(opset=23)
    q, k, v = (heads(g, name, "rows", HEADS) for name in "qkv")
    past = [g.input(name, ["batch", HEADS, "past", SIZE]) for name in ("pk", "pv")]
    outputs = g.ops("Attention", q, k, v, None, *past, outputs=3)
    result = optimize(g.model(joined(g, outputs[0]), *outputs[1:]))
    assert "attention-heads" not in result.report.fusion_counts


def test_batches_that_may_differ_are_refused() -> None:
    g = Graph(opset=23)
    q = heads(g, "q", "rows", HEADS)
    other = g.input("k", ["other", "rows", HEADS * SIZE])
    k = g.op("Transpose", g.op("Reshape", other, np.array([0, 0, HEADS, SIZE], np.int64)),
             perm=[0, 2, 1, 3])  # fmt: skip
    result = optimize(g.model(g.op("Attention", q, k, k)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention-heads"]
    assert "cannot be proven to fit" in miss.reason
