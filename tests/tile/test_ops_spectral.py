"""Fourier transforms as nests: as NumPy and ONNX Runtime compute them."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.rewrite.static import static
from burnish.tile.lower import cover, lower
from burnish.tile.reference import evaluate

HEAD = '<ir_version: 9, opset_import: ["": {opset}]> '
CASES = {
    "real": "dft (float[2, 12, 1] x) => (float[2, 12, 2] y) { y = DFT <axis = 1> (x) }",
    "one-sided": "dft (float[2, 12, 3, 1] x) => (float[2, 7, 3, 2] y)"
    " { y = DFT <axis = 1, onesided = 1> (x) }",
    "inverse": "dft (float[2, 9, 2] x) => (float[2, 9, 2] y)"
    " { y = DFT <axis = 1, inverse = 1> (x) }",
    "back to real": "dft (float[2, 7, 3, 2] x) => (float[2, 12, 3, 1] y)"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x) }",
    "back to real, odd": "dft (float[2, 5, 2] x) => (float[2, 9, 1] y) <int64 n = {9}>"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x, n) }",
    "back to one": "dft (float[2, 1, 2] x) => (float[2, 1, 1] y) <int64 n = {1}>"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x, n) }",
    "longer": "dft (float[1, 5, 1] x) => (float[1, 8, 2] y) <int64 n = {8}>"
    " { y = DFT <axis = 1> (x, n) }",
    "cut": "dft (float[1, 9, 2] x) => (float[1, 6, 2] y) <int64 n = {6}>"
    " { y = DFT <axis = 1> (x, n) }",
    "parts": "stft (float[2, 20, 1] x) => (float[2, 4, 5, 2] y)"
    " <int64 step = {4}, int64 size = {8}> { y = STFT (x, step, , size) }",
    "window": "stft (float[1, 20, 1] x) => (float[1, 5, 4, 2] y)"
    " <int64 step = {3}, float[6] window = {0.1, 0.5, 1, 1, 0.5, 0.1}>"
    " { y = STFT (x, step, window) }",
    "both sides": "stft (float[1, 16, 1] x) => (float[1, 3, 8, 2] y)"
    " <int64 step = {4}, int64 size = {8}> { y = STFT <onesided = 0> (x, step, , size) }",
}


def parsed(text: str, opset: int = 18) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD.format(opset=opset) + text)


@pytest.mark.parametrize("name", CASES)
def test_transforms_are_those_of_onnx_runtime(name: str) -> None:
    proto = parsed(CASES[name])
    graph = lower(tuple(static(ir.from_proto(proto), {}).graph)).graph
    shape = graph.tensors["x"].shape
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    (expected,) = session.run(None, {"x": x})
    np.testing.assert_allclose(evaluate(graph, {"x": x})["y"], expected, rtol=1e-4, atol=1e-5)


def test_the_axis_may_be_an_input() -> None:
    text = """dft (float[2, 3, 10, 1] x) => (float[2, 3, 10, 2] y)
    { axis = Constant <value = int64 {-2}> () y = DFT (x, , axis) }"""
    graph = lower(
        tuple(n for n in static(ir.from_proto(parsed(text, 20)), {}).graph if n.op_type == "DFT")
    ).graph
    x = np.random.default_rng(1).standard_normal((2, 3, 10, 1)).astype(np.float32)
    expected = np.fft.fft(x[..., 0], axis=-1)
    found = evaluate(graph, {"x": x})["y"]
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, rtol=1e-4, atol=1e-5)


REFUSED = {
    "dft (float[1, 5000, 1] x) => (float[1, 5000, 2] y)"
    " { y = DFT <axis = 1> (x) }": "a length of 5,000",
    "dft (float[1, 5, 2] x) => (float[1, 12, 1] y) <int64 n = {12}>"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x, n) }":
    "5 frequencies of 2 parts for 12 real elements",
    "dft (float[1, 5, 1] x) => (float[1, 8, 1] y)"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x) }":
    "5 frequencies of 1 parts for 8 real elements",
    "dft (float[1, 1, 2] x) => (float[1, 0, 1] y)"
    " { y = DFT <axis = 1, inverse = 1, onesided = 1> (x) }":
    "1 frequencies of 2 parts for 0 real elements",
    "stft (float[1, 20, 1] x, int64 step) => (float[1, n, 5, 2] y) <int64 size = {8}>"
    " { y = STFT (x, step, , size) }": "its step is not a constant",
    "stft (float[1, 4, 1] x) => (float[1, n, 5, 2] y) <int64 step = {2}, int64 size = {8}>"
    " { y = STFT (x, step, , size) }": "parts of 8 elements, every 2, of 4",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_other_forms_are_left_out_with_a_reason(text: str) -> None:
    (reason,) = cover(static(ir.from_proto(parsed(text)), {}).graph).left.values()
    assert REFUSED[text] in reason
