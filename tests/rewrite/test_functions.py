"""Functions of an exporter are fused by what they do, whatever they are called."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from rewriting import checked, samples

MODEL = """
<ir_version: 8, opset_import: ["" : 17, "pkg.lib" : 1]>
main (float[batch, sequence, 8] x) => (float[batch, sequence, 8] y)
<float[8] w = {{1, 1, 2, 1, 1, 1, 3, 1}}, float[8, 16] up = {{{up}}}>
{{
    n = pkg.lib.{norm} <epsilon = 0.001> (x, w)
    h = MatMul (n, up)
    g = pkg.lib.{gate} (h)
    y = Add (x, g)
}}
<domain: "pkg.lib", opset_import: ["" : 17]>
{norm} <epsilon: float> (x, w) => (y)
{{
    e = Constant <value_float: float = @epsilon> ()
    two = Constant <value = float {{2}}> ()
    s = Pow (x, two)
    m = ReduceMean <axes = [-1], keepdims = 1> (s)
    d = Add (m, e)
    r = Sqrt (d)
    q = Reciprocal (r)
    n = Mul (x, q)
    y = Mul (w, n)
}}
<domain: "pkg.lib", opset_import: ["" : 17]>
{gate} (h) => (y)
{{
    sizes = Constant <value = int64[2] {{8, 8}}> ()
    a, b = Split <axis = -1> (h, sizes)
    root = Constant <value = float {{1.4142135}}> ()
    half = Constant <value = float {{0.5}}> ()
    one = Constant <value = float {{1}}> ()
    c = Div (b, root)
    d = Erf (c)
    f = Add (d, one)
    i = Mul (b, f)
    j = Mul (i, half)
    y = Mul (a, j)
}}
"""
UP = ", ".join(f"{number:.3f}" for number in np.linspace(-1, 1, 128))


@pytest.mark.parametrize(
    ("norm", "gate"), [("LlamaRMSNorm", "GEGLU"), ("torch_nn_Renamed_1", "Whatever")]
)
def test_a_function_is_fused_by_its_meaning_under_any_name(norm: str, gate: str) -> None:
    text = MODEL.format(norm=norm, gate=gate, up=UP)
    model = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    result = checked(model, {"x": samples(2, 3, 8)})
    assert result.report.fusion_counts["rms-norm"] == 1
    assert result.report.fusion_counts["gelu"] == 1
    assert not result.model.functions
