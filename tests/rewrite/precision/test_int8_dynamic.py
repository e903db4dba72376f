from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnish.rewrite.precision.int8_dynamic import quantize
from burnish.store import history, onnx_files


@pytest.fixture
def model(tmp_path: Path) -> Path:
    weight = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 6])],
        [numpy_helper.from_array(weight, "w")],
    )  # fmt: skip
    made = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
    path = tmp_path / "m.onnx"
    onnx.save(made, path)
    return path


def test_products_are_those_of_integers_and_the_history_says_how(model: Path) -> None:
    step = quantize(model, flags=("avx512_vnni",))
    assert step.detail == "int8 dynamic, per channel, 8 bits"
    read = onnx_files.read(model)
    assert "MatMulInteger" in {node.op_type for node in read.graph}
    written = history.read(read)
    assert written is not None
    assert written.steps[-1] == step


@pytest.mark.parametrize(("flags", "largest"), [(("avx512_vnni",), 127), (("avx2",), 64)])
def test_weights_keep_a_bit_free_where_sums_would_saturate(
    model: Path, flags: tuple[str, ...], largest: int
) -> None:
    quantize(model, flags=flags)
    weights = [
        value.const_value.numpy()
        for value in onnx_files.read(model).graph.initializers.values()
        if value.const_value is not None and value.const_value.numpy().dtype == np.int8
    ]
    found = max(int(np.abs(array.astype(int)).max()) for array in weights)
    assert largest - 1 <= found <= largest
