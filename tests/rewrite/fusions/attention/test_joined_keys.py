"""Several sets of scores under one softmax are one attention, sinks included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, SIZE = 3, 4
LENGTHS = {"near": 6, "far": 5}
FEEDS = {
    "q": samples(2, HEADS, 7, SIZE), "mask": samples(2, 1, 7, 6, seed=8),
    "wide": samples(2, 1, 7, 11, seed=9),
    **{f"{kind}_{name}": samples(2, HEADS, length, SIZE, seed=seed)
       for seed, kind in enumerate("kv") for name, length in LENGTHS.items()},
}  # fmt: skip


class Parts:
    """Builds a softmax over sets of scores."""

    def __init__(self) -> None:
        self.g = Graph()
        self.q = self.g.input("q", ["batch", HEADS, "rows", SIZE])
        self.mask = self.g.input("mask", ["batch", 1, "rows", "near"])
        self.values: dict[str, ir.Value] = {}

    def scores(self, name: str, *, masked: bool = False, scale: float = 0.5) -> ir.Value:
        g = self.g
        key, value = (g.input(f"{kind}_{name}", ["batch", HEADS, name, SIZE]) for kind in "kv")
        self.values[name] = value
        product = g.op("MatMul", self.q, g.op("Transpose", key, perm=[0, 1, 3, 2]))
        scaled = g.op("Mul", product, scale)
        return g.op("Add", scaled, self.mask) if masked else scaled

    def sink(self, width: int = 1) -> ir.Value:
        g = self.g
        sizes = [g.op("Shape", self.q, start=at, end=at + 1) for at in (0, 2)]
        shape = g.op("Concat", sizes[0], g.constant([HEADS]), sizes[1], g.constant([width]), axis=0)
        return g.op("Expand", samples(1, HEADS, 1, width, seed=5), shape)

    def cut(self, weights: ir.Value, start: int | ir.Value, end: int | ir.Value) -> ir.Value:
        ends = [self.g.constant([at]) if isinstance(at, int) else at for at in (start, end)]
        return self.g.op("Slice", weights, *ends, self.g.constant([-1]), self.g.constant([1]))

    def length(self, name: str) -> ir.Value:
        return self.g.op("Shape", self.values[name], start=2, end=3)

    def softmax(self, parts: Sequence[ir.Value]) -> ir.Value:
        return self.g.op("Softmax", self.g.op("Concat", *parts, axis=-1), axis=-1)


def feeds(model: ir.Model) -> dict[str, np.ndarray]:
    return {value.name or "": FEEDS[value.name or ""] for value in model.graph.inputs}


def fused(model: ir.Model) -> bool:
    kinds = op_types(checked(model, feeds(model)).model)
    return "Softmax" not in kinds and any(
        name in ("Attention", "MultiHeadAttention") for name in kinds
    )


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("width", [1, 2])
def test_a_sink_behind_the_scores_is_a_key_of_zeros(masked: bool, width: int) -> None:
    p = Parts()
    weights = p.softmax([p.scores("near", masked=masked), p.sink(width)])
    assert fused(p.g.model(p.g.op("MatMul", p.cut(weights, 0, -width), p.values["near"])))


def test_a_sink_in_front_of_the_scores_is_one_too() -> None:
    p = Parts()
    weights = p.softmax([p.sink(), p.scores("near")])
    assert fused(p.g.model(p.g.op("MatMul", p.cut(weights, 1, 2**62), p.values["near"])))


@settings(max_examples=12, deadline=None)
@given(masks=st.tuples(st.booleans(), st.booleans()), sink=st.booleans(), split=st.booleans())
def test_two_sets_of_keys_are_one(masks: tuple[bool, bool], sink: bool, split: bool) -> None:
    p = Parts()
    parts = [p.scores("near", masked=masks[0]), p.scores("far")]
    weights = p.softmax([*parts, *([p.sink()] if sink else [])])
    near, far = p.length("near"), p.length("far")
    if split:
        lengths = p.g.op("Concat", near, far, *([p.g.constant([1])] if sink else []), axis=0)
        cuts = p.g.ops("Split", weights, lengths, outputs=3 if sink else 2, axis=3)
    else:
        cuts = [p.cut(weights, 0, near), p.cut(weights, near, -1 if sink else 2**62)]
    products = [p.g.op("MatMul", cuts[at], p.values[name]) for at, name in enumerate(LENGTHS)]
    assert fused(p.g.model(p.g.op("Add", *products)))


def test_a_mask_of_all_sets_together_is_kept() -> None:
    p = Parts()
    mask = p.g.input("wide", ["batch", 1, "rows", "near + far"])
    joined = p.g.op("Concat", p.scores("near"), p.scores("far"), axis=-1)
    weights = p.g.op("Softmax", p.g.op("Add", mask, joined), axis=-1)
    near = p.length("near")
    cuts = [p.cut(weights, 0, near), p.cut(weights, near, 2**62)]
    products = [p.g.op("MatMul", cuts[at], p.values[name]) for at, name in enumerate(LENGTHS)]
    assert fused(p.g.model(p.g.op("Add", *products)))


def test_sets_of_different_scales_stay_and_are_explained() -> None:
    p = Parts()
    weights = p.softmax([p.scores("near"), p.scores("far", scale=0.25)])
    near = p.length("near")
    cuts = [p.cut(weights, 0, near), p.cut(weights, near, 2**62)]
    products = [p.g.op("MatMul", cuts[at], p.values[name]) for at, name in enumerate(LENGTHS)]
    result = optimize(p.g.model(p.g.op("Add", *products)))
    assert "Softmax" in op_types(result.model)
    assert any("of the same queries at one scale" in miss.reason for miss in result.report.misses)


@pytest.mark.parametrize(("start", "end"), [(0, -2), (1, -1)])
def test_weights_that_are_cut_elsewhere_stay(start: int, end: int) -> None:
    p = Parts()
    weights = p.softmax([p.scores("near"), p.sink()])
    value = p.cut(p.g.op("Transpose", p.values["near"], perm=[0, 1, 3, 2]), 0, -1)
    turned = p.g.op("Transpose", value, perm=[0, 1, 3, 2])
    model = p.g.model(p.g.op("MatMul", p.cut(weights, start, end), turned))
    assert "Softmax" in op_types(optimize(model).model)


def gated(*, kept: bool, sink: tuple[int, ...], total: bool = True) -> ir.Model:
    p = Parts()
    scores = p.scores("near", masked=True)
    product = p.g.op("MatMul", p.g.op("Softmax", scores, axis=-1), p.values["near"])
    log = p.g.op("ReduceLogSumExp" if total else "ReduceMax", scores, axes=[-1], keepdims=int(kept))
    gate = p.g.op("Sigmoid", p.g.op("Sub", log, samples(*sink, seed=5)))
    if not kept:
        gate = p.g.op("Unsqueeze", gate, np.array([-1]))
    return p.g.model(p.g.op("Mul", product, gate))


@pytest.mark.parametrize(
    ("kept", "sink"), [(False, (1, HEADS, 1)), (False, (HEADS, 1)), (True, (1, HEADS, 1, 1))]
)
def test_a_gate_by_what_all_scores_weigh_is_a_sink(kept: bool, sink: tuple[int, ...]) -> None:
    assert fused(gated(kept=kept, sink=sink))


def test_a_gate_by_something_else_stays() -> None:
    kinds = op_types(optimize(gated(kept=False, sink=(HEADS, 1), total=False)).model)
    assert "Sigmoid" in kinds
