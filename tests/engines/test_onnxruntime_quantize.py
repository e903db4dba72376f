from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import pytest

from burnish.core.errors import ModelError
from burnish.engines.onnxruntime_quantize import quantize_nodes


def write(path: Path, *nodes: onnx.NodeProto) -> Path:
    weights = [onnx.numpy_helper.from_array(np.ones((8, 8), np.float32), name) for name in "vw"]
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [4, 8]) for n in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return path


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_only_the_named_products_become_integers(tmp_path: Path) -> None:
    make = onnx.helper.make_node
    nodes = make("MatMul", ["x", "v"], ["h"], name="a"), make("MatMul", ["h", "w"], ["y"], name="b")
    source = write(tmp_path / "a.onnx", *nodes)
    level = logging.getLogger().level
    quantize_nodes(source, tmp_path / "b.onnx", ["b"])
    made = operators(tmp_path / "b.onnx")
    assert (made.count("MatMul"), made.count("MatMulInteger")) == (1, 1)
    assert logging.getLogger().level == level


def test_a_gemm_becomes_integers_too(tmp_path: Path) -> None:
    gemm = onnx.helper.make_node("Gemm", ["x", "v"], ["y"], name="g", transB=1)
    quantize_nodes(write(tmp_path / "a.onnx", gemm), tmp_path / "b.onnx", ["g"])
    assert "MatMulInteger" in operators(tmp_path / "b.onnx")


def test_a_node_that_stays_as_it_is_is_not_passed_over(tmp_path: Path) -> None:
    source = write(
        tmp_path / "a.onnx", onnx.helper.make_node("MatMul", ["x", "v"], ["y"], name="a")
    )
    with pytest.raises(ModelError, match="0 of 1 nodes could be turned into 8-bit integers"):
        quantize_nodes(source, tmp_path / "b.onnx", ["none"])


def test_what_the_tool_cannot_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime.quantization

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("odd types")

    monkeypatch.setattr(onnxruntime.quantization, "quantize_dynamic", fail)
    with pytest.raises(ModelError) as caught:
        quantize_nodes(tmp_path / "a.onnx", tmp_path / "b.onnx", ["a"])
    assert caught.value.problem == "a.onnx: cannot be quantised (odd types)"
    assert caught.value.hint == "select other nodes, or start from --graph-level basic"
