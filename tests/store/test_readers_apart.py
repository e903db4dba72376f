"""A model that several read is parsed once, and what one of them changes no other sees."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.core import remembered
from burnish.engines.model_facts import arithmetic_type
from burnish.feeds.make import make
from burnish.infer.graph_of import graph_of
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


DEEP = """<ir_version: 10, opset_import: ["": 21]>
g (int64[batch, seq] ids, float[batch, seq, 4] x) => (float[batch, seq, d] y)
<float[6, 4] table = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}, int64[3] s = {0, -1, 4}> {
    e = Gather(table, ids)
    sum = Add(e, x)
    r = Reshape(sum, s)
    largest = ReduceMax<keepdims = 0>(r)
    zero = Constant<value_float = 0.0>()
    is_more = Greater(largest, zero)
    y = If(is_more) <
        then_branch = t () => (float[a, b, c] one) { one = Neg(r) },
        else_branch = f () => (float[a, b, c] two) { two = Relu(r) }
    >
}"""


def test_those_who_look_at_one_model_leave_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "SETTLED_S", -60.0)
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(DEEP), path)
    model = onnx_files.look(path)
    assert onnx_files.look(path) is model
    before = ir.to_proto(model).SerializeToString(deterministic=True)
    feeds = make(model, bindings={"batch": 2})
    shapes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}
    graph_of(model, feeds.bindings, shapes=shapes)
    arithmetic_type(model)
    onnx_files.interface(model)
    onnx_files.files(path)
    assert ir.to_proto(model).SerializeToString(deterministic=True) == before
