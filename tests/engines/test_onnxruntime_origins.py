from __future__ import annotations

import onnx_ir as ir

from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.onnxruntime_origins import origins
from burnish.store.stored import StoredModel
from timelines import run, span, trace

HEAD = '<ir_version: 10, opset_import: ["": 21]> g (float[2, 4] x) => (float[2, 4] y)'
ORIGINAL = HEAD + "{ [soft] s = Softmax(x) [relu] y = Relu(s) }"
MADE = HEAD + "{ e = Exp(x) t = Exp(e) s = Relu(t) [relu] y = Relu(s) }"


def test_nodes_without_a_name_are_found_by_their_order() -> None:
    spans = (span("Exp_7", 0, 1, op="Exp"), span("Exp_9", 2, 1, op="Exp"),
             span("Relu_11", 4, 1, op="Relu"), span("relu", 6, 1, op="Relu"))  # fmt: skip
    found = origins(ir.from_onnx_text(ORIGINAL), ir.from_onnx_text(MADE), trace(run(0, 9), *spans))
    soft = ("soft",)
    assert found == {"Exp_7": soft, "Exp_9": soft, "Relu_11": soft, "relu": ("relu",)}


def test_another_number_of_nodes_without_a_name_tells_nothing() -> None:
    spans = (span("Exp_7", 0, 1, op="Exp"), span("relu", 6, 1, op="Relu"))
    found = origins(ir.from_onnx_text(ORIGINAL), ir.from_onnx_text(MADE), trace(run(0, 9), *spans))
    assert found == {"relu": ("relu",)}


def test_a_profiled_session_tells_what_it_fused(stored: object) -> None:
    import numpy as np

    text = "(float[2, 4] x) => (float[2, 4] y) <float[4, 4] w = {%s}, float[4] b = {1, 2, 3, 4}> {"
    text = text % ", ".join(map(str, range(16)))
    graph = text + " [mm] p = MatMul(x, w) [bias] q = Add(p, b) [relu] y = Relu(q) }"
    model: StoredModel = stored(graph)  # type: ignore[operator]
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        found = session.trace({"x": np.ones((2, 4), np.float32)}, warmup=1, runs=1)
    assert found is not None
    behind = {name for names in found.origins.values() for name in names}
    assert behind == {"mm", "bias", "relu"}
