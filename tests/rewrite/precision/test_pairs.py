"""Products between pairs of QuantizeLinear and DequantizeLinear become products of bytes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.precision.pairs import products_of_bytes
from rewriting import Graph, samples

STEP, ZERO = np.float32(0.02), np.uint8(128)


def paired(
    op: str = "MatMul", *, axis: int = 1, scales: int = 6, step: object = STEP, **attributes: int
) -> ir.Model:
    """Return a product of a tensor and weights, both dequantised, and a bias."""
    g = Graph(opset=17)
    x = g.input("x", [4, 8])
    shape = (6, 8) if attributes.get("transB") else (8, 6)
    weights = (samples(*shape) * 40).clip(-127, 127).astype(np.int8)
    scale = np.abs(samples(scales, seed=1)) / 40 if scales > 1 else np.float32(0.01)
    zeros = np.zeros(np.shape(scale), np.int8)
    q = g.op("QuantizeLinear", x, g.constant(np.asarray(step)), g.constant(np.asarray(ZERO)))
    q.dtype = ir.DataType.UINT8
    a = g.op("DequantizeLinear", q, g.constant(np.asarray(step)), g.constant(np.asarray(ZERO)))
    operands = [g.constant(weights), g.constant(scale), g.constant(zeros)]
    b = g.op("DequantizeLinear", *operands, axis=axis)
    bias = [g.constant(samples(6, seed=2))] if op == "Gemm" else []
    y = g.op(op, a, b, *bias, **attributes)
    y.shape = ir.Shape([4, 6])
    model = g.model(y)
    InferShapes()(model)
    return model


def run(model: ir.Model) -> np.ndarray:
    session = onnxruntime.InferenceSession(ir.to_proto(model).SerializeToString())
    return np.asarray(session.run(None, {"x": samples(4, 8, seed=3)})[0])


@pytest.mark.parametrize(
    "model",
    [
        lambda: paired(),
        lambda: paired(scales=1),
        lambda: paired("Gemm"),
        lambda: paired("Gemm", axis=0, transB=1),
    ],
    ids=["a scale for each column", "one scale", "with a bias", "turned weights"],
)
def test_products_between_pairs_are_products_of_bytes(model: object) -> None:
    made = model()  # type: ignore[operator]
    before = run(made)
    assert products_of_bytes(made) == 1
    kinds = [node.op_type for node in made.graph]
    assert kinds == ["QuantizeLinear", "MatMulIntegerToFloat"]
    np.testing.assert_allclose(run(made), before, rtol=1e-5, atol=1e-5)
    assert products_of_bytes(made) == 0


@pytest.mark.parametrize(
    "model",
    [
        lambda: paired(axis=0, scales=8),
        lambda: paired("Gemm", axis=0, scales=8),
        lambda: paired("Gemm", alpha=2.0),
        lambda: paired("Gemm", scales=1, transA=0, beta=0.5),
    ],
    ids=["a scale for each row", "the same with a bias", "a factor", "a part of the bias"],
)
def test_what_is_no_product_of_bytes_stays(model: object) -> None:
    made = model()  # type: ignore[operator]
    assert products_of_bytes(made) == 0
    assert [node.op_type for node in made.graph].count("DequantizeLinear") == 2


def convolved(
    *, channels: int = 8, axis: int = 0, zero: int = 0, bias: bool = True, step: object = STEP
) -> ir.Model:
    """Return a convolution of dequantised data with dequantised weights, a scale for each map."""
    g = Graph(opset=19)
    x = g.input("x", [1, channels, 5, 6])
    steps, zeros = g.constant(np.asarray(step)), g.constant(np.asarray(ZERO))
    q = g.op("QuantizeLinear", x, steps, zeros)
    q.dtype = ir.DataType.UINT8
    a = g.op("DequantizeLinear", q, steps, zeros)
    weights = (samples(channels, channels, 3, 3) * 40).clip(-127, 127).astype(np.int8)
    scale = np.abs(samples(channels, seed=1)) / 40
    operands = [
        g.constant(weights),
        g.constant(scale),
        g.constant(np.full(channels, zero, np.int8)),
    ]
    b = g.op("DequantizeLinear", *operands, axis=axis)
    stored = [g.constant(np.arange(channels, dtype=np.int32) * 9), g.constant(np.float32(0.1))]
    last = [g.op("DequantizeLinear", *stored)] if bias else []
    y = g.op("Conv", a, b, *last, pads=[1, 1, 1, 1], strides=[2, 1])
    y.shape = ir.Shape([1, channels, 3, 6])
    model = g.model(y)
    InferShapes()(model)
    return model


@pytest.mark.parametrize("bias", [True, False])
def test_convolutions_between_pairs_are_convolutions_of_bytes(bias: bool) -> None:
    made, x = convolved(bias=bias), samples(1, 8, 5, 6, seed=3)
    before = ReferenceEvaluator(ir.to_proto(made)).run(None, {"x": x})[0]
    assert products_of_bytes(made) == 1
    kinds = [node.op_type for node in made.graph]
    assert kinds == ["QuantizeLinear", "ConvInteger", "Cast", "Mul", "Add"]
    after = ReferenceEvaluator(ir.to_proto(made)).run(None, {"x": x})[0]
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)
    assert products_of_bytes(made) == 0


@pytest.mark.parametrize("channels", [3, 6, 7])
def test_channels_that_do_not_come_in_fours_are_filled_up_with_zero_points(channels: int) -> None:
    made, x = convolved(channels=channels), samples(1, channels, 5, 6, seed=3)
    before = ReferenceEvaluator(ir.to_proto(made)).run(None, {"x": x})[0]
    assert products_of_bytes(made) == 1
    kinds = [node.op_type for node in made.graph]
    assert kinds == ["QuantizeLinear", "Pad", "ConvInteger", "Cast", "Mul", "Add"]
    (summed,) = (node for node in made.graph if node.op_type == "ConvInteger")
    sizes = [value.shape for value in summed.inputs[:2] if value is not None]
    assert [shape[1] for shape in sizes if shape is not None] == [channels + -channels % 4] * 2
    after = ReferenceEvaluator(ir.to_proto(made)).run(None, {"x": x})[0]
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [lambda: convolved(channels=2), lambda: convolved(axis=1), lambda: convolved(zero=3)],
    ids=["two channels", "a scale for each channel", "weights that are not symmetric"],
)
def test_other_convolutions_between_pairs_stay(model: object) -> None:
    made = model()  # type: ignore[operator]
    assert products_of_bytes(made) == 0
    assert "Conv" in [node.op_type for node in made.graph]
