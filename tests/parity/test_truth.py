from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.meaning.node import TypedArray
from burnish.parity.truth import Truth


def _reference(text: str) -> Truth:
    head = '<ir_version: 10, opset_import: ["" : 20]>'
    proto = onnx.parser.parse_model(f"{head} g (float[n] x) => (float[n] y) {{ {text} }}")
    return Truth(ir.from_proto(proto), None, lambda *_: ())


@pytest.mark.parametrize(
    ("text", "x", "overflows"),
    [
        ("e = Exp(x)  y = Div(e, e)", 1000.0, True),
        ("e = Exp(x)  y = Div(e, e)", 100.0, False),
        ("y = Div(x, x)", 0.0, False),
        ("y = Exp(x)", np.inf, False),
    ],
)
def test_where_f64_ends_what_the_candidate_means_counts(
    text: str, x: float, overflows: bool
) -> None:
    truth = _reference(text)
    found = truth.of_reference({"x": np.float32([x, 1.0])})
    assert found is not None
    assert truth.overflowed is overflows
    meant = {"y": TypedArray(np.array([5.0, 6.0]), "f32")}
    mended = truth.mended(found, meant)["y"].value
    assert mended[1] == found["y"].value[1]
    assert bool(mended[0] == 5.0) is overflows
