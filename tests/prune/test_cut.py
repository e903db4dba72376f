"""Cutting is the same function as zeros: the smaller model computes what its twin does."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.infer.constants import constant_tensor
from burnish.prune.axes import coupled_axes
from burnish.prune.cut import cut, reweighted
from burnish.prune.gram import products
from burnish.prune.score import without
from burnish.prune.work import PrunedWork
from prune_samples import SAMPLES, Weights, feeds, followed
from rewriting import Graph, assert_same_numbers


@pytest.mark.parametrize("name", SAMPLES)
def test_what_can_be_cut_is_found_in_every_spelling(name: str) -> None:
    found = coupled_axes(followed(SAMPLES[name].make())).axes
    assert [(axis.kind, axis.size) for axis in found] == list(SAMPLES[name].axes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SAMPLES)
def test_a_smaller_model_computes_what_zeros_would(name: str, seed: int) -> None:
    model, rng = SAMPLES[name].make(), np.random.default_rng(seed)
    flow = followed(model)
    kept, zeros = {}, {}
    axes = coupled_axes(flow).axes
    for axis in axes:
        count = int(rng.integers(1, axis.size))
        kept[axis.dim] = tuple(sorted(rng.choice(axis.size, count, replace=False).tolist()))
    for product in (p for axis in axes for p in products(flow, axis.sums)):
        value = product.summed.weight
        tensor = constant_tensor(value)
        assert tensor is not None
        zeroed = without(product.matrix(tensor.numpy()), product.rows(kept))
        zeros[value.name or ""] = product.weight(zeroed, tensor.numpy())
    before = ir.serde.serialize_model(model).SerializeToString()
    small, twin = cut(flow, kept, zeros), reweighted(model, zeros)
    assert ir.serde.serialize_model(model).SerializeToString() == before
    for batch, sequence in ((2, 5), (1, 1), (3, 7)):
        inputs = feeds(model, seed, batch, sequence)
        assert_same_numbers(twin, small, inputs, tolerance=2e-5)
    assert _parameters(small) < _parameters(model)


@pytest.mark.parametrize("name", SAMPLES)
def test_work_of_fewer_units_is_that_of_the_smaller_model(name: str) -> None:
    model = SAMPLES[name].make()
    flow = followed(model)
    kept = {axis.dim: tuple(range(axis.size // 2)) for axis in coupled_axes(flow).axes}
    expected = PrunedWork(followed(cut(flow, kept, {}))).flops({})
    left = {dim: len(units) for dim, units in kept.items()}
    assert PrunedWork(flow).flops(left) == pytest.approx(expected)
    assert PrunedWork(flow).flops(left) < PrunedWork(flow).flops({})


def _parameters(model: ir.Model) -> int:
    return sum(v.const_value.size for v in model.graph.initializers.values() if v.const_value)


def test_weights_that_two_products_read_are_not_fitted_to_one() -> None:
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", 16])
    weight = g.constant(w(24, 16))
    parts = [g.op("MatMul", g.op("Relu", g.op("MatMul", x, w(16, 24))), weight) for _ in range(2)]
    y = g.op("Add", *parts)
    y.shape = ir.Shape(["batch", 16])
    flow = followed(g.model(y))
    (axis,) = coupled_axes(flow).axes
    assert [product.alone for product in products(flow, axis.sums)] == [False, False]
