"""Sparse initializers become the dense ones that they stand for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from burnish.core.errors import ModelError
from burnish.store import onnx_files


def _written(folder: Path, indices: list[int], places: list[int], sizes: list[int]) -> Path:
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [5.0, 7.0])
    where = helper.make_tensor("", TensorProto.INT64, places, indices)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", info[:1], info[1:],
        sparse_initializer=[helper.make_sparse_tensor(values, where, sizes)],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = folder / "m.onnx"
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("indices", "places"), [([1, 5], [2]), ([0, 1, 1, 2], [2, 2])], ids=["linear", "by axis"]
)
def test_values_come_to_their_places(tmp_path: Path, indices: list[int], places: list[int]) -> None:
    model = onnx_files.read(_written(tmp_path, indices, places, [2, 3]))
    tensor = model.graph.initializers["w"].const_value
    assert tensor is not None
    np.testing.assert_array_equal(tensor.numpy(), [[0, 5, 0], [0, 0, 7]])


@pytest.mark.parametrize(
    ("indices", "places", "sizes", "finding"),
    [
        ([1, 9], [2], [2, 3], "index 9 is out of bounds"),
        ([1, 5, 4], [3], [2, 3], "has 2 values at 3 places"),
        ([1, 5], [2], [2**40], "has the shape [1099511627776]"),
        ([1, 5], [2], [-6], "has the shape [-6]"),
    ],
)
def test_one_that_contradicts_itself_is_named(
    tmp_path: Path, indices: list[int], places: list[int], sizes: list[int], finding: str
) -> None:
    path = _written(tmp_path, indices, places, sizes)
    with pytest.raises(ModelError) as caught:
        onnx_files.read(path)
    assert caught.value.problem.startswith(f"{path}: the sparse initializer 'w' ")
    assert finding in caught.value.problem
