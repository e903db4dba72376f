"""Planted overflows, underflows and cancellations: what goes back to fp32, and how few runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from burnish.feeds.feed import Feeds
from burnish.rewrite.options import PrecisionRequest
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.precision import convert
from burnish.study.repair import Broken, repaired
from rewriting import Graph, samples

WIDTH = 16
Plant = Callable[[Graph, ir.Value], ir.Value]


def _scaled_up_and_down(g: Graph, x: ir.Value) -> ir.Value:
    up = g.op("Mul", g.op("Mul", x, g.constant([3e4])), g.constant([3e4]))
    return g.op("Mul", g.op("Mul", up, g.constant([1e-4])), g.constant([1.2e-5]))


def _softmax_by_hand(g: Graph, x: ir.Value) -> ir.Value:
    powers = g.op("Exp", g.op("Add", x, g.constant([12.0])))
    total = g.op("ReduceSum", powers, g.constant(np.array([-1])), keepdims=1)
    return g.op("Div", powers, total)


def _large_weights(g: Graph, x: ir.Value) -> ir.Value:
    product = g.op("MatMul", x, samples(WIDTH, WIDTH, seed=3) * 4e4)
    return g.op("Mul", product, g.constant([2e-5]))


def _fourth_power(g: Graph, x: ir.Value) -> ir.Value:
    power = g.op("Pow", g.op("Mul", x, g.constant([30.0])), g.constant([4.0]))
    return g.op("Sqrt", g.op("Sqrt", power))


def _offset_that_cancels(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("Sub", g.op("Add", x, g.constant([3e4])), g.constant([3e4]))


def _variance_of_large_means(g: Graph, x: ir.Value) -> ir.Value:
    shifted = g.op("Add", x, g.constant([60.0]))
    squares = g.op("Mul", shifted, shifted)
    mean_of_squares = g.op("GlobalAveragePool", g.op("Unsqueeze", squares, np.array([1])))
    mean = g.op("GlobalAveragePool", g.op("Unsqueeze", shifted, np.array([1])))
    variance = g.op("Sub", mean_of_squares, g.op("Mul", mean, mean))
    return g.op("Add", x, g.op("Squeeze", variance, np.array([1])))


def _logarithm_of_little(g: Graph, x: ir.Value) -> ir.Value:
    share = g.op("Exp", g.op("Sub", x, g.constant([17.6])))
    return g.op("Mul", g.op("Log", share), g.constant([0.1]))


def _softplus_by_hand(g: Graph, x: ir.Value) -> ir.Value:
    powers = g.op("Exp", g.op("Add", x, g.constant([13.0])))
    return g.op("Log", g.op("Add", powers, g.constant([1.0])))


def _root_of_little(g: Graph, x: ir.Value) -> ir.Value:
    little = g.op("Mul", g.op("Add", g.op("Abs", x), g.constant([0.5])), g.constant([1e-6]))
    less = g.op("Mul", little, g.constant([1e-3]))
    return g.op("Mul", g.op("Sqrt", less), g.constant([3e4]))


def _sum_of_many(g: Graph, x: ir.Value) -> ir.Value:
    many = g.op("Mul", g.op("Abs", g.op("MatMul", x, samples(WIDTH, 4096))), g.constant([20.0]))
    total = g.op("ReduceSum", many, g.constant(np.array([-1])), keepdims=1)
    return g.op("Mul", x, g.op("Mul", total, g.constant([1e-5])))


def _sixth_power(g: Graph, x: ir.Value) -> ir.Value:
    ten = g.op("Add", g.op("Tanh", x), g.constant([10.0]))
    return g.op("Mul", g.op("Pow", ten, g.constant([6.0])), g.constant([1e-6]))


def _reciprocal_of_little(g: Graph, x: ir.Value) -> ir.Value:
    little = g.op("Mul", g.op("Add", g.op("Abs", x), g.constant([0.5])), g.constant([1e-5]))
    return g.op("Mul", g.op("Reciprocal", little), g.constant([1e-5]))


def _norm_by_hand(g: Graph, x: ir.Value) -> ir.Value:
    large = g.op("Mul", x, g.constant([300.0]))
    squares = g.op("Mul", large, large)
    total = g.op("MatMul", squares, np.ones((WIDTH, 1), np.float32))
    return g.op("Div", large, g.op("Sqrt", total))


def _large_gemm(g: Graph, x: ir.Value) -> ir.Value:
    product = g.op("Gemm", x, samples(WIDTH, WIDTH, seed=5), alpha=5e4)
    return g.op("Mul", product, g.constant([2e-5]))


def _product_of_two_large(g: Graph, x: ir.Value) -> ir.Value:
    left = g.op("Mul", g.op("Tanh", x), g.constant([1e3]))
    right = g.op("Add", g.op("Sigmoid", x), g.constant([500.0]))
    return g.op("Mul", g.op("Mul", left, right), g.constant([2e-6]))


PLANTS: tuple[Plant, ...] = (
    _scaled_up_and_down, _softmax_by_hand, _large_weights, _fourth_power, _offset_that_cancels,
    _variance_of_large_means, _logarithm_of_little, _softplus_by_hand, _root_of_little,
    _sum_of_many, _sixth_power, _reciprocal_of_little, _norm_by_hand, _large_gemm,
    _product_of_two_large,
)  # fmt: skip


def planted(plant: Plant) -> ir.Model:
    """Return a network of some 40 nodes, one part of which fp16 cannot compute."""
    g = Graph()
    x = g.input("x", [4, WIDTH])
    for number in range(5):
        x = _block(g, x, number)
    x = g.op("Add", x, plant(g, x))
    for number in range(5, 10):
        x = _block(g, x, number)
    model = g.model(x)
    FixNames()(model)
    InferShapes()(model)
    return model


def _block(g: Graph, x: ir.Value, number: int) -> ir.Value:
    hidden = g.op("MatMul", x, samples(WIDTH, WIDTH, seed=number) / 4)
    return g.op("Tanh", g.op("Add", g.op("Add", hidden, samples(WIDTH, seed=number)), x))


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_what_fp16_cannot_hold_goes_back_and_little_else(plant: Plant) -> None:
    model = planted(plant)
    feeds = Feeds({"x": samples(4, WIDTH, seed=9)}, {})
    found = repaired(Broken(model, PrecisionRequest("fp16"), (feeds,)))
    assert found.keep, "it was broken"
    nodes = len(model.graph)
    assert found.runs <= 2 * math.log2(nodes) + 5
    before = convert(model, "fp16", edges="keep").report
    after = convert(model, "fp16", edges="keep", keep=found.keep).report
    assert len(after.changed) >= 0.8 * len(before.changed)
    assert set(found.reasons) == set(found.keep)


def test_a_model_that_agrees_as_it_is_keeps_nothing() -> None:
    model = planted(lambda _g, x: x)
    feeds = Feeds({"x": samples(4, WIDTH, seed=9)}, {})
    found = repaired(Broken(model, PrecisionRequest("fp16"), (feeds,)))
    assert (found.keep, found.runs) == ((), 2)


def test_a_repaired_model_is_written_with_what_stayed_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(ir.to_proto(planted(_offset_that_cancels)), tmp_path / "m.onnx")
    target = tmp_path / "o.onnx"
    assert run(["optimize", str(tmp_path / "m.onnx"), "-o", str(target), "-p", "fp16"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "had to go back to fp32, found with" in shown
    assert "makes much of its error" in shown
    assert target.exists()
