"""Operators that others say more plainly are written so, where both mean the same."""

from __future__ import annotations

import numpy as np
import pytest

from rewriting import Graph, checked, op_types, samples


@pytest.mark.parametrize("opset", [13, 17, 18, 20])
def test_pooling_the_last_of_three_axes_is_a_mean(opset: int) -> None:
    g = Graph(opset=opset)
    x = g.input("x", ["batch", "length", 8])
    model = g.model(g.op("Relu", g.op("GlobalAveragePool", x)))
    assert op_types(checked(model, {"x": samples(2, 3, 8)}).model) == ["ReduceMean", "Relu"]


def test_pooling_pictures_stays() -> None:
    g = Graph()
    x = g.input("x", ["batch", 3, "height", "width"])
    model = g.model(g.op("GlobalAveragePool", x))
    assert op_types(checked(model, {"x": samples(2, 3, 4, 5)}).model) == ["GlobalAveragePool"]


@pytest.mark.parametrize("opset", [17, 18])
def test_a_layer_norm_of_pools_fuses(opset: int) -> None:
    g = Graph(opset=opset)
    x = g.input("x", ["batch", "length", 8])
    gamma, beta = g.constant(samples(8, seed=1)), g.constant(samples(8, seed=2))
    mean = g.op("GlobalAveragePool", x)
    apart = g.op("Sub", x, mean)
    variance = g.op("GlobalAveragePool", g.op("Mul", apart, apart))
    root = g.op("Reciprocal", g.op("Sqrt", g.op("Add", variance, np.float32(1e-6))))
    scale = g.op("Mul", root, gamma)
    moved = g.op("Add", g.op("Mul", g.op("Neg", mean), scale), beta)
    model = g.model(g.op("Add", g.op("Mul", x, scale), moved))
    assert op_types(checked(model, {"x": samples(2, 3, 8)}).model) == ["LayerNormalization"]
