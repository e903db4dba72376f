"""Models that random search has shown to be compiled wrongly once, and random ones every time."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from burnish.core.arrays import Array
from codegen.models import HEAD
from torture.running import outputs_of
from torture.ways import compiled

MODELS = {
    "the mask of a triangle is kept where its result is reduced": """
        g (float[1, 9, 9] x, float[9, 9] w) => (float[1, 9, 1] y) <int64[1] last = {2}>
        { h = MatMul(x, w) t = Trilu<upper = 0>(h) y = ReduceMax(t, last) }""",
    "f32 arithmetic may end in f64": """
        g (float[4, 9] x) => (double[4, 1] y) <int64[1] last = {1}>
        { e = Exp(x) s = ReduceSum(e, last) y = Cast<to = 11>(s) }""",
    "a constant is resized as ONNX Runtime does it": """
        g (float[1, 1, 8, 11] x) => (float[1, 1, 8, 11] y)
        <float[4] scales = {1, 1, 1.7, 1.7}>
        { r = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(c, , scales)
          y = Mul(x, r) }""",
    "a constant is normalised as ONNX Runtime does it": """
        g (float[4, 9] x) => (float[4, 9] y)
        { r = LpNormalization<axis = 1, p = 1>(c) y = Mul(x, r) }""",
    "a padded pool whose steps are wider than its windows begins where the runtime says": """
        g (float[1, 2, 9, 9] x) => (float[1, 2, 5, 3] y)
        { h = Mul(x, x) y = LpPool<auto_pad = "SAME_UPPER", kernel_shape = [2, 1],
                                   strides = [2, 3]>(h) }""",
    "a product with a constant may be a single number": """
        g (float[1, 5] x) => (float y) <float[5] w = {1, 2, -3, 4, 0.5}, int64[1] rows = {0}>
        { h = Einsum<equation = "ij,j->i">(x, w) y = ReduceSum<keepdims = 0>(h, rows) }""",
    "a large window over a constant takes no minutes": """
        g (float[1, 1, 2, 2] x) => (float[1, 1, 2, 2] y)
        { r = AveragePool<kernel_shape = [509, 4566]>(c) y = Add(x, r) }""",
}

CONSTANTS = {"Resize": (1, 1, 5, 7), "LpNormalization": (4, 9), "AveragePool": (1, 1, 510, 4567)}
"""The shape of the constant `c`, by who reads it."""


@pytest.mark.parametrize("text", MODELS.values(), ids=MODELS)
def test_kernels_give_what_onnx_runtime_gives(text: str) -> None:
    model = onnx.parser.parse_model(HEAD + text)
    for shape in (shape for op, shape in CONSTANTS.items() if op in text):
        constant = -_drawn(*shape)
        model.graph.initializer.append(onnx.numpy_helper.from_array(constant, "c"))
    sizes = {
        each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        for each in model.graph.input
    }
    inputs = {name: _drawn(*shape) for name, shape in sizes.items()}
    found, wanted = compiled(model, inputs), outputs_of(model, inputs)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-5)


def _drawn(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)
