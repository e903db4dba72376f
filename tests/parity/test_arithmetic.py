from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.closeness.tolerance import DYNAMIC_INT8
from burnish.parity.arithmetic import arithmetic_by_output, quantised_values, weakest
from burnish.parity.compare import compare
from burnish.parity.tolerances import Tolerances

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'


def model(text: str) -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(f"{HEAD} {text}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g (float[n] x) => (float[n] y) { y = Tanh(x) }", "f32"),
        ("g (double[n] x) => (double[n] y) { y = Tanh(x) }", "f64"),
        (
            "g (double[n] x) => (double[n] y) { a = Cast<to = 1>(x)  y = Cast<to = 11>(a) }",
            "f32",
        ),
        ("g (float[n] x) => (double[n] y) { y = Cast<to = 11>(x) }", "f32"),
        ("g (float16[n] x) => (float16[n] y) { y = Tanh(x) }", "f16"),
        ("g (bfloat16[n] x) => (float16[n] y) { y = Cast<to = 10>(x) }", "bf16"),
        (
            "g (float[n] x) => (float[n] y) { a = Cast<to = 10>(x)  y = Cast<to = 1>(a) }",
            "f16",
        ),
    ],
)
def test_the_weakest_type_that_a_graph_computes_in_is_found(text: str, expected: str) -> None:
    assert arithmetic_by_output(model(text)) == {"y": expected}


def test_what_leads_to_no_output_does_not_count() -> None:
    text = """g (float[4] x) => (float[4] y, float[4] z)
        { dead = Cast<to = 16>(x)  q, s, o = DynamicQuantizeLinear(x)  y = Tanh(x)
          h = Cast<to = 10>(x)  z = Cast<to = 1>(h) }"""
    assert arithmetic_by_output(model(text)) == {"y": "f32", "z": "f16"}


def test_a_precision_without_a_tolerance_of_its_own_changes_nothing() -> None:
    assert weakest("mixed", "") == "f32"
    assert weakest("mixed", "f64", "") == "f64"
    assert weakest("f32", "tf32", "bf16") == "bf16"


def test_quantised_values_are_followed_through_what_only_moves_them() -> None:
    found = quantised_values(
        model(
            """g (float[4] x, int64[2] shape) => (uint8[2, 2] y, int64[4] i)
            { q, scale, zero = DynamicQuantizeLinear(x)  y = Reshape(q, shape)
              s = Shape(y)  i = Concat<axis = 0>(s, s) }"""
        )
    )
    assert found == {"q", "y"}


def test_dynamic_int8_is_found_in_the_graph_and_still_refuses_what_is_wrong() -> None:
    model = ir.from_onnx_text(
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[4, 4] x) => (uint8[4, 4] y, float s, uint8 z) {
            y, s, z = DynamicQuantizeLinear (x)
        }"""
    )
    assert arithmetic_by_output(model)["s"] == DYNAMIC_INT8
    reference = {"y": np.random.default_rng(0).normal(size=4096).astype(np.float32)}
    for error, passed in ((0.1, True), (0.5, False)):
        candidate = {"y": reference["y"] + np.float32(error)}
        (diff,) = compare(reference, candidate, Tolerances(arithmetic=DYNAMIC_INT8))
        assert diff.passed is passed
