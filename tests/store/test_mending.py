from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from burnish.core.errors import ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.parity.request import VerifyRequest, answer
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.layout import stored


def _constant(name: str, number: float) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value_float=number)


def _saved(folder: Path, graph: onnx.GraphProto, *more: onnx.OperatorSetIdProto) -> Path:
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), *more], ir_version=8
    )
    onnx.save(model, folder / "m.onnx")
    return folder / "m.onnx"


def _classifier(folder: Path) -> Path:
    """Write a classifier as scikit-learn's converter does: it gives a map for each row."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 3])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, ["rows"])
    number = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, number))
    chances = helper.make_value_info("chances", maps)
    nodes = [
        helper.make_node(
            "LinearClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml",
            coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.75], intercepts=[0.1, -0.2],
            classlabels_ints=[0, 1], post_transform="SOFTMAX",
        ),
        helper.make_node("Identity", ["scores"], ["same"]),
        helper.make_node(
            "ZipMap", ["same"], ["chances"], domain="ai.onnx.ml", classlabels_int64s=[0, 1]
        ),
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [x], [label, chances])
    return _saved(folder, graph, helper.make_opsetid("ai.onnx.ml", 3))


def test_of_two_constants_of_one_name_the_last_counts(tmp_path: Path) -> None:
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [])
    nodes = [_constant("c", 1.0), helper.make_node("Neg", ["c"], ["y"]), _constant("c", 2.0)]
    path = _saved(tmp_path, helper.make_graph(nodes, "g", [], [y]))
    model = onnx_files.read(path)
    assert [node.op_type for node in model.graph] == ["Constant", "Neg"]
    onnx_files.write(model, tmp_path / "out.onnx", history=History("", ()))
    for one in (path, tmp_path / "out.onnx"):
        (found,) = onnxruntime.InferenceSession(one).run(None, {})
        assert found == -2.0


def test_two_nodes_that_are_no_constants_cannot_make_one_value(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    nodes = [helper.make_node(op, ["x"], ["y"]) for op in ("Neg", "Abs")]
    path = _saved(tmp_path, helper.make_graph(nodes, "g", [x], [y]))
    with pytest.raises(ModelError, match="redeclared"):
        onnx_files.read(path)


def test_an_output_without_a_type_gets_the_one_that_is_inferred(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    nodes = [helper.make_node("Shape", ["x"], ["y"])]
    path = _saved(tmp_path, helper.make_graph(nodes, "g", [x], [onnx.ValueInfoProto(name="y")]))
    (output,) = onnx_files.interface(onnx_files.read(path)).outputs
    assert (output.dtype, output.shape) == ("i64", (2,))


def test_a_classifier_that_gives_maps_is_read_run_and_written_as_it_is(tmp_path: Path) -> None:
    path = _classifier(tmp_path)
    model = onnx_files.read(path)
    assert [str(output) for output in onnx_files.interface(model).outputs]
    onnx_files.write(model, tmp_path / "out.onnx", history=History("", ()))
    given, written = (onnx.load(each).graph.output[1] for each in (path, tmp_path / "out.onnx"))
    assert written.type == given.type
    assert not written.metadata_props


def test_maps_are_compared_by_their_numbers(tmp_path: Path) -> None:
    model = stored(_classifier(tmp_path))
    rows = np.eye(3, dtype=np.float32)
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        given = session.run({"x": rows})
        session.prepare({"x": rows})()
    assert given["chances"].shape == (3, 2)
    np.testing.assert_allclose(given["chances"].sum(axis=1), 1.0, rtol=1e-5)
    assert answer(VerifyRequest(model, budget_s=0)).passed
