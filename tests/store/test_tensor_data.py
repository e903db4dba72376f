"""A tensor has the data that its type and shape need, or somebody says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from burnish.core.errors import ModelError
from burnish.store import onnx_files, tensor_data


def _flaw(proto: onnx.TensorProto) -> str | None:
    return tensor_data.flaw(ir.serde.deserialize_tensor(proto))


@given(
    st.sampled_from([*tensor_data.SHORT_NAMES]),
    st.lists(st.integers(0, 3), max_size=4),
    st.booleans(),
)
def test_what_onnx_itself_writes_is_sound(dtype: ir.DataType, sizes: list[int], raw: bool) -> None:
    if dtype is ir.DataType.STRING:
        values = np.full(sizes, b"a", object)
        proto = helper.make_tensor("t", TensorProto.STRING, sizes, values.reshape(-1).tolist())
    elif raw:
        proto = ir.serde.serialize_tensor(ir.Tensor(np.ones(sizes, dtype.numpy()), dtype=dtype))
    elif dtype.bitwidth < 8:
        return  # onnx.helper packs these as it likes, which changed between its versions
    else:
        ones = np.ones(int(np.prod(sizes)), dtype.numpy())
        proto = helper.make_tensor("t", int(dtype), sizes, ones)
    assert _flaw(proto) is None


@pytest.mark.parametrize(
    ("proto", "finding"),
    [
        (TensorProto(dims=[4], data_type=1), "has no data, its type and shape [4] need 4"),
        (TensorProto(dims=[4], data_type=1, raw_data=b"1234"),
         "has 4 bytes, its type and shape [4] need 16"),
        (TensorProto(dims=[2], data_type=1, float_data=[1.0]),
         "has 1 value, its type and shape [2] need 2"),
        (TensorProto(dims=[1], data_type=1, int64_data=[1]),
         "has no data, its type and shape [1] need 1"),
        (TensorProto(dims=[3], data_type=8, string_data=[b"a"]),
         "has 1 text, its type and shape [3] need 3"),
        (TensorProto(dims=[2], data_type=14, float_data=[1.0, 0.0]),
         "has 2 values, its type and shape [2] need 4"),
        (TensorProto(dims=[2**40, 2**40], data_type=1), "has no data"),
        (TensorProto(dims=[-4], data_type=1), "has the shape [-4]"),
        (TensorProto(dims=[-2, -2], data_type=1, raw_data=bytes(16)), "has the shape [-2, -2]"),
        (TensorProto(dims=[1] * 72, data_type=1, raw_data=bytes(4)),
         "has 72 dimensions, and arrays have 64 at most"),
        (TensorProto(dims=[1], data_type=99, raw_data=b"1"),
         "has the element type 99, which nobody knows"),
        (TensorProto(dims=[1], raw_data=b"1"), "has the element type 0, which nobody knows"),
    ],
)  # fmt: skip
def test_a_tensor_that_contradicts_itself(proto: onnx.TensorProto, finding: str) -> None:
    found = _flaw(proto)
    assert found is not None
    assert found.startswith(finding)


def _model(weights: onnx.TensorProto) -> onnx.ModelProto:
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", info[:1], info[1:], [weights]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_an_initializer_that_contradicts_itself_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_model(TensorProto(name="w", dims=[4], data_type=1)).SerializeToString())
    with pytest.raises(ModelError) as caught:
        onnx_files.read(path)
    assert caught.value.problem == (
        f"{path}: initializer 'w' has no data, its type and shape [4] need 4"
    )
    assert caught.value.hint == "export the model again: its file contradicts itself"


def test_large_data_is_looked_at_when_somebody_asks(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    weights = TensorProto(name="w", dims=[2**20], data_type=1, raw_data=bytes(1000))
    path.write_bytes(_model(weights).SerializeToString())
    tensor = onnx_files.read(path).graph.initializers["w"].const_value
    assert tensor is not None
    for ask in (tensor.numpy, tensor.tobytes):
        with pytest.raises(ModelError) as caught:
            ask()
        assert caught.value.problem == (
            f"{path}: initializer 'w' has 1,000 bytes, its type and shape [1048576] need 4,194,304"
        )


def test_large_data_is_given_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    values = np.arange(2**16, dtype=np.float32)
    path.write_bytes(_model(numpy_helper.from_array(values, "w")).SerializeToString())
    tensor = onnx_files.read(path).graph.initializers["w"].const_value
    assert tensor is not None
    np.testing.assert_array_equal(tensor.numpy(), values)
    assert tensor.tobytes() == values.tobytes()


def test_large_data_of_a_node_is_looked_at_late_as_well(tmp_path: Path) -> None:
    model = _model(numpy_helper.from_array(np.zeros(4, np.float32), "w"))
    bad = TensorProto(dims=[2**20], data_type=1, raw_data=b"1234")
    model.graph.node.insert(0, helper.make_node("Constant", [], ["k"], value=bad))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    constant = onnx_files.read(path).graph[0]
    with pytest.raises(ModelError, match="a tensor of a node Constant has 4 bytes"):
        constant.attributes["value"].as_tensor().numpy()


def test_data_of_another_type_is_not_taken_for_a_tensors_own(tmp_path: Path) -> None:
    weights = TensorProto(name="w", dims=[4], data_type=1, float_data=[1, 2, 3, 4], int64_data=[7])
    path = tmp_path / "m.onnx"
    path.write_bytes(_model(weights).SerializeToString())
    tensor = onnx_files.read(path).graph.initializers["w"].const_value
    assert tensor is not None
    assert tensor.numpy().tolist() == [1, 2, 3, 4]
