"""A model that several read is parsed once, and what one of them changes no other sees."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.core import remembered
from burnish.store import onnx_files

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { h = Mul(x, w) y = Neg(h) }"""


def test_what_one_reader_changes_no_other_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "SETTLED_S", -60.0)
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    before = ir.to_proto(onnx_files.read(path)).SerializeToString(deterministic=True)
    changed = onnx_files.read(path)
    changed.graph.initializers["w"].name = "other"
    changed.graph.outputs[0].shape = None
    changed.metadata_props["mine"] = "1"
    changed.graph[0].replace_input_with(1, changed.graph.inputs[0])
    again = ir.to_proto(onnx_files.read(path)).SerializeToString(deterministic=True)
    assert again == before
