"""What engines need to know of a model is read off its weights and names."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir
import pytest

from burnish.engines.base import EngineOptions
from burnish.engines.model_facts import arithmetic_type, node_of_name, with_arithmetic
from burnish.store.stored import StoredModel


def model(graph: str) -> ir.Model:
    return ir.from_onnx_text('<ir_version: 10, opset_import: ["": 21]> g ' + graph)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (("(float[2] x) => (float[2] y) <float16[2] w = {1, 2}> { c = Cast<to=10>(x) m = Mul(c, w)"
         " y = Cast<to=1>(m) }"), "f16"),
        (("(float[2] x) => (float[2] y) <int8[3] w = {1, 2, 3}, float s = {1}>"
         " { d = DequantizeLinear(w, s) y = Add(x, d) }"), "i8"),
        ("(int64[2] x, double[2] z) => (double[2] y) <int64[2] w = {1, 2}> { y = Identity(z) }",
         "f64"),
        ("(int64[2] x) => (int64[2] y) { y = Identity(x) }", "i64"),
    ],
)  # fmt: skip
def test_the_arithmetic_is_that_of_most_weights(graph: str, expected: str) -> None:
    assert arithmetic_type(model(graph)) == expected


def test_whoever_starts_an_engine_tells_it_the_arithmetic(tmp_path: Path) -> None:
    graph = "(float16[2] x) => (float16[2] y) { y = Neg(x) }"
    ir.save(model(graph), tmp_path / "m.onnx")
    asked = EngineOptions(threads=1)
    told = with_arithmetic(asked, StoredModel(tmp_path / "m.onnx", "m"))
    assert told == EngineOptions(threads=1, arithmetic="f16")
    assert with_arithmetic(asked, StoredModel(tmp_path / "none.onnx", "none")) == asked


def test_a_node_is_found_by_its_name_and_by_its_outputs() -> None:
    names = node_of_name(model("(float[2] x) => (float[2] y) { [one] t = Relu(x) y = Neg(t) }"))
    assert names["one"] == names["t"] == "one"
    assert names["y"] == "Neg_1"
