from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

from burnish.engines import onnxruntime_executed as executed
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
g (float[2, 4] x) => (float[2, 4] y) <float one = {1.0}> {
    a = Add(one, one)
    b = Mul(x, a)
    y = Gelu(b)
}
"""


@pytest.mark.parametrize(
    ("level", "nodes"), [("off", ["Add", "Mul", "Gelu"]), ("basic", ["Mul", "Gelu"])]
)
def test_the_file_holds_what_is_executed_at_a_level(
    tmp_path: Path, level: str, nodes: list[str]
) -> None:
    onnx.save(parser.parse_model(MODEL), tmp_path / "m.onnx")
    options = EngineOptions(graph_level=level)  # type: ignore[arg-type]
    executed.save(StoredModel(tmp_path / "m.onnx", "m"), options, tmp_path / "executed.onnx")
    graph = onnx.load(tmp_path / "executed.onnx").graph
    assert [node.op_type for node in graph.node] == nodes
