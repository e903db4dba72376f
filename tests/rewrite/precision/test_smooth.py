"""Channels made even: the same function, with less lost to 8 bits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.rewrite.precision import convert
from burnish.rewrite.precision.smooth import Smoothing, smoothed, smoothed_values
from rewriting import Graph, samples

WIDTH = 16


def network(*, residual: bool) -> ir.Model:
    """Return a norm that two products read, and, with a residual, a sum as well."""
    g = Graph(opset=17)
    x = g.input("x", ["batch", WIDTH])
    scale = np.abs(samples(WIDTH)) + 0.1
    scale[5] = 300.0
    y = g.op("LayerNormalization", x, scale, samples(WIDTH, seed=1))
    weights = samples(WIDTH, WIDTH, seed=2)
    weights[5] /= 300.0
    left = g.op("Add", g.op("MatMul", y, weights), samples(WIDTH, seed=3))
    right = g.op("Gemm", y, samples(WIDTH, WIDTH, seed=4), transB=1)
    out = g.op("Tanh", g.op("Mul", left, right))
    out = g.op("Add", out, y) if residual else out
    out.shape = ir.Shape(["batch", WIDTH])
    return g.model(out)


def given_by(model: ir.Model, x: Array) -> Array:
    session = onnxruntime.InferenceSession(ir.to_proto(model).SerializeToString())
    found: Array = session.run(None, {"x": x})[0]
    return found


def seen(model: ir.Model, x: Array, strength: float = 0.5) -> Smoothing:
    (name,) = smoothed_values(model)
    norm = next(value for node in model.graph for value in node.outputs if value.name == name)
    copy = model.clone()
    copy.graph.outputs.clear()
    made = {value.name: value for node in copy.graph for value in node.outputs}
    copy.graph.outputs.append(made[norm.name])
    return Smoothing({name: np.abs(given_by(copy, x)).max(axis=0)}, strength)


@settings(max_examples=20, deadline=None)
@given(
    strength=st.floats(0.01, 1.0), residual=st.booleans(), seed=st.integers(0, 99),
    rows=st.integers(1, 5),
)  # fmt: skip
def test_a_model_with_even_channels_computes_the_same(
    strength: float, residual: bool, seed: int, rows: int
) -> None:
    model, x = network(residual=residual), samples(rows, WIDTH, seed=seed)
    even = smoothed(model, seen(model, x, strength))
    np.testing.assert_allclose(given_by(even, x), given_by(model, x), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("residual", [False, True])
def test_a_norm_takes_the_division_where_only_products_read_it(residual: bool) -> None:
    model, x = network(residual=residual), samples(4, WIDTH)
    before = Counter(node.op_type for node in model.graph)
    after = Counter(node.op_type for node in smoothed(model, seen(model, x)).graph)
    assert after - before == (Counter(["Mul"]) if residual else Counter())


def test_8_bits_lose_less_of_even_channels() -> None:
    model, x = network(residual=False), samples(64, WIDTH)
    how = seen(model, x)
    (name,) = how.tops
    top = float(how.tops[name].max())
    plain = convert(model, "int8", spans={name: (-top, top)})
    even_top = 3 * float(np.median(how.tops[name]))
    even = convert(model, "int8", spans={name: (-even_top, even_top)}, smoothing=how)
    assert even.report.how == "static, per channel, 8 bits, smoothed"
    wanted = given_by(model, x)
    errors = [float(np.linalg.norm(given_by(found.model, x) - wanted)) for found in (plain, even)]
    assert errors[1] < 0.5 * errors[0]


def test_what_is_kept_or_never_seen_is_left_alone() -> None:
    model = network(residual=False)
    assert smoothed_values(model, ["MatMul", "Gemm"]) == ()
    untouched = smoothed(model, Smoothing({}, 0.5))
    assert len(list(untouched.graph)) == len(list(model.graph))
