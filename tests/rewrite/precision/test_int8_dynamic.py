from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from burnish.core.errors import ModelError
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


def _refused(path: Path) -> str:
    before = path.read_bytes()
    with pytest.raises(ModelError) as raised:
        quantize(path, flags=("avx512_vnni",))
    assert path.read_bytes() == before
    return f"{raised.value.problem}; {raised.value.hint}"


def test_a_model_in_which_nothing_is_quantised_is_refused(tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) {y = Tanh(x)}'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    assert _refused(tmp_path / "m.onnx") == (
        "nothing in the model can be quantised: it multiplies by no constant weights; "
        "leave -p int8 away"
    )


def test_functions_are_refused(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20, "a" : 1]>
    g (float[2] x) => (float[2] y) {y = a.f(x)}
    <domain: "a", opset_import: ["" : 20]> f (x) => (y) {y = Tanh(x)}"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    assert _refused(tmp_path / "m.onnx").endswith("look inside them; leave --functions away")
