from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.infer.graph_of import graph_of

HEAD = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\n'


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("y = com.microsoft.QuickGelu(x)", (2, 4, 4)),
        ("y = com.microsoft.FusedConv<activation = \"Relu\">(x, k)", (2, 3, 2)),
        ("y = com.microsoft.FusedMatMul<transA = 1>(x, x)", (2, 4, 4)),
        ("y, mean = com.microsoft.SkipLayerNormalization(x, x, k)", (2, 4, 4)),
    ],
)  # fmt: skip
def test_shapes_are_those_of_the_operator_itself(body: str, shape: tuple[int, ...]) -> None:
    text = f"{HEAD} g (float[2, 4, 4] x, float[3, 4, 3] k) => (float[A, B, C] y) {{ {body} }}"
    assert graph_of(ir.from_onnx_text(text), {}).outputs[0].shape == shape


def test_an_operator_that_nobody_knows_keeps_its_shape_unknown() -> None:
    text = f"{HEAD} g (float[2] x) => (float[A] y) {{ y = com.microsoft.Odd(x) }}"
    assert graph_of(ir.from_onnx_text(text), {}).static("y") is None
