from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import onnx
import onnx.helper

from burnish.engines.onnxruntime_quantize import quantize_nodes


def test_only_the_named_products_become_integers(tmp_path: Path) -> None:
    weights = [onnx.numpy_helper.from_array(np.ones((8, 8), np.float32), name) for name in "vw"]
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "v"], ["h"], name="first"),
        onnx.helper.make_node("MatMul", ["h", "w"], ["y"], name="second"),
    ]
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [4, 8]) for n in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "a")
    level = logging.getLogger().level
    quantize_nodes(tmp_path / "a", tmp_path / "b", ["second"])
    made = [node.op_type for node in onnx.load(tmp_path / "b").graph.node]
    assert made.count("MatMul") == 1
    assert made.count("MatMulInteger") == 1
    assert logging.getLogger().level == level
