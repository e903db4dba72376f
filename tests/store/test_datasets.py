from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from burnish.core.array_types import array_type
from burnish.core.errors import ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.store import datasets
from burnish.store.datasets import DataSet
from burnish.store.element_types import DATA_TYPES
from burnish.store.interface import Interface

TWO = Interface(
    (TensorSpec("a", "f32", ("n",)), TensorSpec("b", "i64", ("n",))),
    (TensorSpec("y", "f32", ("n",)),),
)


def put(path: Path, array: np.ndarray, name: str) -> None:
    path.write_bytes(numpy_helper.from_array(array, name).SerializeToString())


@given(
    dtype=st.sampled_from([name for name in DATA_TYPES if name != "str"]),
    shape=st.lists(st.integers(0, 4), max_size=3).map(tuple),
)
def test_every_type_and_shape_comes_back(
    tmp_path_factory: pytest.TempPathFactory, dtype: str, shape: tuple[int, ...]
) -> None:
    folder = tmp_path_factory.mktemp("data") / "test_data_set_0"
    interface = Interface((TensorSpec("x", dtype, shape),), ())
    values = np.random.default_rng(0).integers(0, 2, shape).astype(array_type(dtype))
    datasets.write(folder, DataSet({"x": values}, {}), interface)
    found = datasets.read(folder, interface).inputs["x"]
    assert (found.dtype, found.shape) == (values.dtype, values.shape)
    assert found.tobytes() == values.tobytes()


def test_text_comes_back(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "str", (2,)),), ())
    texts = np.array(["grün", "b"], dtype=object)
    datasets.write(tmp_path / "d", DataSet({"x": texts}, {}), interface)
    found = datasets.read(tmp_path / "d", interface).inputs["x"]
    assert [bytes(text).decode() for text in found] == ["grün", "b"]


def test_bfloat16_is_an_extension_type(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "bf16", (1,)),), ())
    array = np.array([1.5], ml_dtypes.bfloat16)
    datasets.write(tmp_path / "d", DataSet({"x": array}, {}), interface)
    assert datasets.read(tmp_path / "d", interface).inputs["x"].dtype == ml_dtypes.bfloat16


def test_files_are_in_the_order_of_the_model(tmp_path: Path) -> None:
    data = DataSet(
        {"b": np.array([1]), "a": np.ones(1, np.float32)}, {"y": np.zeros(1, np.float32)}
    )
    datasets.write(tmp_path / "d", data, TWO)
    names = {path.name: onnx.load_tensor(path).name for path in (tmp_path / "d").iterdir()}
    assert names == {"input_0.pb": "a", "input_1.pb": "b", "output_0.pb": "y"}


ARRAYS = {"a": np.ones(1, np.float32), "b": np.array([1])}
OUTPUTS = {"y": np.zeros(1, np.float32)}


def test_stale_files_do_not_survive(tmp_path: Path) -> None:
    datasets.write(tmp_path / "d", DataSet(ARRAYS, {}), TWO)
    datasets.write(tmp_path / "d", DataSet({"a": ARRAYS["a"]}, OUTPUTS), TWO)
    found = datasets.read(tmp_path / "d", TWO)
    assert (set(found.inputs), set(found.outputs)) == ({"a"}, {"y"})


def test_inputs_alone_never_replace_recorded_outputs(tmp_path: Path) -> None:
    datasets.write(tmp_path / "d", DataSet(ARRAYS, OUTPUTS), TWO)
    with pytest.raises(UsageError, match=r"d: is not a data set of inputs alone that burnish") as e:
        datasets.write(tmp_path / "d", DataSet(ARRAYS, {}), TWO)
    assert "it holds output_0.pb" in e.value.problem
    assert set(datasets.read(tmp_path / "d", TWO).outputs) == {"y"}


def test_data_that_others_recorded_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    put(tmp_path / "d" / "input_0.pb", np.array([3.0], np.float32), "a")
    with pytest.raises(
        UsageError, match=r"is not a data set that burnish wrote \(it holds input_0"
    ):
        datasets.write(tmp_path / "d", DataSet(ARRAYS, OUTPUTS), TWO)
    assert datasets.read(tmp_path / "d", TWO).inputs["a"].tolist() == [3.0]


@pytest.mark.parametrize("name", ["notes.txt", "input_0.npy", "output_0.pb.old"])
def test_a_data_set_with_something_else_in_it_is_not_replaced(tmp_path: Path, name: str) -> None:
    datasets.write(tmp_path / "d", DataSet(ARRAYS, OUTPUTS), TWO)
    (tmp_path / "d" / name).write_text("mine")
    with pytest.raises(UsageError, match=f"it holds {name}"):
        datasets.write(tmp_path / "d", DataSet(ARRAYS, OUTPUTS), TWO)
    assert (tmp_path / "d" / name).read_text() == "mine"


def test_the_name_in_the_file_wins_over_its_number(tmp_path: Path) -> None:
    put(tmp_path / "input_0.pb", np.array([7]), "b")
    put(tmp_path / "input_1.pb", np.array([1], np.float32), "a")
    found = datasets.read(tmp_path, TWO).inputs
    assert found["b"].tolist() == [7]
    assert found["a"].tolist() == [1]


@pytest.mark.parametrize("name", ["", "gpu_0/data_0"])
def test_the_number_decides_where_the_name_is_not_the_models(tmp_path: Path, name: str) -> None:
    put(tmp_path / "input_1.pb", np.array([7]), name)
    assert datasets.read(tmp_path, TWO).inputs["b"].tolist() == [7]


def test_ten_comes_after_nine(tmp_path: Path) -> None:
    specs = tuple(TensorSpec(f"x{index}", "i64", (1,)) for index in range(11))
    arrays = {spec.name: np.array([index]) for index, spec in enumerate(specs)}
    datasets.write(tmp_path / "d", DataSet(arrays, {}), Interface(specs, ()))
    found = datasets.read(tmp_path / "d", Interface(specs, ())).inputs
    assert [int(found[spec.name][0]) for spec in specs] == list(range(11))


def test_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such folder") as error:
        datasets.read(tmp_path / "none", TWO)
    assert error.value.hint == "burnish inputs MODEL -o FOLDER writes one"


def test_more_files_than_inputs(tmp_path: Path) -> None:
    put(tmp_path / "input_2.pb", np.array([7]), "")
    with pytest.raises(ModelError, match="the model has no input 2; it has 2: a, b") as error:
        datasets.read(tmp_path, TWO)
    assert error.value.hint == "remove input_2.pb, or use the data set of this model"


def test_two_files_for_one_input(tmp_path: Path) -> None:
    put(tmp_path / "input_0.pb", np.array([7]), "b")
    put(tmp_path / "input_1.pb", np.array([7]), "b")
    with pytest.raises(ModelError, match="a second file for the input 'b'") as error:
        datasets.read(tmp_path, TWO)
    assert error.value.hint == "keep one file for each of: a, b"


def test_sequences_are_refused(tmp_path: Path) -> None:
    sequence = numpy_helper.from_list([np.ones(2, np.float32)], "a")
    (tmp_path / "input_0.pb").write_bytes(sequence.SerializeToString())
    with pytest.raises(ModelError, match="is not a tensor") as error:
        datasets.read(tmp_path, TWO)
    assert error.value.hint == "burnish reads dense tensors only; record the data again"


def test_a_tensor_without_data_is_refused(tmp_path: Path) -> None:
    proto = onnx.TensorProto(name="a", dims=[2], data_type=onnx.TensorProto.FLOAT)
    (tmp_path / "input_0.pb").write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match=r"does not fill its shape \[2\]"):
        datasets.read(tmp_path, TWO)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "input_0.pb").write_bytes(b"\xff\xff\xff")
    with pytest.raises(ModelError, match="a sequence, an optional or a damaged file"):
        datasets.read(tmp_path, TWO)


def test_data_that_does_not_fill_its_shape(tmp_path: Path) -> None:
    proto = numpy_helper.from_array(np.ones(2, np.float32), "a")
    proto.dims[0] = 3
    (tmp_path / "input_0.pb").write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match=r"its data does not fill its shape \[3\]") as error:
        datasets.read(tmp_path, TWO)
    assert error.value.hint == "record it again"
